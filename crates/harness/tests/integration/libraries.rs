//! Configurations with the library of another version.

use std::fs;
use std::path::Path;

use embermark_harness::progress::Silent;
use embermark_harness::{HarnessError, JOURNAL, cells, check_settings, resume};
use embermark_model::plan::Plan;
use embermark_model::{Configuration, Durability, Status};
use tempfile::TempDir;

use crate::cells::plan;
use crate::toy::CATALOG;
use crate::trials::{Out, run};

crate::tests!(
    another_library_is_a_column_of_its_version_in_the_tiers_that_it_has,
    a_library_that_is_not_there_is_told_before_anything_runs,
    an_engine_that_is_linked_takes_none,
    a_run_that_was_cut_off_is_gone_on_with_by_the_same_libraries,
);

/// A library of version 2.0.
fn newer() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("version"), "2.0").unwrap();
    folder
}

/// A plan with an engine, and with the same engine using the library in a directory.
fn with(engine: &str, library: &Path) -> Plan {
    let mut plan = Plan { trials: 2, ..plan(&[engine, "other"]) };
    plan.durabilities = vec![Durability::Process, Durability::Power];
    let (settings, library) = (Default::default(), Some(library.to_owned()));
    let own = Configuration { engine: engine.to_owned(), settings, library, client: None };
    plan.configurations.insert("other".to_owned(), own);
    plan
}

fn another_library_is_a_column_of_its_version_in_the_tiers_that_it_has() {
    let (folder, out) = (newer(), Out::new());
    let result = run(&with("opened", folder.path()), &out.options()).unwrap();
    let told = result.cells.iter().map(|cell| {
        let versions = cell.trials.iter().filter_map(|trial| trial.version.as_deref());
        (&*cell.id.engine, cell.id.durability, cell.status, versions.collect::<Vec<_>>())
    });
    let (process, power) = (Durability::Process, Durability::Power);
    let expected = [
        ("opened", process, Status::Ok, vec!["1.0"; 2]),
        ("other", process, Status::Ok, vec!["2.0"; 2]),
        ("opened", power, Status::Unsupported, Vec::new()),
        ("other", power, Status::Ok, vec!["2.0"; 2]),
    ];
    assert_eq!(told.collect::<Vec<_>>(), expected);
    let named = |cell: usize| result.cells[cell].trials[0].settings.get("library").cloned();
    assert_eq!((named(0), named(1)), (None, Some(folder.path().display().to_string())));
    let facts = &result.manifest.engines["other"];
    assert_eq!(facts.configuration, result.plan.configurations.get("other").cloned());
}

fn a_library_that_is_not_there_is_told_before_anything_runs() {
    let (folder, out) = (tempfile::tempdir().unwrap(), Out::new());
    let plan = with("opened", folder.path());
    let options = out.options();
    let tried = check_settings(
        &plan.configurations,
        &plan.durabilities,
        folder.path(),
        &options.worker,
        &CATALOG,
    );
    for error in [tried.map(drop).unwrap_err(), run(&plan, &options).map(drop).unwrap_err()] {
        let says = error.to_string();
        let file = folder.path().join("version");
        assert!(says.contains("configuration 'other' with library="), "{says}");
        assert!(says.contains(&format!("no {}", file.display())), "{says}");
        assert!(matches!(error, HarnessError::Plan(_)) && error.is_usage());
    }
    assert!(!out.path("").exists());
    let left = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 0, "what was tried is gone");
}

fn an_engine_that_is_linked_takes_none() {
    let error = cells::check(&with("good", Path::new("/x")), &CATALOG).unwrap_err().to_string();
    assert!(error.contains("configuration 'other': good takes no library"), "{error}");
}

fn a_run_that_was_cut_off_is_gone_on_with_by_the_same_libraries() {
    let (folder, out) = (newer(), Out::new());
    run(&with("opened", folder.path()), &out.options()).unwrap();
    let whole = fs::read_to_string(out.path(JOURNAL)).unwrap();
    let first = whole.find("{\"cell\":").unwrap();
    let end = first + whole[first..].find('\n').unwrap() + 1;
    let left = Out::new();
    fs::create_dir_all(left.path("")).unwrap();
    fs::write(left.path(JOURNAL), &whole[..end]).unwrap();
    let result = resume(None, &left.options(), &mut Silent).unwrap();
    let other = result.cells.iter().filter(|cell| cell.id.engine == "other");
    let trials: Vec<_> = other.flat_map(|cell| &cell.trials).collect();
    assert_eq!(trials.len(), 4);
    assert!(trials.iter().all(|trial| trial.version.as_deref() == Some("2.0")));
}
