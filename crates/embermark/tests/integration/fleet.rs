//! `embermark fleet`: real SSH servers as devices, reached by a real Ansible.

pub mod devices;
pub mod folder;

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::common::{ProgramOutput, Sandbox, read_result, wait_for};
use devices::{Device, write_program};
use folder::fleet;
use serde_json::Value;

const PLAN: &str = "workloads = [\"sensors\"]\nvariant = [\"single\"]\nengines = [\"sqlite\", \"redb\"]\n\
                    scale = [\"300\"]\ntrials = 3\nruns = 2\nno-such-file = true\n";

const RUN: [&str; 6] = ["fleet", "run", "--look-every", "1", "-V", "embermark_needs_calm=false"];

/// Returns the folder of a device's run, of the only plan.
fn run_of(device: &Device) -> Option<std::path::PathBuf> {
    let runs = fs::read_dir(device.home().join("runs")).ok()?;
    runs.flatten().next().map(|entry| entry.path())
}

fn results(sandbox: &Sandbox, device: &str) -> std::path::PathBuf {
    let of = fs::read_dir(sandbox.path("fleet/results").join(device)).unwrap();
    of.flatten().next().unwrap().path()
}

/// Returns the trials in the journal of a run.
fn trials(run: &Path) -> usize {
    let journal = fs::read_to_string(run.join("out/journal.jsonl")).unwrap_or_default();
    journal.lines().filter(|line| line.starts_with("{\"cell\":")).count()
}

#[test]
fn a_device_that_fails_is_a_line_and_a_second_run_does_only_what_is_missing() {
    let sandbox = Sandbox::new();
    let names = ["roof", "kitchen", "attic", "museum", "cellar"];
    let Some(mut devices) = Device::all(&sandbox, &names) else { return };
    let fake = sandbox.path("fake");
    write_program(&fake, "uname", "vax");
    let full = "embermark_space_mb=1000000000";
    let lines: Vec<String> = devices
        .iter()
        .map(|device| device.line(if device.name == "attic" { full } else { "" }))
        .collect();
    fleet(&sandbox, &PLAN.replace("no-such-file = true\n", ""), &lines);
    for device in &mut devices[..4] {
        let path = (device.name == "museum").then_some(&*fake);
        device.on(path);
    }

    // The kitchen loses its power during the run, and the cellar is off.
    let running =
        sandbox.command(&RUN).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let kitchen = &mut devices[1];
    wait_for("the kitchen's first trial", || (trials(&run_of(kitchen)?) > 0).then_some(()));
    kitchen.off();
    let ended = ProgramOutput::from(running.wait_with_output().unwrap()).expect_status(1);
    let outcome = |said: &str, name: &str| {
        let line = said.lines().rfind(|line| line.starts_with(&format!("{name} ")));
        line.unwrap_or_else(|| panic!("no line of {name}: {said}")).to_owned()
    };
    let says = |name: &str| outcome(&ended.stderr, name);
    assert!(says("roof").ends_with("  done"), "{}", ended.stderr);
    assert!(
        says("kitchen").contains("no longer reached after its run began: "),
        "{}",
        ended.stderr
    );
    assert!(says("attic").contains("too little space: "), "{}", ended.stderr);
    assert!(says("museum").contains("no package for its architecture, vax"), "{}", ended.stderr);
    assert!(says("cellar").contains("not reached: "), "{}", ended.stderr);
    assert!(ended.stderr.contains("1 of 5 devices have a result"), "{}", ended.stderr);
    let result = results(&sandbox, "roof");
    assert!(fs::read_to_string(result.join("log")).unwrap().contains("ok"));
    let before = fs::metadata(result.join("result.json")).unwrap().modified().unwrap();
    let had = trials(&run_of(&devices[1]).unwrap());

    // Its power is back.
    devices[1].on(None);
    let ended = sandbox.embermark(&RUN).expect_status(1);
    assert!(ended.stderr.contains("kitchen: resumed"), "{}", ended.stderr);
    assert!(outcome(&ended.stderr, "kitchen").ends_with("  done"), "{}", ended.stderr);
    assert!(outcome(&ended.stderr, "roof").ends_with("  done before"), "{}", ended.stderr);
    assert!(ended.stderr.contains("2 of 5 devices have a result"), "{}", ended.stderr);
    assert_eq!(fs::metadata(result.join("result.json")).unwrap().modified().unwrap(), before);
    let kitchen = read_result(&results(&sandbox, "kitchen"));
    assert!(kitchen.cells.iter().all(|cell| cell.status == embermark_model::Status::Ok));
    assert!(had > 0 && trials(&run_of(&devices[1]).unwrap()) > had, "nothing was repeated");

    // The report names the missing devices.
    let ended = sandbox.embermark(&["fleet", "report"]);
    if embermark_report::html::is_built() {
        ended.expect_status(0).expect_stderr(&["2 of 5 devices in fleet/fleet.html"]);
        let page = fs::read_to_string(sandbox.path("fleet/fleet.html")).unwrap();
        assert!(page.contains("no package for its architecture, vax"));
    } else {
        embermark_skips::skipped("page", "this build has none; make build");
    }
    sandbox.embermark(&["fleet", "report", "-o", "runs.csv"]).expect_status(0);
    let runs = fs::read_to_string(sandbox.path("runs.csv")).unwrap();
    for device in ["kitchen", "roof"] {
        assert!(runs.lines().any(|line| line.contains(&format!(",{device},"))), "{device}");
    }
    let last: Value =
        serde_json::from_slice(&fs::read(sandbox.path("fleet/results/last.json")).unwrap())
            .unwrap();
    assert_eq!(last["devices"].as_array().unwrap().len(), 5);
}

#[test]
fn what_makes_no_sense_is_said_before_any_device_is_asked() {
    let sandbox = Sandbox::new();
    sandbox
        .embermark(&["fleet", "run", "nowhere"])
        .expect_status(2)
        .expect_stderr(&["nowhere/plan/plan.toml"]);
    sandbox.embermark(&["fleet", "report", "nowhere"]).expect_status(2).expect_stderr(&["nowhere"]);
    sandbox
        .embermark(&["fleet", "init", "empty"])
        .expect_status(0)
        .expect_stderr(&["into empty/packages"]);
    sandbox.embermark(&["fleet", "init", "empty"]).expect_status(2).expect_stderr(&["not empty"]);
    fs::create_dir(sandbox.path("none")).unwrap();
    let from = ["fleet", "init", "other", "--packages", "none"];
    sandbox.embermark(&from).expect_status(2).expect_stderr(&["none has no package"]);
    assert!(!sandbox.path("other").exists());
    sandbox
        .embermark(&["fleet", "report", "empty"])
        .expect_status(2)
        .expect_stderr(&["no device has a result yet"]);
    sandbox.embermark(&["fleet", "report", "empty", "-o", "x.pdf"]).expect_status(2);

    fs::write(sandbox.path("empty/plan/plan.toml"), PLAN).unwrap();
    sandbox.embermark(&["fleet", "run", "empty"]).expect_status(2).expect_stderr(&["no-such-file"]);
    fs::write(sandbox.path("empty/plan/plan.toml"), "engines = [\"sqlit\"]\n").unwrap();
    sandbox.embermark(&["fleet", "run", "empty"]).expect_status(2).expect_stderr(&["sqlit"]);
    fs::write(sandbox.path("empty/plan/plan.toml"), "engines = [\"sqlite\"]\n").unwrap();
    let without = sandbox.command(&["fleet", "run", "empty"]).env("PATH", "/nowhere").output();
    ProgramOutput::from(without.unwrap())
        .expect_status(2)
        .expect_stderr(&["pipx install ansible-core"]);
}
