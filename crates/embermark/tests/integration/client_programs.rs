//! Work that programs in other languages do.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::common::{ProgramOutput, Sandbox, is_here};
use embermark_model::Status;
use embermark_model::result::{Cell, PhaseResult, ResultFile};
use embermark_skips::{sampled, skipped};

const RUN: [&str; 9] =
    ["run", "--runs", "2", "--trials", "1", "--no-counting", "--out", "out", "--scale"];

const TIERS: [&str; 2] = ["process", "power"];

/// Returns one of the tiers, or all.
fn some_tiers() -> String {
    sampled(TIERS, 1).join(",")
}

fn run(sandbox: &Sandbox, scale: &str, more: &[&str]) -> ResultFile {
    // On a busy machine a phase may take longer than its limit.
    let caps = more.iter().any(|word| word.starts_with("max-run-time"));
    let limit: &[&str] = if caps { &[] } else { &["--set", "max-run-time=none"] };
    let mut command = sandbox.command(&[&RUN[..], &[scale], more, limit].concat());
    let ended = ProgramOutput::from(command.output().unwrap());
    assert!(sandbox.path("out/result.json").exists(), "{}{}", ended.stdout, ended.stderr);
    sandbox.result("out")
}

/// Whether the requirements of a client are installed. Otherwise skips the test.
fn has_client(result: &ResultFile) -> bool {
    let lacks = |cell: &&Cell| cell.status == Status::Unavailable && cell.id.engine.contains('-');
    let lacking = result.cells.iter().find(lacks).and_then(|cell| cell.reason.clone());
    if let Some(why) = &lacking {
        assert!(why.contains("make python-clients") || why.contains("make node-clients"), "{why}");
        skipped("clients", why);
    }
    lacking.is_none()
}

fn all_ok(result: &ResultFile) {
    for cell in &result.cells {
        assert_eq!(cell.status, Status::Ok, "{}: {:?}", cell.id, cell.reason);
        for phase in cell.trials.iter().flat_map(|trial| &trial.phases) {
            assert_eq!(phase.status, Status::Ok, "{} {}: {:?}", cell.id, phase.phase, phase.reason);
        }
    }
}

fn phase<'a>(cell: &'a Cell, name: &str) -> &'a PhaseResult {
    cell.trials[0].phases.iter().find(|phase| phase.phase == name).unwrap()
}

#[test]
fn a_program_does_the_operations_and_takes_the_time() {
    if !is_here("sqlite") {
        return;
    }
    let sandbox = Sandbox::new();
    let tiers = some_tiers();
    let words = ["sensors", "-e", "sqlite", "--client", "native,python,node", "--tier", &tiers];
    let result = run(&sandbox, "300", &words);
    if !has_client(&result) {
        return;
    }
    all_ok(&result);
    // Two variants of each client.
    assert_eq!(result.cells.len(), 6 * tiers.split(',').count());
    for cell in &result.cells {
        let by = phase(cell, "load").timed_by.as_deref();
        match &*cell.id.engine {
            "sqlite" => assert_eq!(by, None),
            "sqlite-python" => assert!(by.unwrap().starts_with("Python 3."), "{by:?}"),
            _ => assert!(by.unwrap().starts_with("Node.js "), "{by:?}"),
        }
        // It has as many operations as embermark's own client.
        for phase in &cell.trials[0].phases {
            let native = result.cells.iter().find(|other| {
                other.id.engine == "sqlite"
                    && other.id.variant == cell.id.variant
                    && other.id.durability == cell.id.durability
            });
            let native = self::phase(native.unwrap(), &phase.phase);
            assert_eq!(phase.ops, native.ops, "{} {}", cell.id, phase.phase);
            for run in &phase.runs {
                assert!(run.elapsed_ns > 0 && (phase.ops == 0 || run.ops == phase.ops), "{run:?}");
            }
        }
        if cell.id.engine != "sqlite" {
            // Python and Node.js need more memory than the worker, which has closed the database.
            let used = &phase(cell, "load").runs[0].engine;
            assert!(used.peak_bytes.unwrap() > 8 << 20 && used.cpu_ns.unwrap() > 0, "{used:?}");
        }
    }
    let said = sandbox
        .embermark(&["report", "out/result.json", "--format", "table"])
        .expect_status(0)
        .stdout;
    assert!(said.contains("Times by a client's own clock"), "{said}");
}

#[test]
fn a_workload_file_with_every_verb_has_the_same_answers_from_another_language() {
    let sandbox = Sandbox::new();
    sandbox.write("own.toml", OWN);
    const SQL: [&str; 4] = ["sqlite", "duckdb", "postgres", "mariadb"];
    const OTHERS: [&str; 6] = ["lmdb", "rocksdb", "leveldb", "berkeleydb", "valkey", "mongodb"];
    let here = |engines: &[&'static str]| -> Vec<&str> {
        engines.iter().copied().filter(|engine| is_here(engine)).collect()
    };
    let engines = [sampled(here(&SQL), 1), sampled(here(&OTHERS), 1)].concat();
    if engines.is_empty() {
        return;
    }
    let engines = engines.join(",");
    let result = run(
        &sandbox,
        "2k",
        &["./own.toml", "-e", &engines, "--client", "python,node", "--tier", &some_tiers()],
    );
    if !has_client(&result) {
        return;
    }
    // The package's library may be older than the one that wrote the files.
    let is_too_new = |cell: &&Cell| {
        let why =
            |phase: &PhaseResult| phase.reason.as_ref()?.contains("older library").then_some(());
        cell.trials.iter().flat_map(|trial| &trial.phases).any(|phase| why(phase).is_some())
    };
    for cell in result.cells.iter().filter(|cell| !is_too_new(cell)) {
        let (engine, _) = cell.id.engine.split_once('-').unwrap();
        let asks = engine == "mongodb" || SQL.contains(&engine);
        for phase in cell.trials.iter().flat_map(|trial| &trial.phases) {
            // Questions that client code answers, and openings, are not for clients.
            let is_unsupported = phase.phase == "reopen"
                || !asks && ["many", "newest", "silent", "far", "alike"].contains(&&*phase.phase);
            let expected = if is_unsupported { Status::Unsupported } else { Status::Ok };
            assert_eq!(phase.status, expected, "{} {}: {:?}", cell.id, phase.phase, phase.reason);
        }
    }
}

/// Rows of every type, some absent.
const OWN: &str = r#"
about = "every verb"
[table.m]
rows = "2k"
key = ["id"]
[table.m.columns]
id = { type = "i64", make = "sequence" }
name = { type = "text", make = "words", distinct = 30 }
v = { type = "f64", make = "random", from = 0, to = 100, absent = "10%" }
time = { type = "timestamp", unit = "s", make = "sequence", step = "1m" }
[phase.put]
do = "insert"
commit = 100
[phase.read]
do = "get"
ops = 500
absent = "20%"
[phase.change]
do = "update"
set = ["v"]
ops = 200
[phase.both]
do = "read-modify-write"
set = ["v"]
ops = 100
[phase.put-over]
do = "upsert"
ops = 100
[phase.gone]
do = "delete"
ops = 100
[phase.many]
do = "group"
by = ["name"]
compute = ["count(id)", "avg(v)"]
[phase.reopen]
do = "open"
ops = 2
[phase.next]
do = "range"
rows = 20
ops = 100
[phase.low]
do = "find"
where = [["id", "<", 100]]
select = ["name"]
[phase.newest]
do = "latest"
by = "name"
[phase.silent]
do = "gaps"
by = "name"
longer-than = "1h"
[phase.far]
do = "outliers"
of = "v"
by = "name"
deviations = 1.5
[phase.alike]
do = "correlate"
of = "v"
by = "name"
bucket = "1h"
"#;

/// Integers beyond 2^53, and a question right after they were put in, which has no warm-up.
const LARGE: &str = r#"
about = "large integers"
[table.m]
rows = "50"
key = ["id"]
[table.m.columns]
id = { type = "i64", make = "sequence", from = 9_007_199_254_740_993, step = 2 }
name = { type = "text", make = "words", distinct = 30 }
[phase.put]
do = "insert"
only = "sequence"
[phase.highest]
do = "group"
compute = ["max(id)"]
only = "sequence"
[phase.put_and_ask]
sequence = ["put", "highest"]
"#;

#[test]
fn integers_that_are_no_doubles_come_back_exactly_without_a_warm_up() {
    if !is_here("sqlite") {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("large.toml", LARGE);
    let clients = "python,node:better-sqlite3,node:node-sqlite";
    let words = ["./large.toml", "-e", "sqlite", "--client", clients, "--tier", "process"];
    let result = run(&sandbox, "50", &words);
    if has_client(&result) {
        all_ok(&result);
    }
}

/// A question whose columns have one name.
const TWICE: &str = r#"
about = "two columns of one name"
[table.m]
rows = "50"
key = ["id"]
[table.m.columns]
id = { type = "u32", make = "sequence" }
name = { type = "text", make = "words", distinct = 30 }
[phase.put]
do = "insert"
[phase.twice]
sql = "SELECT COUNT(*), COUNT(*) FROM m"
"#;

#[test]
fn columns_of_one_name_are_all_there() {
    let here = ["sqlite", "postgres", "mariadb"].into_iter().filter(|engine| is_here(engine));
    let engines = sampled(here, 1);
    if engines.is_empty() {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("twice.toml", TWICE);
    let engines = engines.join(",");
    let words = ["./twice.toml", "-e", &engines, "--client", "python,node", "--tier", "process"];
    let result = run(&sandbox, "50", &words);
    if has_client(&result) {
        all_ok(&result);
    }
}

#[test]
fn a_file_of_the_current_folder_with_the_name_of_a_module_is_not_the_module() {
    if !is_here("sqlite") {
        return;
    }
    let sandbox = Sandbox::new();
    for module in ["sqlite3.py", "decimal.py"] {
        sandbox.write(module, "raise RuntimeError('not the module')\n");
    }
    let words = ["htap", "-e", "sqlite", "--client", "python", "--variant", "single"];
    let result = run(&sandbox, "300", &[&words[..], &["--tier", "process"]].concat());
    if has_client(&result) {
        all_ok(&result);
    }
}

#[test]
fn a_run_that_ends_at_its_cap_has_the_rows_that_it_put_in() {
    if !is_here("sqlite") {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("own.toml", OWN.replace("commit = 100", "commit = \"each\""));
    let capped = ["./own.toml", "-e", "sqlite", "--client", "python,node", "--phases", "put"];
    let result = run(
        &sandbox,
        "20k",
        &[&capped[..], &["--set", "max-run-time=20ms", "--tier", &some_tiers()]].concat(),
    );
    if !has_client(&result) {
        return;
    }
    for cell in &result.cells {
        assert_eq!(cell.status, Status::Capped, "{}: {:?}", cell.id, cell.reason);
        let runs = &phase(cell, "put").runs;
        assert!(runs.iter().all(|run| run.capped && (1..20_000).contains(&run.ops)), "{runs:?}");
    }
}

#[test]
fn what_there_is_no_program_for_is_named() {
    if !is_here("sqlite") || !is_here("redb") {
        return;
    }
    let sandbox = Sandbox::new();
    let clients = ["sensors", "-e", "sqlite,redb", "--client", "python,python:apsw"];
    let load = ["--phases", "load", "--variant", "single"];
    let result = run(&sandbox, "300", &[&clients[..], &load].concat());
    for cell in &result.cells {
        if cell.id.engine == "sqlite-python" {
            continue;
        }
        assert_eq!(cell.status, Status::Unsupported, "{}: {:?}", cell.id, cell.reason);
        let why = cell.reason.as_deref().unwrap();
        let expected = match &*cell.id.engine {
            "sqlite-python-apsw" => "no client uses apsw for sqlite in python; there is sqlite3",
            _ => "embermark has no python client for redb",
        };
        assert!(why.contains(expected), "{why}");
    }
}

#[test]
fn a_snippet_is_a_program_that_runs() {
    let deps = |name: &str| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.deps");
        // A link to Python is a separate environment.
        let path = root.canonicalize().ok()?.join(name);
        path.exists().then_some(path)
    };
    let sandbox = Sandbox::new();
    let python = deps("python-clients/bin/python3");
    let node = deps("node-clients/bin/node");
    let modules = deps("node-clients/node_modules");
    if let Some(modules) = &modules {
        std::os::unix::fs::symlink(modules, sandbox.path("node_modules")).unwrap();
    }
    let with_python = ["sqlite", "duckdb", "lmdb", "rocksdb", "leveldb", "berkeleydb"];
    let with_node = ["sqlite", "duckdb", "lmdb", "leveldb"];
    let with_python = sampled(with_python, 3).into_iter().map(|id| (id, "python", &python));
    let with_node = sampled(with_node, 2).into_iter().map(|id| (id, "node", &node));
    for (engine, client, interpreter) in with_python.chain(with_node) {
        if !is_here(engine) {
            continue;
        }
        let Some(interpreter) = interpreter else {
            skipped("clients", format!("make {client}-clients"));
            continue;
        };
        let words = ["snippet", engine, "--client", client, "-t", "process"];
        let program = sandbox.embermark(&words).expect_status(0).stdout;
        assert!(!program.contains("{{"), "{program}");
        let name = if client == "python" { "program.py" } else { "program.mjs" };
        sandbox.write(name, &program);
        // An empty folder, as a reader's.
        let folder = sandbox.path(&format!("{engine}-{client}"));
        fs::create_dir(&folder).unwrap();
        for _ in 0..2 {
            let mut command = std::process::Command::new(interpreter);
            let ran = command.arg(sandbox.path(name)).current_dir(&folder).output().unwrap();
            let said = String::from_utf8_lossy(&ran.stderr);
            assert!(ran.status.success() && !ran.stdout.is_empty(), "{engine} {client}: {said}");
        }
    }
}

#[test]
fn what_has_no_snippet_is_said() {
    if !is_here("sqlite") || !is_here("redb") {
        return;
    }
    let sandbox = Sandbox::new();
    for (words, expected) in [
        (["redb", "python"], "embermark has no python client for redb"),
        (
            ["sqlite", "node:sqlite3"],
            "there is no snippet for the package sqlite3; there is node:better-sqlite3",
        ),
        (["sqlite", "ruby"], "'ruby' is not a client"),
    ] {
        let [engine, client] = words;
        let said =
            sandbox.embermark(&["snippet", engine, "--client", client]).expect_status(2).stderr;
        assert!(said.contains(expected), "{said}");
    }
}

/// Returns what a user's program does, by its name.
const PROGRAM: &str = r#"#!/usr/bin/env python3
import json, os, struct, sys, time
name = os.path.basename(sys.argv[0])
def say(what):
    print(json.dumps(what), flush=True)
say({"protocol": 2 if name == "later" else 1})
for line in sys.stdin:
    told = json.loads(line)
    do = told["do"]
    if do == "load":
        say({"version": "none"})
    elif do == "floor":
        say({"elapsed_ns": 1000, "operations": told["operations"], "capped": False})
    elif do == "open":
        say({"settings": {"journal_mode": "memory"} if name == "weaker" else {}})
    elif do == "prepare":
        answers = told["answers"]
        with open(told["operations"], "rb") as file:
            head = struct.unpack("<8s6Q", file.read(56))
        assert head[0] == b"embmops1"
        rows = head[4]
        say({})
    elif do == "go":
        if name == "crashes":
            sys.exit(3)
        if name == "hangs":
            time.sleep(600)
        if name == "rubbish":
            print("Segmentation fault", flush=True)
        if name == "fails":
            say({"error": "the disk is full"})
        else:
            count = 2 * rows if name == "counts" else rows + 1
            say({"elapsed_ns": 1000, "operations": count, "capped": False})
    elif do == "answer":
        with open(answers, "r+b") as file:
            if name == "empty":
                file.write(struct.pack("<8sQQ", b"embmans1", 0, 0))
            else:
                # All rows are there, it says, and counted.
                file.write(struct.pack("<8sQQQQq", b"embmans1", 0, 2, 1, rows, rows))
                file.write(struct.pack("<QQQQBq", 0, 1, 1, 1, 1, rows))
        say({})
    elif do == "close":
        say({})
"#;

#[test]
fn a_program_that_lies_or_fails_fails_its_cell_alone_and_nothing_is_left_running() {
    if !is_here("sqlite") {
        return;
    }
    let cases = [
        ("liar", Status::Wrong, "is missing"),
        ("empty", Status::Failed, "it has done no further call"),
        ("counts", Status::Failed, "it counts 600, and was given 301"),
        ("weaker", Status::Failed, "journal_mode is memory there, and wal here"),
        ("fails", Status::Failed, "could not do its operations: the disk is full"),
        ("crashes", Status::Failed, "it ended with exit status: 3"),
        ("rubbish", Status::Failed, "it answered \"Segmentation fault\""),
        (
            "later",
            Status::Failed,
            "it uses version 2 of the protocol, and embermark uses version 1",
        ),
        ("hangs", Status::TimedOut, "took longer than the 3 s"),
    ];
    let sandbox = Sandbox::new();
    let mut clients = vec!["native".to_owned()];
    for (name, ..) in cases {
        let path = sandbox.write(name, PROGRAM);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        clients.push(format!("./{name}"));
    }
    let hangs = clients.pop().unwrap();
    let tiers = some_tiers();
    let words = ["htap", "-e", "sqlite", "--variant", "single", "--tier", &tiers, "--client"];
    let mut cells = run(&sandbox, "300", &[&words[..], &[&clients.join(",")]].concat()).cells;
    // This test runs alone, because it must not end other programs so early.
    fs::remove_dir_all(sandbox.path("out")).unwrap();
    let hangs = [&words[..], &[&hangs, "--set", "timeout=3s"]].concat();
    cells.extend(run(&sandbox, "300", &hangs).cells);
    assert_eq!(cells.len(), tiers.split(',').count() * (cases.len() + 1));
    for cell in &cells {
        let Some(name) = cell.id.engine.strip_prefix("sqlite-") else {
            assert_eq!(cell.status, Status::Ok, "{}: {:?}", cell.id, cell.reason);
            continue;
        };
        let (_, status, words) = cases.iter().find(|(known, ..)| *known == name).unwrap();
        assert_eq!(cell.status, *status, "{}: {:?}", cell.id, cell.reason);
        let phases = cell.trials.iter().flat_map(|trial| &trial.phases);
        let whys = cell.reason.iter().chain(phases.filter_map(|phase| phase.reason.as_ref()));
        let whys: Vec<&String> = whys.collect();
        assert!(whys.iter().any(|why| why.contains(words)), "{name}: {whys:?}");
    }
    assert_eq!(running(&sandbox.path("")), Vec::<String>::new());
}

/// Returns the running programs of a folder.
fn running(folder: &Path) -> Vec<String> {
    let lines = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let line = fs::read(entry.ok()?.path().join("cmdline")).ok()?;
        Some(String::from_utf8_lossy(&line).replace('\0', " "))
    });
    let folder = folder.display().to_string();
    lines.filter(|line| line.contains(&folder)).collect()
}
