use embermark_model::Configuration;

use super::*;

#[test]
fn every_file_is_read_and_every_figure_has_a_value() {
    assert_eq!(all().len(), 4);
    for published in all() {
        let Source { differs, left_out, .. } = &published.source;
        assert!(!differs.is_empty());
        // Whoever has no figure says why.
        assert!(!published.figures.is_empty() || left_out.is_some());
        for figure in &published.figures {
            assert!(
                figure.seconds.is_some() != figure.per_second.is_some(),
                "{}: {figure:?}",
                published.source.title
            );
        }
        assert_eq!(published.lines().is_empty(), published.figures.is_empty());
    }
}

#[test]
fn no_figure_ships_of_an_engine_whose_licence_forbids_publishing_them() {
    let secret = ["zen", "harperdb"];
    for published in all() {
        let mut figures = published.figures.iter();
        assert!(!figures.any(|figure| secret.contains(&figure.engine.as_str())));
    }
    let folder = std::fs::read_dir("published").unwrap();
    for file in folder.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()) {
        for engine in secret {
            assert!(!file.contains(&format!("engine = \"{engine}\"")), "{file}");
        }
    }
}

#[test]
fn a_source_without_figures_says_why_in_every_form() {
    let mut file = crate::load(std::path::Path::new("tests/fixtures/schema-1.json")).unwrap();
    file.cells.iter_mut().for_each(|cell| cell.id.workload = "contacts".into());
    let options = crate::Options { published: Beside::Measured, width: 500, ..Default::default() };
    for format in [crate::Format::Table, crate::Format::Markdown] {
        let shown = crate::render(&file.clone().publishable(), format, &options).unwrap();
        assert!(shown.contains("contacts · published beside measured"), "{shown}");
        assert!(shown.contains("licence forbids publishing results"), "{shown}");
    }
}

#[test]
fn figures_stand_beside_a_configuration_where_the_engine_itself_did_not_run() {
    let mut file = crate::load(std::path::Path::new("tests/fixtures/schema-1.json")).unwrap();
    let engine = "postgres-defaults".to_owned();
    let own = Configuration { engine: "postgres".into(), settings: [].into(), library: None };
    file.plan.configurations.insert(engine.clone(), own);
    let mut cell = file.cells[0].clone();
    (cell.id.engine, cell.id.workload) = (engine, "sensors".into());
    cell.id.scale = Scale::Rows(1_000);
    file.cells = vec![cell];
    let comparison = crate::summary::compare(&file, &[]);
    let beside = beside(&file, &comparison, Beside::Measured);
    let labels = beside[0].grid.rows.iter().map(|(label, _)| label.as_str());
    let here: Vec<&str> = labels.filter(|label| label.starts_with("  here")).collect();
    assert!(!here.is_empty());
    assert!(here.iter().all(|label| label.ends_with(", postgres-defaults")), "{here:?}");
}
