//! Advice for each language that engines are used from.

use embermark_model::Configuration;

use super::*;

/// Makes [`three`] with columns that are also used from Python, where another engine is the
/// fastest.
fn languages() -> ResultFile {
    let mut file = three();
    let own: Vec<Cell> = file.cells.clone();
    for mut cell in own.into_iter().filter(|cell| !cell.reference) {
        let engine = cell.id.engine.clone();
        let column = format!("{engine}-python");
        let slower = if engine == "tree" { 50 } else { 2 };
        let runs = cell.trials.iter_mut().flat_map(|trial| &mut trial.phases);
        runs.flat_map(|phase| &mut phase.runs).for_each(|run| run.elapsed_ns *= slower);
        cell.id.engine.clone_from(&column);
        file.cells.push(cell);
        file.plan.engines.push(column.clone());
        let facts = file.manifest.engines.get(&engine).cloned();
        file.manifest.engines.extend(facts.map(|facts| (column.clone(), facts)));
        let client = Some("python".parse().unwrap());
        let own = Configuration { client, ..Configuration::new(engine) };
        file.plan.configurations.insert(column, own);
    }
    file
}

#[test]
fn every_language_has_a_list_of_its_own_columns() {
    let file = languages();
    let tables = tables(&[&file], None, &[]);
    let names: Vec<(&str, bool)> = (tables.tables.iter())
        .map(|table| (table.language(), table.at.ends_with(", python")))
        .collect();
    assert_eq!(names, [("native", false), ("python", true)]);
    let native = super::tables(&[&three()], None, &[]);
    let ratios = |table: &AdviceTable| -> Vec<_> {
        table.engines.iter().map(|one| (one.engine.clone(), one.ratios.clone())).collect()
    };
    assert_eq!(ratios(&tables.tables[0]), ratios(&native.tables[0]), "as if there were no other");
    for entry in &tables.tables[1].engines {
        assert!(entry.facts.kind == "reference" || entry.engine.ends_with("-python"));
        assert!(entry.facts.configuration.is_none(), "it rests on no author's word");
    }
    let python = &tables.tables[1].engines;
    let python = python.iter().find(|one| one.engine == "rows-python").unwrap();
    assert!(python.facts.name.ends_with(" (python)"), "{}", python.facts.name);
    let command = &tables.tables[1].commands[&Durability::Power];
    assert!(command.contains("-t power --client python"), "{command}");
    assert!(!tables.tables[0].commands[&Durability::Power].contains("--client"));

    let all = advise_each(&tables, ANY, &weights(&[("ingest", 1.0)])).unwrap();
    assert_eq!(all.len(), 2, "at the same scale, and another list");
    let shown = crate::advise::words(&all, &tables, None, 200);
    for says in [
        "a list of its own for each client: native, python; --client NAME chooses",
        "weights ingest 1 · native · at ",
        "weights ingest 1 · python · at ",
    ] {
        assert!(shown.contains(says), "{says}\n{shown}");
    }
    let json: serde_json::Value = serde_json::from_str(&json(&all, &tables).unwrap()).unwrap();
    for of in ["advice", "tables"] {
        let client = |at: usize| json[of][at]["client"].as_str();
        assert_eq!((client(0), client(1)), (None, Some("python")), "{of}");
    }
}

#[test]
fn three_lines_for_each_language_take_a_column_of_it() {
    let file = languages();
    let brief = |file: &ResultFile| {
        let tables = tables(&[file], None, &[]);
        crate::advise::brief(&tables, ANY, &[], 200).unwrap()
    };
    let says = brief(&file);
    let (native, python) = says.split_once("Advice · durability process · python").unwrap();
    assert!(native.contains("Advice · durability process · native"), "{says}");
    assert!(native.contains("tree: best at") && !native.contains("-python"), "{says}");
    assert!(
        !python.contains("tree-python: best at") && python.contains("-python: best at"),
        "{says}"
    );
    // With only one language, the advice names it.
    let mut python = file;
    python.cells.retain(|cell| cell.id.engine.ends_with("-python"));
    let says = brief(&python);
    assert!(says.contains("Advice · durability process · python") && !says.contains("native"));
    assert!(!brief(&three()).contains("native"), "not where there is no other");
}

#[test]
fn results_of_each_language_are_advised_from_together() {
    let file = languages();
    let is_python = |cell: &Cell| cell.id.engine.ends_with("-python");
    let (mut native, mut python) = (three(), file);
    python.cells.retain(is_python);
    python.manifest.run_id = "another".to_owned();
    native.manifest.run_id = "one".to_owned();
    let tables = tables(&[&native, &python], None, &[]);
    let languages: Vec<&str> = tables.tables.iter().map(AdviceTable::language).collect();
    assert_eq!(languages, ["native", "python"]);
}

#[test]
fn two_packages_of_a_language_compete() {
    let mut file = languages();
    let own = file.plan.configurations.get_mut("rows-python").unwrap();
    own.client = Some("python:other".parse().unwrap());
    let tables = tables(&[&file], None, &[]);
    assert_eq!(tables.tables.len(), 2);
    let command = &tables.tables[1].commands[&Durability::Power];
    assert!(command.contains("python:other") && command.contains("python"), "{command}");
}
