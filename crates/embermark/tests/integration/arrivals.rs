//! Rows of the user that arrive at their own times, and the highest rate that an engine sustains.

use crate::common::{Sandbox, is_here};
use embermark_model::Status;
use embermark_model::result::{Observed, Trial};

/// A logger of three sensors, whose rows arrive for 400 ms.
const LOGGER: &str = r#"
[table.reading]
rows = 600
key = ["time", "sensor"]

[table.reading.columns]
time = { type = "timestamp", unit = "ms", make = "sequence", from = "2026-01-01", step = "1s", repeat = 3 }
sensor = { type = "i32", make = "cycle", distinct = 3 }
temp = { type = "f64", make = "choice", values = [18, 18.25, 19] }

[phase.ingest]
do = "insert"

[phase.logger]
arrive = "500/s"
insert = "ingest"
for = "400ms"

[phase.highest]
only = "rate"
arrive = "1/s"
insert = "ingest"
for = "400ms"
"#;

#[test]
fn own_rows_arrive_are_stored_and_what_was_lost_is_on_the_screen() {
    let sandbox = Sandbox::new();
    sandbox.write("logger.toml", LOGGER);
    let engines = ["sqlite", "lmdb", "memory"];
    let words = ["run", "logger.toml", "-e", "sqlite,lmdb,memory", "-t", "process", "--out", "out"];
    let ended =
        sandbox.embermark(&[&words[..], &["--trials", "1", "--show", "tables,explain"]].concat());
    let ended = ended.expect_status(0);
    let result = sandbox.result("out");
    for engine in engines {
        let cell = result.cells.iter().find(|cell| cell.id.engine == engine).unwrap();
        let names = |trial: &Trial| -> Vec<String> {
            trial.phases.iter().map(|phase| phase.phase.clone()).collect()
        };
        assert_eq!(names(&cell.trials[0]), ["ingest", "logger"], "no highest rate was asked for");
        let explained = cell.explaining.as_deref().map(names);
        let expected = (!cell.reference).then(|| vec!["ingest".to_owned()]);
        assert_eq!(explained, expected, "{engine}: a traced engine does not keep up with a rate");
        let phase = &cell.trials[0].phases[1];
        assert_eq!((phase.status, &phase.reason), (Status::Ok, &None), "{engine}");
        let Observed { counts, latencies, processes, .. } =
            phase.runs[0].observed.as_ref().unwrap();
        // Other tests use the CPUs at the same time, so some rows may be late.
        assert_eq!(counts["samples"] + counts["lost"], 200, "{engine}");
        assert_eq!(counts["target-rate"], 500, "{engine}");
        assert!(latencies["response"].mean > latencies["commit"].mean, "{engine}");
        let roles: Vec<&str> = processes.keys().map(String::as_str).collect();
        assert_eq!(roles, ["sensor", "writer"], "{engine}");
    }
    let title = "logger, 500 rows per second, ";
    assert!(ended.stdout.contains(title), "{}", ended.stdout);
    assert!(!ended.stdout.contains("High-frequency sensor data"), "{}", ended.stdout);
}

#[test]
fn a_rate_that_is_given_takes_the_place_of_the_files() {
    let sandbox = Sandbox::new();
    sandbox.write("logger.toml", LOGGER);
    let words = ["run", "logger.toml", "-e", "memory", "-t", "none", "--out", "out"];
    let rate = ["--phases", "logger", "--rate", "250", "--trials", "1"];
    sandbox.embermark(&[&words[..], &rate].concat()).expect_status(0);
    let result = sandbox.result("out");
    let phases = &result.cells[0].trials[0].phases;
    let names: Vec<&str> = phases.iter().map(|phase| phase.phase.as_str()).collect();
    assert_eq!(names, ["logger"]);
    let counts = &phases[0].runs[0].observed.as_ref().unwrap().counts;
    assert_eq!((counts["target-rate"], counts["samples"] + counts["lost"]), (250, 100));
}

#[test]
fn the_highest_rate_of_own_rows_is_found_and_stands_on_the_screen() {
    let sandbox = Sandbox::new();
    if !is_here("sqlite") {
        return;
    }
    sandbox.write("logger.toml", LOGGER);
    let words = ["rate", "logger.toml", "-e", "sqlite", "-t", "power", "--out", "out"];
    let one = ["--phases", "highest", "--trials", "1", "--no-counting"];
    let ended = sandbox.embermark(&[&words[..], &one].concat()).expect_status(0);
    let result = sandbox.result("out");
    let phases = &result.cells[0].trials[0].phases;
    assert_eq!(phases.len(), 1);
    let observed = phases[0].runs[0].observed.as_ref().unwrap();
    let rate = observed.counts["sustained-rate"];
    // A busy machine may sustain no rate.
    assert!(rate < 1_000_000, "{rate}");
    assert_eq!(observed.counts.contains_key("filled"), rate > 0);
    assert!(
        observed.remarks.iter().any(|remark| remark.contains("rows per second")),
        "{observed:?}"
    );
    assert!(ended.stdout.contains("Highest rate without a loss"), "{}", ended.stdout);
}
