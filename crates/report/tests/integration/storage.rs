//! Imitated storages in a report: what they are models of, and whether they kept their times.

use std::path::Path;

use embermark_model::StorageName;
use embermark_model::card::Spread;
use embermark_model::plan::Plan;
use embermark_model::result::{ResultFile, StoragePath, StorageTimes};
use embermark_report::{Format, Options, load, render, screen};

/// The fixture's cells, and the same on a card that is half as fast.
fn on_a_card(times: StorageTimes) -> ResultFile {
    let mut file = load(Path::new("tests/fixtures/schema-1.json")).unwrap();
    let mut plan = serde_json::to_value(&file.plan).unwrap();
    let spread = serde_json::json!({ "low": 900, "typical": 1_200, "high": 1_800 });
    let transfer = serde_json::json!({
        "random_us": spread, "sequential_us": spread,
        "kb_per_s": { "low": 20_000, "typical": 20_000, "high": 20_000 },
    });
    let none = serde_json::json!({ "low": 0, "typical": 0, "high": 0 });
    plan["storages"] = serde_json::json!([null, {
        "name": "card", "about": "a card", "read": transfer, "write": transfer, "flush_us": none,
        "cache_bytes": 0, "cached_write_us": none, "queue_depth": 1,
    }]);
    file.plan = serde_json::from_value::<Plan>(plan).unwrap();
    let mut cells = file.cells.clone();
    for cell in &mut cells {
        cell.id.storage = Some(StorageName::new("card").unwrap());
        for trial in &mut cell.trials {
            trial.storage_times = Some(times);
            let runs = trial.phases.iter_mut().flat_map(|phase| &mut phase.runs);
            runs.for_each(|run| run.elapsed_ns *= 2);
        }
    }
    file.cells.extend(cells);
    let (read_ns, write_ns, flush_ns, kib_ns) = (64_000, 57_000, 62_000, 180);
    file.manifest.storage_path = Some(StoragePath { read_ns, write_ns, flush_ns, kib_ns });
    // The values that a file has.
    serde_json::from_slice(&serde_json::to_vec(&file).unwrap()).unwrap()
}

fn shown(file: &ResultFile) -> [String; 2] {
    let options = Options { width: 200, ..Options::default() };
    [render(file, Format::Table, &options).unwrap(), screen(file, &options, &Default::default())]
}

const KEPT: StorageTimes = StorageTimes {
    requests: 1_000,
    late: 50,
    latest_ns: 300_000,
    time_ns: 1_200_000_000,
    late_ns: 8_000_000,
    programmed_bytes: None,
    erases: None,
};

#[test]
fn a_storage_is_told_as_a_model_with_its_parameters_and_has_tables_of_its_own() {
    let [tables, screen] = shown(&on_a_card(KEPT));
    let imitated =
        "imitated: a model of card with its likely values, not a measurement of a device";
    assert!(screen.contains(imitated), "{screen}");
    assert!(!screen.contains("storages answered late"), "5 % are not above 5 %: {screen}");
    let tables = tables.split_whitespace().collect::<Vec<_>>().join(" ");
    for says in [
        " on card · durability",
        imitated,
        "read 1.20 ms (900 µs to 1.80 ms), behind the last one 1.20 ms (900 µs to 1.80 ms), 20.0 MB/s",
        "queue depth 1",
        "2,150 of 43,000 requests were late by more than 50 µs and more than 5 % of their time; all",
        "takes 64.0 µs for a read of 4 KiB, 57.0 µs for a write",
    ] {
        assert!(tables.contains(says), "{says}: {tables}");
    }
    let plain = load(Path::new("tests/fixtures/schema-1.json")).unwrap();
    assert!(
        shown(&plain).iter().all(|text| !text.contains("imitated") && !text.contains(" on card"))
    );
}

#[test]
fn a_storage_that_could_not_keep_its_times_is_a_warning_with_the_worst_cells() {
    let mut file = on_a_card(StorageTimes { late: 51, ..KEPT });
    let cell = file.cells.iter_mut().rfind(|cell| !cell.trials.is_empty()).unwrap();
    cell.trials[0].storage_times = Some(StorageTimes { late: 400, ..KEPT });
    let worst = format!("{} (40 % of 1,000 requests, 8.00 µs late on average)", cell.id);
    let [tables, screen] = shown(&file);
    let says = "storages answered late: close other programs, or keep fewer processors busy: ";
    let at = |text: &str| text.find(says).map(|at| text[at + says.len()..].to_owned());
    let first = at(&screen).unwrap_or_else(|| panic!("{screen}"));
    assert!(first.starts_with(&worst[..40]), "{first}");
    let whole = tables.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(whole.contains(&worst), "{whole}");
}

#[test]
fn a_storage_near_what_the_path_costs_says_how_far_commits_may_be_off_and_a_slow_one_does_not() {
    let mut file = on_a_card(KEPT);
    let says = "commits on card may take up to";
    assert!(shown(&file).iter().all(|text| !text.contains(says)));
    let storage = file.plan.storages[1].as_mut().unwrap();
    storage.write.sequential_us = Spread { low: 30, typical: 33, high: 50 };
    // 33 µs and 4,096 bytes at 20 MB/s; 57 µs and 62 µs of path.
    let whole = format!(
        "{says} 1.5 times as long as on the medium: of a write in a row and its flush, which take \
         238 µs there, the path to an imitated storage costs 119 µs"
    );
    let [tables, screen] = shown(&file);
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&tables).contains(&whole), "{tables}");
    assert!(screen.contains(&whole[..60]), "{screen}");
}
