//! Advice within memory limits and on storages.

use embermark_model::{MemoryLimit, StorageName};

use super::*;

const LIMIT: MemoryLimit = MemoryLimit(256 << 20);

const FREE: Conditions = Conditions { memory_limit: None, storage: None };
const WITHIN: Conditions = Conditions { memory_limit: Some(LIMIT), ..FREE };

/// Makes [`turning`], with the order of the largest scale at the smallest scale within 256 MiB.
fn tight() -> ResultFile {
    let mut file = turning();
    for (engine, time) in [("rows", 60), ("columns", 20)] {
        let mut cell = cell(engine, "commit-each", &[("load", time)]);
        cell.id.memory_limit = Some(LIMIT);
        file.cells.push(cell);
    }
    file
}

#[test]
fn a_limit_of_memory_has_a_list_of_its_own_of_its_own_cells() {
    let file = tight();
    let tables = tables(&[&file], None, &[]);
    let names: Vec<&str> = tables.tables.iter().map(|table| &*table.at).collect();
    assert_eq!(names, ["1k rows", "10k rows", "100k rows", "1k rows within 256 MiB"]);
    let all = advise_each(&tables, ANY, &weights(&[("ingest", 1.0)])).unwrap();
    let second: Vec<(&str, f64)> = (all.iter().map(|(_, advice)| &advice.ranked[1]))
        .map(|place| (&*place.engine, (place.score * 1e9).round() / 1e9))
        .collect();
    // Without the limit, the cells within it do not matter: 30 over 10 at 1k.
    let expected = [("columns", 3.0), ("columns", 1.01), ("rows", 3.0), ("rows", 3.0)];
    assert_eq!(second, expected);
    let memory = Needs { memory_bytes: Some(400_000_000), ..ANY };
    let left = advise_each(&tables, memory, &weights(&[("ingest", 1.0)])).unwrap();
    let excluded: Vec<usize> = left.iter().map(|(_, advice)| advice.excluded.len()).collect();
    assert_eq!(excluded, [0, 0, 1, 0], "the memory of the scale within the limit");
    let shown = crate::advise::words(&all, &tables, None, 200);
    for says in [
        "at each measured scale; --scale N",
        "a list of its own within each limit: no limit, 256 MiB; --memory-limit",
        "weights ingest 1 · at sensors 1k\n",
        "weights ingest 1 · at sensors 1k within 256 MiB\n",
        "by these weights columns overtakes rows between 1k and 100k rows\n",
        "rows at sensors 1k; rows (no difference shown to columns) at sensors 10k; columns at \
         sensors 100k, 1k within 256 MiB. rows put in",
        "sensors 1k, 10k, 100k, 1k within 256 MiB: ",
    ] {
        assert!(shown.contains(says), "{says}\n{shown}");
    }
    assert!(!shown.contains("rows overtakes"), "no turn from one limit to another: {shown}");
    let json: serde_json::Value = serde_json::from_str(&json(&all, &tables).unwrap()).unwrap();
    let limits = |of: &str| -> Vec<Option<u64>> {
        json[of].as_array().unwrap().iter().map(|at| at["memory_limit_bytes"].as_u64()).collect()
    };
    let expected = [None, None, None, Some(256 << 20)];
    assert_eq!((limits("advice"), limits("tables")), (expected.to_vec(), expected.to_vec()));
}

#[test]
fn limits_of_memory_and_rows_choose_lists() {
    let file = tight();
    let names = |rows: Option<u64>, conditions: &[Conditions]| -> Vec<String> {
        tables(&[&file], rows, conditions).tables.into_iter().map(|table| table.at).collect()
    };
    assert_eq!(names(None, &[WITHIN]), ["1k rows within 256 MiB"]);
    assert_eq!(names(None, &[FREE]), ["1k rows", "10k rows", "100k rows"]);
    let both = ["60k rows", "60k rows within 256 MiB"];
    assert_eq!(names(Some(60_000), &[]), both);
    assert_eq!(names(Some(60_000), &[WITHIN]), both[1..]);
    // Each table names the scale that answers the request.
    let tables = tables(&[&file], Some(60_000), &[]);
    let all = advise_each(&tables, ANY, &weights(&[("ingest", 1.0)])).unwrap();
    let shown = crate::advise::words(&all, &tables, Some(60_000), 250);
    assert!(shown.contains("answered at sensors 100k, the nearest measured"), "{shown}");
    let away = "no answer for 60k: sensors 1k within 256 MiB: measure with --scale 60k";
    assert!(shown.contains(away), "{shown}");
}

#[test]
fn turns_within_a_limit_of_memory_are_of_its_lists() {
    let mut file = turning();
    file.cells.iter_mut().for_each(|cell| cell.id.memory_limit = Some(LIMIT));
    // Without a limit the order is the same at every scale.
    let flat = turning().cells.into_iter().filter(|cell| cell.id.engine == "rows");
    for cell in flat {
        let mut other = cell.clone();
        other.id.engine = "columns".into();
        let runs = other.trials.iter_mut().flat_map(|trial| &mut trial.phases[0].runs);
        runs.for_each(|run| run.elapsed_ns *= 2);
        file.cells.extend([cell, other]);
    }
    let shown = |conditions: &[Conditions]| {
        let tables = tables(&[&file], None, conditions);
        let all = advise_each(&tables, ANY, &weights(&[("ingest", 1.0)])).unwrap();
        crate::advise::words(&all, &tables, None, 200)
    };
    for says in [
        "by these weights columns overtakes rows between 1k and 100k rows within 256 MiB\n",
        "ingest: columns overtakes rows between 1k and 100k rows within 256 MiB (load)\n",
    ] {
        assert!(shown(&[]).contains(says), "{}", shown(&[]));
        assert!(shown(&[WITHIN]).contains(says), "{}", shown(&[WITHIN]));
    }
    let free = shown(&[FREE]);
    assert!(!free.contains("256 MiB") && free.contains("not shown to turn"), "{free}");
}

#[test]
fn what_was_measured_only_without_a_limit_of_memory_is_lent_to_no_list_within_one() {
    let mut file = tight();
    for engine in ["rows", "columns"] {
        file.cells.push(cell(engine, "commit-each", &[("avg_sensor", 10)]));
        if let Some(cell) = file.cells.last_mut() {
            cell.id.scale = Scale::Rows(10);
        }
    }
    let tables = tables(&[&file], None, &[]);
    let advised = |of: &[(&str, f64)]| advise_each(&tables, ANY, &weights(of)).unwrap();
    let questions = advised(&[("analytics", 1.0)]);
    assert!(
        questions.iter().all(|(table, _)| table.conditions.memory_limit.is_none()),
        "nothing rests there"
    );
    let both = advised(&[("ingest", 1.0), ("analytics", 1.0)]);
    let (table, within) = both.last().unwrap();
    assert_eq!((table.conditions.memory_limit, within.ranked.len()), (Some(LIMIT), 0));
    assert_eq!(within.unmeasured.len(), 2);
    let shown = crate::advise::words(&both, &tables, None, 200);
    assert!(shown.contains("rows within 256 MiB)"), "who is unmeasured where: {shown}");
}

#[test]
fn an_imitated_storage_has_a_list_of_its_own_that_is_named_and_can_be_chosen() {
    let storage = Some(StorageName::new("sd-a1").unwrap());
    let mut file = tight();
    for (engine, time) in [("rows", 60), ("columns", 20)] {
        let mut cell = cell(engine, "commit-each", &[("load", time)]);
        cell.id.storage = storage;
        file.cells.push(cell);
    }
    let tables_of = |conditions: &[Conditions]| tables(&[&file], None, conditions);
    let on_card = [Conditions { storage, ..FREE }];
    let chosen: Vec<String> = tables_of(&on_card).tables.into_iter().map(|one| one.at).collect();
    assert_eq!(chosen, ["1k rows on sd-a1"]);
    let tables = tables_of(&[]);
    let all = advise_each(&tables, ANY, &weights(&[("ingest", 1.0)])).unwrap();
    let best = |at: &str| {
        let (_, advice) = all.iter().find(|(table, _)| table.at == at).unwrap();
        advice.ranked[0].engine.clone()
    };
    assert_eq!([best("1k rows"), best("1k rows on sd-a1")], ["rows", "columns"]);
    let shown = crate::advise::words(&all, &tables, None, 200);
    for says in [
        "a list of its own on each storage: this machine's disk, sd-a1; --storage",
        "at sensors 1k on sd-a1\n",
    ] {
        assert!(shown.contains(says), "{shown}");
    }
    let json = crate::advise::json(&all, &tables).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let of = |of: &str| {
        let all = json[of].as_array().unwrap().iter();
        all.filter(|one| one["storage"] == "sd-a1").count()
    };
    assert_eq!([of("advice"), of("tables")], [1, 1]);
}
