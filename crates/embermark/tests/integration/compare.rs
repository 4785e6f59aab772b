//! `compare`, `gate`, `check`, `advise` and `report` on results of real runs, altered by hand.

use std::fs;
use std::sync::LazyLock;

use crate::common::{ProgramOutput, Sandbox};
use embermark_model::result::ResultFile;
use embermark_report::site;

/// The result of three short trials of two engines, as text. The run takes most of the time of
/// these tests, so that they share it.
static RESULT: LazyLock<String> = LazyLock::new(|| {
    let sandbox = Sandbox::new();
    let words = [
        "run",
        "sensors",
        "--engines",
        "sqlite,lmdb",
        "--scale",
        "200",
        "--runs",
        "2",
        "--trials",
        "3",
        "--phases",
        "load,read",
        "--variant",
        "single",
        "--out",
        "out",
        "--format",
        "json",
    ];
    sandbox.embermark(&words).expect_status(0);
    fs::read_to_string(sandbox.path("out/result.json")).unwrap()
});

/// Returns a sandbox with the result of the run in `out`, and with `old.json`, made steady.
fn measured() -> (Sandbox, ResultFile) {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("out")).unwrap();
    sandbox.write("out/result.json", &*RESULT);
    let mut result = sandbox.result("out");
    steady(&mut result);
    sandbox.write("old.json", serde_json::to_vec(&result).unwrap());
    (sandbox, result)
}

/// Makes consecutive trials of a cell differ by a thousandth, however busy the machine was.
fn steady(result: &mut ResultFile) {
    for (trial, phases) in
        result.cells.iter_mut().flat_map(|cell| cell.trials.iter_mut().enumerate())
    {
        for run in phases.phases.iter_mut().flat_map(|phase| &mut phase.runs) {
            run.elapsed_ns = run.ops * (10_000 + 10 * trial as u64);
        }
    }
}

/// Returns a later run's result, with the time of every counted run of an engine multiplied by
/// `factor`.
fn slower(mut result: ResultFile, engine: &str, factor: u64) -> Vec<u8> {
    result.manifest.run_id.push_str("-later");
    for cell in result.cells.iter_mut().filter(|cell| cell.id.engine == engine) {
        for phase in cell.trials.iter_mut().flat_map(|trial| &mut trial.phases) {
            phase.runs.iter_mut().for_each(|run| run.elapsed_ns *= factor);
        }
    }
    serde_json::to_vec(&result).unwrap()
}

#[test]
fn a_result_is_compared_gated_checked_advised_on_and_exported() {
    compare_shows_and_ends_with_0_and_refuses_what_cannot_be_compared_with_2();
    a_gate_ends_with_1_where_something_is_slower_and_writes_what_a_build_reads();
    a_check_names_what_fails_and_an_anonymous_copy_can_be_read();
    advice_ranks_by_weights_names_nobody_without_and_says_what_was_not_measured();
    runs_go_to_a_parquet_file_and_not_to_the_terminal();
    advice_is_three_lines_and_names_the_command_for_what_is_missing();
    every_command_reads_a_compressed_result_and_names_a_damaged_one();
}

fn compare_shows_and_ends_with_0_and_refuses_what_cannot_be_compared_with_2() {
    let (sandbox, result) = measured();
    assert!(
        result.manifest.drift.is_some() && result.manifest.engines["sqlite"].data_model == "SQL"
    );
    let same = sandbox.embermark(&["compare", "old.json", "old.json"]).expect_status(0);
    assert!(same.stdout.contains("New against old: 0 slower, 0 faster"), "{}", same.stdout);
    sandbox.write("slow.json", slower(result.clone(), "sqlite", 100));
    let worse = sandbox.embermark(&["compare", "old.json", "slow.json"]).expect_status(0);
    assert!(worse.stdout.contains("slower"), "{}", worse.stdout);

    let mut other = result;
    other.manifest.machine.cpu = Some("another CPU".into());
    other.manifest.run_id.push_str("-later");
    sandbox.write("other.json", serde_json::to_vec(&other).unwrap());
    for command in ["compare", "gate"] {
        sandbox.embermark(&[command, "old.json", "other.json"]).expect_status(2).expect_stderr(&[
            "cannot be compared",
            "CPU:",
            "another CPU",
            "--force",
        ]);
        let forced =
            sandbox.embermark(&[command, "old.json", "other.json", "--force"]).expect_status(0);
        assert!(forced.stdout.starts_with("NOT COMPARABLE"), "{}", forced.stdout);
        sandbox
            .embermark(&[command, "old.json", "none.json"])
            .expect_status(2)
            .expect_stderr(&["no result file"]);
    }
}

fn a_gate_ends_with_1_where_something_is_slower_and_writes_what_a_build_reads() {
    let (sandbox, result) = measured();
    sandbox.write("slow.json", slower(result, "sqlite", 2));
    sandbox
        .embermark(&["gate", "old.json", "old.json"])
        .expect_status(2)
        .expect_stderr(&["of one and the same run", "--force"]);
    let same = sandbox.embermark(&["gate", "old.json", "old.json", "--force"]).expect_status(0);
    assert!(same.stdout.starts_with("Passed"), "{}", same.stdout);
    let files = ["-o", "markdown=gate.md", "-o", "junit=gate.xml", "-o", "bencher=gate.json"];
    let worse = sandbox
        .embermark(&[&["gate", "old.json", "slow.json"][..], &files].concat())
        .expect_status(1);
    assert!(worse.stdout.contains("slower than allowed"), "{}", worse.stdout);
    let read = |name: &str| fs::read_to_string(sandbox.path(name)).unwrap();
    assert!(read("gate.md").starts_with("**Failed"), "{}", read("gate.md"));
    assert!(read("gate.xml").contains("<failure message="), "{}", read("gate.xml"));
    let bencher: serde_json::Value = serde_json::from_str(&read("gate.json")).unwrap();
    assert!(bencher["sqlite sensors 200 process single read"]["latency"]["value"].is_number());
    let json = sandbox.embermark(&["gate", "old.json", "slow.json", "-f", "json"]).expect_status(1);
    let value: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&value["allow"], &value["outcome"]), (&0.05.into(), &"failed".into()));
    sandbox.embermark(&["gate", "slow.json", "old.json"]).expect_status(0);
    sandbox.embermark(&["gate", "old.json", "slow.json", "--allow", "200%"]).expect_status(0);
    sandbox.embermark(&["gate", "old.json", "slow.json", "-e", "lmdb"]).expect_status(0);
    sandbox
        .embermark(&["gate", "old.json", "slow.json", "-e", "lmbd"])
        .expect_status(2)
        .expect_stderr(&["'lmdb'"]);
    // Columns of one run.
    let columns = ["gate", "old.json", "--old", "sqlite", "--new"];
    sandbox.embermark(&[&columns[..], &["lmdb"]].concat()).expect_status(0);
    sandbox
        .embermark(&[&columns[..], &["sqlite"]].concat())
        .expect_status(2)
        .expect_stderr(&["one and the same column"]);
    sandbox
        .embermark(&[&columns[..], &["none"]].concat())
        .expect_status(2)
        .expect_stderr(&["lmdb"]);
    sandbox.embermark(&["gate", "old.json"]).expect_status(2);
    sandbox
        .embermark(&["gate", "old.json", "old.json", "--allow", "much"])
        .expect_status(2)
        .expect_stderr(&["5%"]);
    sandbox
        .embermark(&["gate", "old.json", "old.json", "-o", "x.xml"])
        .expect_status(2)
        .expect_stderr(&["junit="]);
}

fn a_check_names_what_fails_and_an_anonymous_copy_can_be_read() {
    let (sandbox, mut result) = measured();
    result.manifest.warnings.push("pi has no room in home/pi/data on a pi3".to_owned());
    sandbox.write("old.json", serde_json::to_vec(&result).unwrap());
    let words = ["check", "old.json", "--anonymous", "-o", "anonymous.json"];
    let checked = sandbox.command(&words).env("USER", "pi").output().unwrap();
    let checked = ProgramOutput::from(checked).expect_status(1);
    for says in ["release-build", "FAILED", "What to do", "Left in the anonymous result"] {
        assert!(checked.stdout.contains(says), "{says}: {}", checked.stdout);
    }
    let text = fs::read_to_string(sandbox.path("anonymous.json")).unwrap();
    assert!(!text.contains("/dev/") && !text.contains("logs/"), "{text}");
    assert!(text.contains("\"(name) has no room in home/(name)/data on a pi3\""), "{text}");
    sandbox.embermark(&["report", "anonymous.json"]).expect_status(0);
    sandbox.embermark(&["check", "old.json", "anonymous.json", "-f", "json"]).expect_status(1);
    sandbox
        .embermark(&["check", "old.json", "--anonymous"])
        .expect_status(2)
        .expect_stderr(&["--out"]);
    sandbox.embermark(&["check", "none.json"]).expect_status(2).expect_stderr(&["no result file"]);
}

fn advice_ranks_by_weights_names_nobody_without_and_says_what_was_not_measured() {
    let (sandbox, result) = measured();
    let open = sandbox.embermark(&["advise", "old.json", "--show", "tables"]).expect_status(0);
    for folder in ["one", "none"] {
        fs::create_dir(sandbox.path(folder)).unwrap();
    }
    fs::copy(sandbox.path("old.json"), sandbox.path("one/old.json")).unwrap();
    for named in ["one", "one/*.json"] {
        let same = sandbox.embermark(&["advise", named, "--show", "tables"]).expect_status(0);
        assert_eq!(same.stdout, open.stdout, "{named}");
    }
    // A result that cannot be read leaves the table of others as it was.
    sandbox.write("bad.json", "{}");
    sandbox.write("runs.csv", "mine");
    let words = ["report", "old.json", "bad.json", "--format", "csv", "-o", "runs.csv"];
    sandbox.embermark(&words).expect_status(2).expect_stderr(&["bad.json"]);
    assert_eq!(fs::read_to_string(sandbox.path("runs.csv")).unwrap(), "mine");
    for words in [&["advise", "none"][..], &["report", "none", "-o", "page.html"]] {
        sandbox.embermark(words).expect_status(2).expect_stderr(&["no result of embermark found"]);
    }
    assert!(open.stdout.contains("no engine is ranked") && open.stdout.contains("Best at"));
    sandbox.write("slow.json", slower(result, "sqlite", 100));
    let words = [
        "advise",
        "--show",
        "tables",
        "slow.json",
        "--weight",
        "load=1,point=2",
        "--tier",
        "process",
    ];
    let ranked = sandbox.embermark(&words).expect_status(0);
    let place_of = |engine: &str| ranked.stdout.find(&format!(". {engine} "));
    assert!(place_of("lmdb").unwrap() < place_of("sqlite").unwrap(), "{}", ranked.stdout);
    let words = ["advise", "--show", "tables", "old.json", "--need", "sql", "--weight", "load=1"];
    let sql = sandbox.embermark(&words).expect_status(0);
    assert!(sql.stdout.contains("1. sqlite ") && sql.stdout.contains("lmdb: no SQL"));
    let words = ["advise", "--show", "tables", "old.json", "--weight", "analytics=1"];
    let unmeasured = sandbox.embermark(&words).expect_status(0);
    assert!(unmeasured.stdout.contains("not measured for analytics"), "{}", unmeasured.stdout);
    let criteria = sandbox.embermark(&["advise", "old.json", "--criteria"]).expect_status(0);
    assert!(criteria.stdout.lines().any(|line| line.starts_with("ingest ")));
    let json = sandbox.embermark(&["advise", "old.json", "--format", "json"]).expect_status(0);
    let value: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert!(value["tables"][0]["engines"].as_array().is_some_and(|engines| engines.len() == 2));

    sandbox
        .embermark(&["advise", "old.json", "--weight", "ingset=1"])
        .expect_status(2)
        .expect_stderr(&["unknown criterion 'ingset'", "did you mean 'ingest'?"]);
    sandbox
        .embermark(&["advise", "old.json", "--weight", "ingest=0"])
        .expect_status(2)
        .expect_stderr(&["ingest=3"]);
    sandbox
        .embermark(&["advise", "old.json", "--max-rss", "lots"])
        .expect_status(2)
        .expect_stderr(&["64MiB"]);
    let words = ["advise", "old.json", "--scale", "30M", "--weight", "load=1", "--show", "tables"];
    let far = sandbox.embermark(&words).expect_status(0);
    assert!(far.stdout.contains("no answer for 30M:"), "{}", far.stdout);
    sandbox
        .embermark(&["advise", "old.json", "--scale", "full"])
        .expect_status(2)
        .expect_stderr(&["300k"]);
    sandbox.embermark(&["advise"]).expect_status(2);
}

fn runs_go_to_a_parquet_file_and_not_to_the_terminal() {
    let (sandbox, _) = measured();
    let words = ["report", "old.json", "--format", "parquet", "-o", "runs.parquet"];
    sandbox.embermark(&words).expect_status(0);
    let bytes = std::fs::read(sandbox.path("runs.parquet")).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    sandbox
        .embermark(&["report", "old.json", "--format", "parquet"])
        .expect_status(2)
        .expect_stderr(&["--out"]);
    sandbox
        .embermark(&["report", "old.json", "--format", "csv", "-o", "runs.csv"])
        .expect_status(0);
    let csv = fs::read_to_string(sandbox.path("runs.csv")).unwrap();
    assert!(csv.starts_with("run_id,") && csv.contains("per_op_low_ns"));
}

fn advice_is_three_lines_and_names_the_command_for_what_is_missing() {
    let (sandbox, result) = measured();
    sandbox.write("slow.json", slower(result, "sqlite", 100));
    let advice = |more: &[&str]| {
        sandbox.embermark(&[&["advise", "slow.json"], more].concat()).expect_status(0).stdout
    };
    let usual = advice(&[]);
    let lines: Vec<&str> = usual.lines().filter(|line| line.starts_with("  ")).collect();
    assert!(lines[0].contains("take") && lines[0].contains("lmdb: best at reads"), "{usual}");
    assert!(lines[1].contains("margin") && lines[1].contains("ahead of sqlite"), "{usual}");
    assert!(usual.contains("turned by") && usual.lines().count() < 10, "{usual}");
    let none = advice(&["--weight", "analytics=1"]);
    assert!(none.contains("No engine") && none.contains("embermark run sensors"), "{none}");
    // Nothing was committed row by row here.
    let paced = advice(&["--rate", "1000"]);
    assert!(paced.contains("commits of single rows were not measured"), "{paced}");
}

fn every_command_reads_a_compressed_result_and_names_a_damaged_one() {
    let (sandbox, _) = measured();
    let plain = fs::read_to_string(sandbox.path("out/result.json")).unwrap();
    assert_eq!(plain.lines().count(), 1, "a result is one line");
    fs::create_dir_all(sandbox.path("kept/pi")).unwrap();
    let words = ["check", "old.json", "--anonymous", "-o", "kept/pi/default.json.gz"];
    sandbox.embermark(&words).expect_status(1);
    let gzip = fs::read(sandbox.path("kept/pi/default.json.gz")).unwrap();
    assert!(gzip.starts_with(&[0x1f, 0x8b]) && gzip.len() < plain.len() / 2, "{}", gzip.len());
    // Its first bytes identify the format.
    sandbox.write("renamed.json", &gzip);
    sandbox.write("cut.json.gz", &gzip[..gzip.len() / 2]);
    let mut commands: Vec<(&[&str], i32)> = vec![
        (&["report"], 0),
        (&["report", "--format", "csv"], 0),
        (&["report", "-o", "page.html"], 0),
        (&["check"], 1),
        (&["advise"], 0),
        (&["advise", "--devices"], 0),
        (&["fleet", "report", "-o", "fleet.csv"], 0),
        (&["compare", "renamed.json"], 0),
    ];
    if site::is_built() {
        commands.push((&["site", "-o", "site"], 0));
    }
    for (words, status) in commands {
        for file in ["kept/pi/default.json.gz", "renamed.json"] {
            sandbox.embermark(&[words, &[file]].concat()).expect_status(status);
        }
        sandbox
            .embermark(&[words, &["cut.json.gz"]].concat())
            .expect_status(2)
            .expect_stderr(&["cut.json.gz", "damaged gzip"]);
    }
    let words = ["gate", "kept/pi/default.json.gz", "renamed.json", "--force"];
    sandbox.embermark(&words).expect_status(0);
    // Below a folder, the file name decides which files are results. There is one.
    let found = sandbox.embermark(&["report", "kept", "--format", "csv", "-o", "runs.csv"]);
    found.expect_status(0);
    assert!(fs::read_to_string(sandbox.path("runs.csv")).unwrap().contains("default"));
}
