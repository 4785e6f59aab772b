//! `embermark fleet`: real SSH servers as devices, reached by a real Ansible.

pub mod devices;
pub mod folder;

use std::path::Path;
use std::process::Stdio;
use std::{env, fs};

use crate::common::{ProgramOutput, Sandbox, read_result, wait_for};
use devices::{Device, write_program};
use folder::{Program, add_newer_package, fleet};
use serde_json::Value;

const PLAN: &str = "workloads = [\"sensors\"]\nvariant = [\"single\"]\nengines = [\"sqlite\", \"redb\"]\n\
                    scale = [\"300\"]\ntrials = 3\nruns = 2\nno-such-file = true\n";

/// A plan of one short trial.
const EDITED: &str = "# edited\nworkloads = [\"sensors\"]\nvariant = [\"single\"]\n\
                      engines = [\"sqlite\"]\nscale = [\"300\"]\nphases = [\"load\"]\n\
                      trials = 1\nruns = 1\n";

/// Each look is a play of Ansible.
const RUN: [&str; 6] = ["fleet", "run", "--look-every", "3", "-V", "embermark_needs_calm=false"];

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
    write_program(&fake, "uname", "echo vax");
    // As a login prints where the user's shell has something to say.
    write_program(&fake, "mkdir", "echo 'You have mail.' >&2; exec /bin/mkdir \"$@\"");
    let full = "embermark_space_mb=1000000000";
    let lines: Vec<String> = devices
        .iter()
        .map(|device| device.line(if device.name == "attic" { full } else { "" }))
        .collect();
    let phases = "phases = [\"load\", \"read\", \"update\"]\n";
    // Enough trials that some are left when the first has ended.
    let plan = PLAN.replace("no-such-file = true\n", phases).replace("trials = 3", "trials = 2");
    fleet(&sandbox, &plan, &lines, Program::Link);
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
    assert!(says("museum").contains("no package for its architecture vax"), "{}", ended.stderr);
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
        assert!(page.contains("no package for its architecture vax"));
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
fn an_active_run_keeps_its_program_and_an_edited_plan_replaces_the_old_one() {
    let sandbox = Sandbox::new();
    let Some(mut devices) = Device::all(&sandbox, &["roof"]) else { return };
    let plan = PLAN.replace("no-such-file = true\n", "");
    fleet(&sandbox, &plan, &[devices[0].line("")], Program::Copy);
    let roof = &mut devices[0];
    roof.on(None);
    let mut first =
        sandbox.command(&RUN).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("its first trial", || (trials(&run_of(roof)?) > 0).then_some(()));
    first.kill().unwrap();
    first.wait().unwrap();

    let newer = roof.home().join("package/newer");
    add_newer_package(&sandbox);
    sandbox.embermark(&RUN).expect_status(0);
    assert!(!newer.exists(), "its workers start from the file of the program");

    // No run is active.
    fs::write(sandbox.path("fleet/plan/plan.toml"), EDITED).unwrap();
    sandbox.embermark(&RUN).expect_status(0);
    assert!(newer.exists());
    let names = |folder: &str| {
        let entries = fs::read_dir(roof.home().join(folder)).unwrap().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let plans = names("plans");
    assert_eq!(plans.len(), 1, "{plans:?}");
    assert!(fs::read_to_string(plans[0].join("plan.toml")).unwrap().starts_with("# edited"));
    let runs = names("runs");
    assert_eq!(runs.len(), 2, "{runs:?}");
    assert!(runs.iter().all(|run| run.join("out/result.json").is_file()));
}

/// Imitates `ansible-playbook` and a device whose run ends with a wrong cell.
const WRONG: &str = r#"plan=$(printf '%s\n' "$@" | sed -n 's/.*"embermark_plan_id":"\([0-9a-f]*\)".*/\1/p')
mkdir -p "results/roof/$plan"
id='{"workload":"sensors","scale":"300","durability":"process","variant":"single","engine":"redb"}'
echo "{\"cells\":[{\"id\":$id,\"status\":\"wrong\"}]}" >"results/roof/$plan/result.json"
says() { echo "{\"device\":\"roof\",\"task\":\"$1\",\"status\":\"ok\",\"message\":\"\",\"out\":\"$2\"}"; }
says begin begun
says watch 'ended 1'
says result"#;

#[test]
fn a_cell_that_was_wrong_is_still_wrong_when_nothing_is_left_to_run() {
    let sandbox = Sandbox::new();
    sandbox.embermark(&["fleet", "init", "fleet"]).expect_status(0);
    fs::write(sandbox.path("fleet/plan/plan.toml"), PLAN.replace("no-such-file = true\n", ""))
        .unwrap();
    sandbox.write("fleet/packages/embermark-0.0.0-linux-vax.tar.gz", "");
    let fake = sandbox.path("fake");
    write_program(&fake, "ansible", "printf '  hosts (1):\\n    roof\\n'");
    let path = format!("{}:{}", fake.display(), env::var("PATH").unwrap_or_default());
    let run = || {
        let ended = sandbox.command(&RUN).env("PATH", &path).output().unwrap();
        ProgramOutput::from(ended).expect_status(1)
    };
    write_program(&fake, "ansible-playbook", WRONG);
    run().expect_stderr(&["roof  done; a cell was wrong", "1 of 1 devices have a result"]);
    // From here on it would fail if any device were asked.
    write_program(&fake, "ansible-playbook", "exit 4");
    let before = ["roof  done before; a cell was wrong", "1 of 1 devices have a result"];
    run().expect_stderr(&before);
    run().expect_stderr(&before);
    // The first run was interrupted after it had fetched the result.
    fs::remove_file(sandbox.path("fleet/results/last.json")).unwrap();
    run().expect_stderr(&before);
}

#[test]
fn what_makes_no_sense_is_said_before_any_device_is_asked() {
    let sandbox = Sandbox::new();
    let nowhere = sandbox.embermark(&["fleet", "run", "nowhere"]).expect_status(2);
    nowhere.expect_stderr(&["nowhere", "plan/plan.toml", "embermark fleet init"]);
    sandbox.embermark(&["fleet", "report", "nowhere"]).expect_status(2).expect_stderr(&["nowhere"]);
    sandbox
        .embermark(&["fleet", "init", "empty"])
        .expect_status(0)
        .expect_stderr(&["into empty/packages"]);
    sandbox.embermark(&["fleet", "init", "empty"]).expect_status(2).expect_stderr(&["not empty"]);
    fs::create_dir(sandbox.path("none")).unwrap();
    for folder in ["none", "nowhere"] {
        let from = ["fleet", "init", "other", "--packages", folder];
        let says = format!("{folder} has no package");
        sandbox.embermark(&from).expect_status(2).expect_stderr(&[says.as_str()]);
    }
    assert!(!sandbox.path("other").exists());
    let below_a_file = ["fleet", "init", "empty/inventory.ini/fleet"];
    let refused = sandbox.embermark(&below_a_file).expect_status(2);
    refused.expect_stderr(&["cannot create empty/inventory.ini/fleet", "name another folder"]);
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
