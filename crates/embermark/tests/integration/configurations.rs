//! Configurations as a user defines them: separate columns next to their engine.

use std::fs;
use std::os::unix::fs::symlink;

use crate::common::{Sandbox, is_here};
use embermark_engines::{Origin, registry};
use embermark_model::Status;
use embermark_model::result::Cell;
use embermark_skips::{cases, sampled};

const RUN: [&str; 15] = [
    "run",
    "sensors",
    "--scale",
    "300",
    "--variant",
    "single",
    "--phases",
    "load,read",
    "--runs",
    "2",
    "--trials",
    "1",
    "--no-counting",
    "--engines",
    "sqlite,sqlite-defaults",
];
/// A run of one phase.
const LOAD: [&str; 13] = [
    "run",
    "sensors",
    "--scale",
    "300",
    "--variant",
    "single",
    "--phases",
    "load",
    "--runs",
    "1",
    "--trials",
    "1",
    "--no-counting",
];
const FAST: [&str; 2] = ["--configuration", "fast=sqlite:synchronous=OFF,cache_size=-4000"];

fn run<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&RUN[..], &FAST, more].concat()
}

#[test]
fn two_configurations_stand_beside_their_engine_in_every_report() {
    if !is_here("sqlite") {
        return;
    }
    let sandbox = Sandbox::new();
    let ran = sandbox.embermark(&run(&["-t", "power", "--out", "out"])).expect_status(0);
    let own = "synchronous=0 where power has 2 or 3";
    let ran = ran.expect_stderr(&[&format!("configuration fast: {own}"), "journal_mode=delete"]);
    assert!(ran.stdout.contains("sqlite has no engine to compare with"), "{}", ran.stdout);
    let tables = fs::read_to_string(sandbox.path("out/tables.txt")).unwrap();
    assert!(tables.contains("fast§ (own)"), "{tables}");

    let result = sandbox.result("out");
    let columns: Vec<&str> = result.cells.iter().map(|cell| &*cell.id.engine).collect();
    assert_eq!(columns, ["sqlite", "sqlite-defaults", "fast"]);
    assert!(result.cells.iter().all(|cell| cell.status == Status::Ok));
    let [sqlite, defaults, fast] = &result.cells[..] else { panic!("{columns:?}") };
    let setting =
        |cell: &Cell, name: &str| cell.trials[0].settings.get(name).cloned().unwrap_or_default();
    assert_eq!((&*setting(fast, "synchronous"), &*setting(sqlite, "synchronous")), ("0", "2"));
    assert_eq!(setting(fast, "cache_size"), "-4000");
    assert_eq!(setting(fast, "journal_mode"), "wal", "what it does not set is the tier's");
    assert_eq!(setting(defaults, "journal_mode"), "delete");
    assert_eq!(fast.own_durability.as_deref(), Some(own));
    assert_eq!(sqlite.own_durability, None);
    let facts = &result.manifest.engines["fast"];
    assert_eq!(facts.configuration.as_ref().unwrap().settings["synchronous"], "OFF");
    assert_eq!((&*facts.kind, &*facts.data_model), ("embedded", "SQL"));

    let note = "sqlite with cache_size=-4000, synchronous=OFF: durability as its author claims, so not \
                ranked: it has synchronous=0";
    let text = sandbox
        .embermark(&["report", "out/result.json", "--format", "table"])
        .expect_status(0)
        .stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(note) && text.contains(own), "{text}");
    assert!(text.contains("fast§ (own)"), "{text}");
    let csv = sandbox
        .embermark(&["report", "out/result.json", "--format", "csv"])
        .expect_status(0)
        .stdout;
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    let header = rows.headers().unwrap().clone();
    let column = |name| header.iter().position(|known| known == name).unwrap();
    let (engine, configuration) = (column("engine"), column("configuration"));
    let lines: Vec<_> = rows.records().map(Result::unwrap).collect();
    let of_fast = lines.iter().filter(|line| &line[engine] == "fast").collect::<Vec<_>>();
    assert!(!of_fast.is_empty());
    assert!(of_fast.iter().all(|line| {
        &line[configuration] == "sqlite with cache_size=-4000, synchronous=OFF"
            && &line[column("own_durability")] == own
    }));
    assert!(lines.iter().any(|line| line[configuration].is_empty()), "that of sqlite itself");
    let advice = sandbox
        .embermark(&["advise", "out/result.json", "--tier", "power", "--show", "tables"])
        .expect_status(0)
        .stdout;
    let advice = advice.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        advice.contains("fast: durability as its author claims: it has synchronous=0"),
        "{advice}"
    );
}

#[test]
fn a_run_that_was_cut_off_is_gone_on_with_by_its_own_configurations() {
    if !is_here("sqlite") {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.embermark(&run(&["-t", "process", "--out", "out"])).expect_status(0);
    let journal = sandbox.path("out/journal.jsonl");
    let whole = fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let first = lines.iter().position(|line| line.starts_with("{\"cell\":")).unwrap();
    fs::write(&journal, lines[..=first].join("\n") + "\n").unwrap();
    fs::remove_file(sandbox.path("out/result.json")).unwrap();
    // Another configuration of that name is another plan.
    let other = [&RUN[..], &["--configuration", "fast=sqlite:synchronous=FULL", "--resume", "out"]];
    sandbox
        .embermark(&other.concat())
        .expect_status(2)
        .expect_stderr(&["it keeps its plan", "configurations"]);
    sandbox.embermark(&["run", "--resume", "out"]).expect_status(0);
    let result = sandbox.result("out");
    assert_eq!(result.cells.len(), 3);
    assert!(result.cells.iter().all(|cell| cell.status == Status::Ok));
    let fast = result.cells.iter().find(|cell| cell.id.engine == "fast").unwrap();
    assert_eq!(fast.trials[0].settings["cache_size"], "-4000");
    // A synced rollback journal also keeps what the tier promises.
    assert!(result.cells.iter().all(|cell| cell.own_durability.is_none()));
    let text = sandbox
        .embermark(&["report", "out/result.json", "--format", "table"])
        .expect_status(0)
        .stdout;
    assert!(text.contains("sqlite-defaults§") && !text.contains("(own)"), "{text}");

    // A result whose configuration has that name and other settings cannot be compared.
    let other = [&RUN[..], &["--configuration", "fast=sqlite:synchronous=FULL", "--out", "other"]];
    sandbox.embermark(&other.concat()).expect_status(0);
    let both = ["compare", "out/result.json", "other/result.json"];
    let compared = sandbox.embermark(&both);
    let said = format!("{}{}", compared.stdout, compared.stderr);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("configuration fast"), "{said}");
}

#[test]
fn a_plan_file_has_them_as_tables() {
    if !is_here("sqlite") {
        return;
    }
    let sandbox = Sandbox::new();
    let plan = "workloads = [\"sensors\"]\nscale = [\"100\"]\nengines = [\"rollback\"]\nruns = 1\n\
                trials = 1\nphases = [\"load\"]\nvariant = [\"single\"]\n\n\
                [configuration.rollback]\nengine = \"sqlite\"\n\
                settings = { journal_mode = \"DELETE\", cache_size = -500 }\n";
    sandbox.write("plan.toml", plan);
    sandbox
        .embermark(&["run", "--plan", "plan.toml", "--no-counting", "--out", "out"])
        .expect_status(0);
    let result = sandbox.result("out");
    let [cell] = &result.cells[..] else { panic!("one column") };
    assert_eq!(cell.id.engine, "rollback");
    assert_eq!(cell.trials[0].settings["journal_mode"], "delete");
    assert_eq!(cell.trials[0].settings["cache_size"], "-500");
}

#[test]
fn what_an_engine_does_not_know_or_take_is_refused_before_anything_runs() {
    if !is_here("sqlite") {
        return;
    }
    let refused = |configuration: &str, says: &[&str]| {
        let sandbox = Sandbox::new();
        for command in ["run", "durability"] {
            let words = [command, "--configuration", configuration, "--out", "out"];
            sandbox.embermark(&words).expect_status(2).expect_stderr(says);
            assert!(!sandbox.path("out").exists(), "{command}");
        }
    };
    refused("fast=sqlit:synchronous=OFF", &["'fast'", "did you mean 'sqlite'"]);
    refused("fast=sqlite:synchronus=OFF", &["'fast'", "did you mean 'synchronous'"]);
    refused("fast=sqlite:synchronous=OF", &["synchronous", "did you mean 'OFF'"]);
    refused("fast=sqlite:page_size=1000", &["'fast'", "it did not accept page_size=1000"]);
    refused("lmdb=sqlite:synchronous=OFF", &["the name of an engine"]);
    refused("fast", &["NAME=ENGINE:setting=value"]);
}

#[test]
fn the_durability_of_a_configuration_is_put_to_the_test_in_the_tier_of_its_author() {
    if !is_here("sqlite") {
        return;
    }
    let sandbox = Sandbox::new();
    let root = nix::unistd::geteuid().is_root();
    let states = if root { cases(15, 30) } else { 0 };
    let (states, short_works) = (states.to_string(), cases(1, 14).to_string());
    let words = ["durability", "-t", "power", "--kills", "2", "--states", &states];
    let words = [&words[..], &["--short-works", &short_works, "--out", "out"], &FAST].concat();
    let ended = sandbox.embermark(&words);
    let result: serde_json::Value =
        serde_json::from_slice(&fs::read(sandbox.path("out/result.json")).unwrap()).unwrap();
    assert_eq!(result["configurations"]["fast"]["settings"]["synchronous"], "OFF");
    let tested = result["tested"].as_array().unwrap();
    assert!(tested.iter().all(|one| one["engine"] == "fast"), "{tested:?}");
    assert_eq!(tested[0]["configuration"]["engine"], "sqlite");
    assert_eq!(tested[0]["verdicts"]["holds"], 2, "a kill it survives");
    assert!(ended.stdout.contains("sqlite with cache_size=-4000, synchronous=OFF"));
    if !root || tested.len() < 2 {
        embermark_skips::skipped("root", "power is cut on a recorded device, which is for root");
        return;
    }
    // Its author claims power, but commits are lost without a sync.
    let lost = tested[1]["verdicts"].as_object().unwrap();
    let held = lost.get("holds").and_then(serde_json::Value::as_u64).unwrap_or(0);
    assert!(held < tested[1]["tried"].as_u64().unwrap(), "{lost:?}");
    assert_eq!(ended.expect_status(1).status, 1, "a promise was broken");

    // A report shows the findings for these settings, and not for other settings of that name.
    let load = [&LOAD[..], &["--engines", "sqlite", "-t", "power"]].concat();
    sandbox.embermark(&[&load[..], &FAST, &["--out", "measured"]].concat()).expect_status(0);
    let renamed = ["--configuration", "f=sqlite:synchronous=OFF,cache_size=-4000"];
    let other = ["--configuration", "fast=sqlite:cache_size=-4000", "--out", "other"];
    sandbox.embermark(&[&load[..], &renamed, &other].concat()).expect_status(0);
    let report = |of: &str| {
        let words = ["report", of, "--durability", "out/result.json", "--format", "table"];
        sandbox.embermark(&words).expect_status(0).stdout
    };
    let shown = report("measured/result.json");
    assert!(shown.contains("fast†§ (own)") && !shown.contains("sqlite†"), "{shown}");
    let shown = report("other/result.json");
    assert!(shown.contains("f†§ (own)") && shown.contains("fast§"), "{shown}");
}

#[test]
fn the_version_of_the_system_is_a_column_beside_the_release_that_was_fetched() {
    let sandbox = Sandbox::new();
    let engines = ["rocksdb", "wiredtiger", "postgres", "mariadb"];
    let here = engines.into_iter().filter(|engine| is_here(engine));
    let (installed, lacking): (Vec<&str>, Vec<&str>) =
        here.partition(|engine| registry::find(engine).unwrap().system().unwrap().is_ok());
    for engine in [sampled(installed, 1), lacking].concat() {
        let (column, found) = (format!("{engine}-system"), registry::find(engine).unwrap());
        let both = format!("{engine},{column}");
        let ran = sandbox.embermark(&[&LOAD[..], &["--engines", &both, "--out", engine]].concat());
        let folder = match found.system().unwrap() {
            Ok(folder) => folder.display().to_string(),
            Err(none) => {
                ran.expect_status(2)
                    .expect_stderr(&[&format!("'{column}': {none}"), "apt-get install"]);
                continue;
            }
        };
        ran.expect_status(0);
        let result = sandbox.result(engine);
        let [own, system] = &result.cells[..] else { panic!("two columns") };
        assert_eq!((own.status, system.status), (Status::Ok, Status::Ok), "{engine}");
        let of = |cell: &Cell| cell.trials[0].settings.get("library").cloned();
        assert_eq!((of(own), of(system)), (None, Some(folder)), "{engine}");
        if matches!(found.origin(), Some(Origin::Fetched(_))) {
            assert_ne!(own.trials[0].version, system.trials[0].version, "{engine}");
        }
    }
    let words = ["run", "sensors", "--engines", "memory-system", "--out", "out"];
    sandbox.embermark(&words).expect_status(2).expect_stderr(&["memory has no system version"]);
}

#[test]
fn another_library_is_a_column_of_every_report_and_compares() {
    let sandbox = Sandbox::new();
    if !is_here("rocksdb") {
        return;
    }
    let origin = registry::find("rocksdb").unwrap().origin().unwrap();
    for name in ["old", "new"] {
        fs::create_dir(sandbox.path(name)).unwrap();
        symlink(origin.path().unwrap(), sandbox.path(name).join("librocksdb.so")).unwrap();
    }
    let run = |library: &str, out: &str| {
        let own = format!("own=rocksdb:library={library}");
        let words = [&RUN[..13], &["--engines", "rocksdb", "--configuration", &own, "--out", out]];
        sandbox.embermark(&words.concat())
    };
    let shown = run("old", "first").expect_status(0).stdout;
    assert!(shown.contains("own") && !shown.contains("own§"), "{shown}");
    run("new", "second").expect_status(0);
    let result = sandbox.result("first");
    let [rocksdb, own] = &result.cells[..] else { panic!("two columns") };
    assert_eq!((own.status, &own.trials[0].version), (Status::Ok, &rocksdb.trials[0].version));
    let library = sandbox.path("old").display().to_string();
    assert_eq!(own.trials[0].settings.get("library"), Some(&library));
    assert_eq!(rocksdb.trials[0].settings.get("library"), None);
    let plain = |text: String| text.split_whitespace().collect::<Vec<_>>().join("");
    let report = |format: &str| {
        let words = ["report", "first/result.json", "--format", format];
        plain(sandbox.embermark(&words).expect_status(0).stdout)
    };
    for format in ["table", "markdown", "csv"] {
        let text = report(format);
        assert!(text.contains(&plain(format!("rocksdb with library={library}"))), "{text}");
    }
    let advice = sandbox
        .embermark(&["advise", "first/result.json", "--show", "tables"])
        .expect_status(0)
        .stdout;
    assert!(!advice.contains("as its author claims"), "{advice}");

    let both = ["compare", "first/result.json", "second/result.json"];
    let compared = sandbox.embermark(&both).stdout;
    assert!(compared.contains("library of own:"), "{compared}");

    let empty = sandbox.path("none");
    fs::create_dir(&empty).unwrap();
    for command in ["run", "durability"] {
        let words = [command, "--configuration", "own=rocksdb:library=none", "--out", "out"];
        let says = ["configuration 'own' with library=", "no librocksdb.so in"];
        sandbox.embermark(&words).expect_status(2).expect_stderr(&says);
        let linked = [command, "--configuration", "own=sqlite:library=none", "--out", "out"];
        sandbox.embermark(&linked).expect_status(2).expect_stderr(&["sqlite takes no library"]);
    }
    assert!(!sandbox.path("out").exists());
}
