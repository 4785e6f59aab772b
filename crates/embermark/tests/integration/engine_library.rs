//! Engines in shared libraries of the user.

#[path = "../../../../examples/compiled.rs"]
mod compiled;

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::run_processes::assert_nothing_left;
use crate::common::{ProgramOutput, Sandbox};
use crate::hostile::assert_harmless;
use embermark_model::result::ResultFile;
use embermark_model::{Durability, Status};
use embermark_skips::{sampled, skipped};
use embermark_workloads::WORKLOADS;

const RUN: [&str; 12] = [
    "run",
    "sensors",
    "--scale",
    "300",
    "--variant",
    "single",
    "--runs",
    "1",
    "--trials",
    "1",
    "--no-counting",
    "--phases=load,read,update,delete",
];

/// Compiles the hostile source with this fault.
fn hostile(wrong: &str) -> Option<PathBuf> {
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/integration/engine_library/hostile.c");
    // Each fault leaves some functions unused.
    let with = ["-lpthread", "-Wno-unused-function", &format!("-D{wrong}")];
    compiled::compiled(&format!("hostile-{wrong}"), &source, &with)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn what_a_library_prints_forks_and_calls_itself_while_it_is_described_is_contained() {
    let Some(library) = hostile("PRINTS_AND_FORKS") else { return };
    let sandbox = Sandbox::new();
    let with = ["-e", "memory,hostile", "--engine-library", text(&library), "--out", "out"];
    for words in [&[&RUN[..], &with].concat()[..], &["engines", "--engine-library", text(&library)]]
    {
        let ended = sandbox.embermark(words).expect_status(0);
        assert_harmless(&ended, words[0]);
        let said = ended.stdout + &ended.stderr;
        assert!(!said.contains("printed by the library"), "{said}");
        // A process that it forked has its output open, and must end with it.
        assert_nothing_left(&sandbox);
    }
}

#[test]
fn a_library_that_is_described_reaches_nobody_over_the_network() {
    // Whether the kernel permits a namespace, also to an ordinary user.
    let probe = Command::new("unshare").args(["--net", "--map-root-user", "true"]).output();
    if !probe.as_ref().is_ok_and(|ended| ended.status.success()) {
        return skipped("network namespace", format!("unshare --net: {probe:?}"));
    }
    let Some(library) = hostile("CALLS_HOME") else { return };
    let home = TcpListener::bind("127.0.0.1:0").unwrap();
    home.set_nonblocking(true).unwrap();
    let (sandbox, port) = (Sandbox::new(), home.local_addr().unwrap().port().to_string());
    let calls = || home.accept().is_ok();
    // Loaded into a program without containment, the library does make the call.
    let loaded = "import ctypes, sys; ctypes.CDLL(sys.argv[1])";
    let called = Command::new("python3")
        .args(["-c", loaded])
        .arg(&library)
        .env("HOSTILE_PORT", &port)
        .output();
    assert!(called.is_err() || calls(), "{called:?}");
    let mut command = sandbox.command(&["engines", "--engine-library", text(&library)]);
    let ended =
        ProgramOutput::from(command.env("HOSTILE_PORT", &port).output().unwrap()).expect_status(0);
    line_of(&ended.stdout, "hostile");
    assert!(!calls(), "{}", ended.stdout);
}

/// Returns the row of an engine in a table.
#[track_caller]
fn line_of<'a>(table: &'a str, engine: &str) -> &'a str {
    let of = |line: &&str| line.trim_start().starts_with(&format!("{engine}  "));
    table.lines().find(of).unwrap_or_else(|| panic!("no {engine} in:\n{table}"))
}

/// Returns the tiers in which an engine is verified: one of them, or all.
fn some_tiers() -> Vec<&'static str> {
    sampled(Durability::ALL.map(|tier| tier.name()), 1)
}

/// Verifies the engine of a library in these tiers, in two of the workloads or all. The words begin
/// the command. Returns the table.
fn verified(words: &[&str], engine: &str, library: &Path, tiers: &[&str]) -> String {
    let workloads = sampled(WORKLOADS.iter().map(|workload| workload.info().id), 2);
    let (tier, workload) = (tiers.join(","), workloads.join(","));
    let some = ["-t", &tier, "-w", &workload, "--engine-library", text(library), "--dir", "."];
    let ended = Sandbox::new().embermark(&[words, &some].concat()).expect_status(0);
    let line = line_of(&ended.stdout, engine);
    assert_eq!(line.matches("ok (").count(), tiers.len(), "{}", ended.stdout);
    ended.stdout
}

#[test]
fn an_engine_in_c_is_verified_in_every_workload_variant_and_tier() {
    let Some(library) = compiled::logmap() else { return };
    let shown = verified(&["verify"], "logmap", &library, &some_tiers());
    assert!(!shown.contains("sqlite"), "{shown}");
}

#[test]
fn an_engine_that_answers_sql_is_verified_in_every_workload_variant_and_tier() {
    let Some(library) = compiled::sqlite() else { return };
    verified(&["verify"], "sqlite-library", &library, &some_tiers());
}

#[test]
fn an_engine_in_rust_is_verified_in_every_workload_and_variant() {
    // Its tier `power` has the settings of `process`.
    let tiers = sampled(["none", "process"], 1);
    verified(&["verify", "redb-library"], "redb-library", &compiled::redb(), &tiers);
}

/// Verifies the library that `make ENGINE` compiles, if it exists.
fn is_verified_where_it_was_compiled(engine: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let library = root.join(format!(".deps/{engine}/libembermark_{engine}.so"));
    if !library.exists() {
        let why = format!("only on request: `make {engine}` compiles it");
        embermark_skips::skipped(engine, why);
        return;
    }
    let sandbox = Sandbox::new();
    let words = ["verify", engine, "--engine-library", text(&library), "--dir", "."];
    let ended = sandbox.embermark(&words).expect_status(0);
    let line = line_of(&ended.stdout, engine);
    // `none` has the settings of `process`.
    assert_eq!(line.matches("ok (").count(), 2, "{}", ended.stdout);
}

#[test]
fn turso_is_verified_where_it_was_compiled() {
    is_verified_where_it_was_compiled("turso");
}

#[test]
fn datafusion_is_verified_where_it_was_compiled() {
    is_verified_where_it_was_compiled("datafusion");
}

fn of<'a>(result: &'a ResultFile, engine: &str) -> &'a embermark_model::result::Cell {
    result.cells.iter().find(|cell| cell.id.engine == engine).unwrap()
}

#[test]
fn it_runs_beside_the_others_and_the_result_says_which_library_it_was() {
    let Some(library) = compiled::logmap() else { return };
    let sandbox = Sandbox::new();
    fs::copy(&library, sandbox.path("mine.so")).unwrap();
    let with =
        ["-e", "logmap,memory", "-t", "power", "--engine-library", "mine.so", "--out", "out"];
    let ended = sandbox.embermark(&[&RUN[..], &with].concat()).expect_status(0);
    assert!(ended.stdout.contains("logmap"), "{}", ended.stdout);
    let result = sandbox.result("out");
    assert_eq!(of(&result, "logmap").status, Status::Ok);
    let trial = &of(&result, "logmap").trials[0];
    assert_eq!(trial.version.as_deref(), Some("1.0"));
    assert_eq!(trial.settings["sync"], "fdatasync");

    let said = std::process::Command::new("sha256sum").arg(&library).output().unwrap().stdout;
    let digest = String::from_utf8(said).unwrap().split(' ').next().unwrap().to_owned();
    let facts = &result.manifest.engines["logmap"];
    assert_eq!((&*facts.name, &*facts.kind), ("logmap, an example in C", "embedded"));
    let file = facts.engine_library.as_ref().unwrap();
    assert_eq!((&*file.file, &*file.version, &file.sha256), ("mine.so", "1.0", &digest));
    assert_eq!(result.manifest.engines["memory"].engine_library, None);
    let planned = &result.plan.engine_libraries["logmap"];
    let place_of = sandbox.path("mine.so").canonicalize().unwrap();
    assert_eq!((planned.path.canonicalize().unwrap(), &planned.sha256), (place_of, &digest));

    // The result can be read without the library.
    for format in ["table", "markdown", "csv"] {
        let words = ["report", "out/result.json", "--format", format];
        let shown = sandbox.embermark(&words).expect_status(0).stdout;
        assert!(shown.contains("logmap"), "{format}: {shown}");
    }
    let shown =
        sandbox.embermark(&["report", "out/result.json", "--format", "table"]).expect_status(0);
    let shown = shown.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("mine.so") && shown.contains(&digest[..12]), "{shown}");
}

#[test]
fn two_versions_of_an_engine_are_two_columns_and_one_is_judged_by_the_other() {
    let Some(library) = compiled::logmap() else { return };
    let sandbox = Sandbox::new();
    fs::copy(&library, sandbox.path("old.so")).unwrap();
    let mine = format!("mine={}", text(&library));
    let with = ["--engine-library", "base=old.so", "--engine-library", &mine, "-e", "base,mine"];
    let words = [&RUN[..8], &["--trials", "3", "--phases", "load,read", "--out", "out"], &with];
    sandbox.embermark(&words.concat()).expect_status(0);
    let result = sandbox.result("out");
    for (engine, file) in [("base", "old.so"), ("mine", "logmap")] {
        assert_eq!((of(&result, engine).status, of(&result, engine).trials.len()), (Status::Ok, 3));
        let facts = &result.manifest.engines[engine];
        assert_eq!(&*facts.name, "logmap, an example in C");
        assert!(facts.engine_library.as_ref().unwrap().file.contains(file), "{facts:?}");
    }
    // An interrupted run finds them by these ids, and so does the worker of a kill.
    fs::remove_file(sandbox.path("out/result.json")).unwrap();
    sandbox.embermark(&["run", "--resume", "out"]).expect_status(0);
    assert_eq!(of(&sandbox.result("out"), "mine").trials.len(), 3);
    let kills = ["durability", "base", "-t", "process", "--kills", "1", "--states", "0"];
    sandbox.embermark(&[&kills[..], &with[..2]].concat()).expect_status(0);
    // The figures depend on the machine.
    let judged = sandbox.embermark(&["gate", "out/result.json", "--old", "base", "--new", "mine"]);
    assert!(judged.stdout.contains("Engines as wholes"), "{} {}", judged.stdout, judged.stderr);
    let twice =
        ["--engine-library", "base=old.so", "--engine-library", &mine.replace("mine", "base")];
    sandbox
        .embermark(&[&RUN[..], &twice].concat())
        .expect_status(2)
        .expect_stderr(&["calls its engine 'base'"]);
}

#[test]
fn a_plan_file_names_it_and_a_configuration_sets_what_it_takes() {
    let Some(library) = compiled::logmap() else { return };
    let sandbox = Sandbox::new();
    let plan = format!(
        "workloads = [\"sensors\"]\nscale = [\"100\"]\nengines = [\"logmap\"]\nruns = 1\ntrials = 1\n\
         phases = [\"load\"]\nvariant = [\"single\"]\nengine-library = [{:?}]\n\
         [configuration.synced]\nengine = \"logmap\"\nsettings = {{ sync = \"fdatasync\" }}\n\
         [configuration.lax]\nengine = \"logmap\"\nsettings = {{ sync = \"none\" }}\n",
        text(&library)
    );
    sandbox.write("plan.toml", plan);
    let ended = sandbox
        .embermark(&["run", "--plan", "plan.toml", "--no-counting", "--out", "out"])
        .expect_status(0);
    ended.expect_stderr(&["configuration lax: sync=none where process has write or fdatasync"]);
    let result = sandbox.result("out");
    let sync = |engine: &str| of(&result, engine).trials[0].settings["sync"].clone();
    assert_eq!(["logmap", "synced", "lax"].map(sync), ["write", "fdatasync", "none"]);

    let with = |setting: &str| {
        let library = ["--engine-library", text(&library), "--configuration", setting];
        sandbox.embermark(&[&RUN[..], &library, &["--out", "other"]].concat())
    };
    with("x=logmap:sync=perhaps").expect_status(2).expect_stderr(&["sync", "'perhaps'"]);
    with("x=logmap:synk=none").expect_status(2).expect_stderr(&["did you mean 'sync'"]);
    with("x=logmap:library=/usr").expect_status(2).expect_stderr(&["takes no library"]);
}

#[test]
fn a_run_that_was_cut_off_is_gone_on_with_by_the_same_library_alone() {
    let Some(library) = compiled::logmap() else { return };
    let sandbox = Sandbox::new();
    fs::copy(&library, sandbox.path("mine.so")).unwrap();
    let with = ["-e", "logmap,memory", "--engine-library", "mine.so", "--out", "out"];
    sandbox.embermark(&[&RUN[..], &with].concat()).expect_status(0);
    let journal = sandbox.path("out/journal.jsonl");
    let whole = fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let first = lines.iter().position(|line| line.starts_with("{\"cell\":")).unwrap();
    fs::write(&journal, lines[..=first].join("\n") + "\n").unwrap();
    fs::remove_file(sandbox.path("out/result.json")).unwrap();

    let mut other = fs::read(&library).unwrap();
    other.extend_from_slice(b"another");
    fs::write(sandbox.path("mine.so"), other).unwrap();
    let resume = ["run", "--resume", "out"];
    sandbox
        .embermark(&resume)
        .expect_status(2)
        .expect_stderr(&["mine.so", "another one than when the run was begun"]);
    fs::remove_file(sandbox.path("mine.so")).unwrap();
    sandbox.embermark(&resume).expect_status(2).expect_stderr(&["mine.so", "No such file"]);
    fs::copy(&library, sandbox.path("mine.so")).unwrap();
    sandbox.embermark(&resume).expect_status(0);
    let result = sandbox.result("out");
    assert!(result.cells.iter().all(|cell| cell.status == Status::Ok), "{:?}", result.cells);
}

#[test]
fn several_clients_share_it() {
    let Some(library) = compiled::logmap() else { return };
    let sandbox = Sandbox::new();
    let words =
        ["run", "sensors", "--scale", "2000", "--clients", "4", "--runs", "1", "--trials", "1"];
    let redb = compiled::redb();
    let with = ["--engine-library", text(&library), "--engine-library", text(&redb)];
    let of = ["-e", "logmap,redb-library", "-t", "none", "--no-counting", "--out", "out"];
    sandbox.embermark(&[&words[..], &with, &of].concat()).expect_status(0);
    for cell in sandbox.result("out").cells {
        assert_eq!(cell.status, Status::Ok, "{}: {:?}", cell.id, cell.reason);
    }
}

#[test]
fn it_is_listed_with_its_tiers_and_its_file() {
    let Some(library) = compiled::logmap() else { return };
    let sandbox = Sandbox::new();
    let listed =
        sandbox.embermark(&["engines", "--engine-library", text(&library)]).expect_status(0).stdout;
    let line = line_of(&listed, "logmap");
    assert!(line.contains("key-value") && line.contains("1.0"), "{line}");
    assert!(
        listed.contains(&format!("logmap, library: {}, SHA-256 ", library.display())),
        "{listed}"
    );
    assert!(listed.contains("logmap, power: sync=fdatasync"), "{listed}");
    let without = sandbox.embermark(&["engines"]).expect_status(0).stdout;
    assert!(!without.contains("logmap"), "{without}");
}

#[test]
fn what_it_keeps_is_put_to_the_test() {
    let Some(library) = compiled::logmap() else { return };
    let sandbox = Sandbox::new();
    let words = ["durability", "-t", "process", "--kills", "5", "--states", "0", "--out", "out"];
    let with = ["--engine-library", text(&library)];
    sandbox.embermark(&[&words[..], &with].concat()).expect_status(0);
    let result = fs::read(sandbox.path("out/result.json")).unwrap();
    let result: serde_json::Value = serde_json::from_slice(&result).unwrap();
    assert_eq!(result["tested"][0]["engine"], "logmap");
    assert_eq!(result["tested"][0]["verdicts"]["holds"], 5, "{result}");
    assert_eq!(result["engine_libraries"]["logmap"]["path"], text(&library));
}

/// Asserts that the library is refused before anything runs: with exit status 2, its path, and
/// these words.
#[track_caller]
fn refused(library: &Path, says: &[&str]) {
    let sandbox = Sandbox::new();
    let with = ["--engine-library", text(library)];
    for command in [&RUN[..], &["verify"], &["engines"], &["durability"]] {
        let ended = sandbox.embermark(&[command, &with].concat()).expect_status(2);
        ended.expect_stderr(&[text(library), "cannot be used"]).expect_stderr(says);
        assert!(!sandbox.path("results").exists(), "{command:?}");
    }
}

#[test]
fn what_is_no_library_is_refused() {
    let sandbox = Sandbox::new();
    refused(&sandbox.path("none.so"), &["No such file"]);
    refused(&sandbox.write("text.so", "hello, I am a library"), &["text.so"]);
    refused(&sandbox.write("empty.so", ""), &["file too short"]);
    refused(&sandbox.path(""), &["directory"]);
    if let Some(library) = hostile("NO_ENTRY") {
        refused(&library, &["exports no function `embermark_engine`"]);
    }
}

#[test]
fn a_library_that_says_what_cannot_be_is_refused_with_what_is_wrong() {
    let all = [
        ("WRONG_ABI", "version 7 of the interface, and this embermark knows version 2"),
        ("KNOWS_NO_VERSION", "does not know version 2 of the interface"),
        ("SHORT", "`struct embermark_engine` has 16 bytes"),
        ("SHORT_FUNCTIONS", "`struct embermark_key_value` has 24 bytes"),
        ("NO_FUNCTIONS", "`struct embermark_key_value` is NULL"),
        ("NO_GET", "`get` is NULL"),
        ("NO_SQL_FUNCTIONS", "`struct embermark_sql` is NULL"),
        ("NO_DIALECT", "`struct embermark_dialect` is NULL"),
        ("NO_SCRIPT", "`script` is NULL"),
        ("NO_OPEN", "`open` is NULL"),
        ("NO_NAME", "`name` is empty"),
        ("NOT_UTF8", "`name` is not UTF-8"),
        ("STRANGE_ID", "id 'My Engine' is invalid"),
        ("ID_OF_ANOTHER", "'memory', which is the name of an engine that embermark has"),
        ("ID_OF_ALL", "'embedded', which is the name of several engines"),
        ("NO_TIERS", "`tiers` are NULL"),
        ("WEAK_TIER", "tier 'power' survives 'process', which is less than it promises"),
        ("NO_TIER", "tier 'power' survives 9, which is not a tier"),
        ("MUTE_TIER", "tier 'power' has neither a `setting`"),
        ("NO_FAMILY", "family is 99, but must be"),
        ("CRASHES_WHEN_LOADED", "killed by signal 11 (SIGSEGV)"),
        ("CRASHES_WHEN_ASKED", "killed by signal 11 (SIGSEGV)"),
    ];
    for (wrong, says) in sampled(all, 3) {
        let Some(library) = hostile(wrong) else { return };
        refused(&library, &[says]);
    }
}

#[test]
fn two_libraries_of_one_id_are_refused() {
    let Some(library) = compiled::logmap() else { return };
    let sandbox = Sandbox::new();
    fs::copy(&library, sandbox.path("other.so")).unwrap();
    let words = ["engines", "--engine-library", text(&library), "--engine-library", "other.so"];
    sandbox.embermark(&words).expect_status(2).expect_stderr(&[
        "other.so",
        "'logmap'",
        "that of",
        text(&library),
    ]);
    // The same file twice is one engine.
    let words = ["engines", "--engine-library", text(&library), "--engine-library", text(&library)];
    let listed = sandbox.embermark(&words).expect_status(0).stdout;
    let lines = listed.lines().filter(|line| line.trim_start().starts_with("logmap  ")).count();
    assert_eq!(lines, 1, "{listed}");
}

/// Runs a library that was not refused, together with another engine, which must still be
/// measured.
fn ran(wrong: &str, more: &[&str]) -> Option<(ProgramOutput, ResultFile)> {
    let (library, sandbox) = (hostile(wrong)?, Sandbox::new());
    let with = ["-e", "hostile,memory", "--engine-library", text(&library), "--out", "out"];
    let ended = sandbox.embermark(&[&RUN[..], &with, more].concat());
    let result = sandbox.result("out");
    assert_eq!(of(&result, "memory").status, Status::Ok, "{wrong}");
    Some((ended, result))
}

#[test]
fn a_broken_engine_fails_in_its_own_cell() {
    let all = [
        ("CRASHES_AT_GET", Status::Failed, "killed by signal 11 (SIGSEGV)"),
        ("LIES", Status::Wrong, "are not the rows expected"),
        (
            "NONSENSE",
            Status::Failed,
            "hostile could not put a value: it returned 77, which is not a status",
        ),
        ("FAILS", Status::Failed, "hostile could not put a value: the moon is full"),
        ("OPENS_NOTHING", Status::Failed, "returned EMBERMARK_OK, and no client"),
        (
            "DOES_NOT_OPEN",
            Status::Failed,
            "hostile could not open the database: the door is locked",
        ),
        ("SYNCS_NEVER", Status::Failed, "keep the tier 'process': it has sync=none"),
        ("TELLS_NOTHING", Status::Failed, "keep the tier 'process': it has sync=unknown"),
    ];
    for (wrong, status, says) in sampled(all, 2) {
        let Some((ended, result)) = ran(wrong, &[]) else { return };
        let (ended, cell) = (ended.expect_status(1), of(&result, "hostile"));
        let reason = cell.reason.clone().unwrap_or_default();
        assert_eq!(cell.status, status, "{wrong}: {reason}");
        assert!(reason.contains(says), "{wrong}: {reason}");
        assert!(ended.stdout.contains("hostile"), "{wrong}: {}", ended.stdout);
    }
}

#[test]
fn a_tier_that_it_has_not_is_unsupported_with_its_reason() {
    let Some((ended, result)) = ran("UNSUPPORTED_TIER", &["-t", "power"]) else { return };
    let cell = of(&result, "hostile");
    assert_eq!((ended.status, cell.status), (0, Status::Unsupported));
    assert_eq!(cell.reason.as_deref(), Some("nothing is ever synced"));
}

#[test]
fn one_whose_licence_forbids_publishing_runs_for_who_accepts_it() {
    let Some((_, result)) = ran("UNPUBLISHABLE", &[]) else { return };
    let cell = of(&result, "hostile");
    assert_eq!(cell.status, Status::Unavailable);
    assert!(cell.reason.as_ref().unwrap().contains("--accept-license hostile"));
    let Some((ended, result)) = ran("UNPUBLISHABLE", &["--accept-license", "hostile"]) else {
        return;
    };
    ended.expect_status(0);
    assert!(of(&result, "hostile").unpublishable);
    assert_eq!(result.unpublishable(), ["hostile"]);
}
