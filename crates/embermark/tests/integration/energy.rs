//! Energy and wear, as a user of the program sees them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::common::{ProgramOutput, Sandbox, is_here};
use embermark_model::result::{Energy, Period, ResultFile};
use embermark_skips::skipped;

const RAILS: &str = "\
#!/bin/sh
echo called >> CALLS
cat <<'END'
  VDD_CORE_A current(7)=1.50000000A
   3V3_SYS_A current(1)=0.50000000A
  VDD_CORE_V volt(15)=0.80000000V
   3V3_SYS_V volt(9)=3.30000000V
     EXT5V_V volt(24)=5.10000000V
END
";

fn executable(path: &Path, script: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs the program with the folder `bin` first in its search path.
fn with_programs(sandbox: &Sandbox, words: &[&str]) -> ProgramOutput {
    let others = std::env::var("PATH").unwrap();
    let path = format!("{}:{others}", sandbox.path("bin").display());
    ProgramOutput::from(sandbox.command(words).env("PATH", path).output().unwrap())
}

#[test]
fn a_raspberry_pi_has_joules_of_its_power_chip() {
    if !is_here("sqlite") {
        return;
    }
    let sandbox = Sandbox::new();
    let calls = sandbox.path("calls");
    executable(
        &sandbox.path("bin/vcgencmd"),
        &RAILS.replace("CALLS", &calls.display().to_string()),
    );
    let doctor = with_programs(&sandbox, &["doctor"]).stdout;
    assert!(
        doctor.contains("Raspberry Pi's power chip") && doctor.contains("5 V rails"),
        "{doctor}"
    );
    // The window of the machine workload has a fixed length, and its source is read once per
    // second.
    let words = [
        "run",
        "machine",
        "-e",
        "sqlite",
        "--trials",
        "1",
        "--phases",
        "write",
        "--rate",
        "100",
        "--set",
        "window=12s",
        "--set",
        "warm-up=1s",
        "--variant",
        "individual",
        "--no-counting",
        "--idle",
        "5s",
        "-o",
        "out",
        "--show",
        "tables",
    ];
    let ended = with_programs(&sandbox, &words).expect_status(0);
    let result = sandbox.result("out");
    let known = result.manifest.energy.as_ref().unwrap();
    let pmic = known.sources.iter().find(|source| source.id == "pmic").unwrap();
    assert!((pmic.idle_watts.unwrap() - 2.85).abs() < 1e-6, "{pmic:?}");
    assert_eq!(pmic.sampled_every_ns, Some(1_000_000_000));
    assert!(pmic.reading_ns.unwrap() > 100_000, "a program takes its time: {pmic:?}");
    let run = &result.cells[0].trials[0].phases[0].runs[0];
    let seconds = run.period.as_ref().unwrap().lasted_ns as f64 / 1e9;
    assert!((11.5..13.5).contains(&seconds), "the window alone, without its warm-up: {seconds}");
    let by_chip = |energy: &&Energy| energy.source == "pmic";
    let energy = run.energy.iter().chain(&run.energy_beside).find(by_chip).unwrap();
    assert!((energy.joules - 2.85 * seconds).abs() < 1e-3, "{energy:?} in {seconds}");
    let calls = fs::read_to_string(&calls).unwrap().lines().count();
    assert!((12..45).contains(&calls), "once a second: {calls}");
    for says in ["Energy and wear", "wear", "mean power", "2.85 W"] {
        assert!(ended.stdout.contains(says), "no {says} in {}", ended.stdout);
    }
}

/// A result with times, made from a real one: the first run lasted 30 s, at a known time.
fn result(sandbox: &Sandbox) -> ResultFile {
    let words = [
        "run",
        "sensors",
        "-e",
        "sqlite",
        "--scale",
        "100",
        "--phases",
        "load,read",
        "--variant",
        "single",
        "--runs",
        "2",
        "--trials",
        "1",
        "--no-counting",
        "-o",
        "out",
    ];
    sandbox.embermark(&words).expect_status(0);
    let mut result = sandbox.result("out");
    let phases = &mut result.cells[0].trials[0].phases;
    for (sandbox, run) in phases.iter_mut().flat_map(|phase| &mut phase.runs).enumerate() {
        assert!(run.period.is_some(), "every run has its time");
        let began = format!("2026-03-01T12:{:02}:00Z", sandbox);
        run.period = Some(Period { began, lasted_ns: 30_000_000_000 });
    }
    result
}

#[test]
fn the_record_of_a_meter_goes_into_the_result_its_tables_and_its_page() {
    if !is_here("sqlite") {
        return;
    }
    let sandbox = Sandbox::new();
    let mut made = result(&sandbox);
    made.manifest.energy.as_mut().unwrap().idle =
        Some(Period { began: "2026-03-01T11:59:00Z".to_owned(), lasted_ns: 20_000_000_000 });
    let write = |made: &ResultFile| {
        fs::write(sandbox.path("out/result.json"), serde_json::to_vec(made).unwrap())
    };
    write(&made).unwrap();
    // 2 W idle, 6 W from noon on; the meter is 5 s ahead. Nothing in the third minute.
    let noon = 1_772_366_400;
    let mut csv = "Time;Voltage [V];Current [A]\n".to_owned();
    for tenth in -900..3_000 {
        let (at, watts) = (tenth as f64 / 10.0, if tenth < 0 { 2.0 } else { 6.0 });
        if !(120.0..150.0).contains(&at) {
            csv += &format!(
                "{:.1};5,0;{}\n",
                f64::from(noon) + at + 5.0,
                (watts / 5.0).to_string().replace('.', ",")
            );
        }
    }
    sandbox.write("meter.csv", csv);
    let words = ["energy", "out/result.json", "--meter", "meter.csv", "--offset", "-5"];
    let ended = sandbox.embermark(&words).expect_status(0);
    assert!(ended.stdout.contains("3 with their energy"), "{}", ended.stdout);
    assert!(ended.stdout.contains("1 without: it was not read for"), "{}", ended.stdout);
    assert!(ended.stdout.contains("given with --offset"), "{}", ended.stdout);
    let metered = sandbox.result("out");
    let runs: Vec<_> =
        metered.cells[0].trials[0].phases.iter().flat_map(|phase| &phase.runs).collect();
    let energy = runs[1].energy.as_ref().unwrap();
    assert!((energy.joules - 180.0).abs() < 0.1, "6 W for 30 s: {energy:?}");
    assert!((energy.over_idle_joules.unwrap() - 120.0).abs() < 0.2, "2 W idle: {energy:?}");
    assert!(runs[2].energy.is_none() && runs[2].no_energy.is_some());
    let tables = fs::read_to_string(sandbox.path("out/tables.txt")).unwrap();
    assert!(tables.contains("external meter (meter.csv)") && tables.contains("120 J"), "{tables}");
    let page = fs::read_to_string(sandbox.path("out/report.html")).unwrap_or_default();
    if page.is_empty() {
        skipped("page", "this build has no page");
    } else {
        assert!(
            page.contains("external meter (meter.csv)") && page.contains("energy_over_idle_joules")
        );
    }
    let csv =
        sandbox.embermark(&["report", "out/result.json", "-f", "csv"]).expect_status(0).stdout;
    assert!(csv.lines().next().unwrap().contains("energy_over_idle_joules"), "{csv}");
    assert!(csv.contains(",meter,"), "{csv}");
    // Into another file, the result stays as it is.
    write(&made).unwrap();
    sandbox.embermark(&[&words[..], &["-o", "metered.json"]].concat()).expect_status(0);
    assert!(
        sandbox
            .result("out")
            .manifest
            .energy
            .unwrap()
            .sources
            .iter()
            .all(|source| source.id != "meter")
    );
}

#[test]
fn what_is_no_record_of_a_meter_is_refused_and_the_result_stays() {
    if !is_here("sqlite") {
        return;
    }
    let sandbox = Sandbox::new();
    let made = result(&sandbox);
    fs::write(sandbox.path("out/result.json"), serde_json::to_vec(&made).unwrap()).unwrap();
    let before = fs::read(sandbox.path("out/result.json")).unwrap();
    let refused = |meter: &str, more: &[&str], says: &[&str]| {
        sandbox.write("meter.csv", meter);
        let words = ["energy", "out/result.json", "--meter", "meter.csv"];
        sandbox.embermark(&[&words[..], more].concat()).expect_status(2).expect_stderr(says);
        assert_eq!(fs::read(sandbox.path("out/result.json")).unwrap(), before);
    };
    refused("when,what\n1,2\n", &[], &["meter.csv", "no column of time", "when, what"]);
    refused("time,watts\n1,2\nx,2\n", &[], &["line 3", "'x' is not a time"]);
    refused("time,watts\n1,-5\n2,-5\n", &[], &["line 2", "-5 W is negative"]);
    refused("s,watts\n0,2\n1,2\n", &[], &["--metered", "--offset"]);
    refused("time,watts\n1772000000,2\n1772000001,2\n", &[], &["is it the record of another run"]);
    refused("time,watts\n1,2\n2,2\n", &["--offset", "inf"], &["--offset"]);
    refused("time,watts\n1,2\n2,2\n", &["--idle-watts", "-1"], &["--idle-watts"]);
    sandbox
        .embermark(&["energy", "out/result.json", "--meter", "none.csv"])
        .expect_status(2)
        .expect_stderr(&["none.csv"]);
    sandbox
        .embermark(&["energy", "none.json", "--meter", "meter.csv"])
        .expect_status(2)
        .expect_stderr(&["none.json"]);
}
