//! For every content of a file or a URL, the program ends by itself with 0, 1 or 2, and does not
//! panic.
//! `PROPTEST_CASES` is the number of cases of each kind.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use proptest::prelude::*;
use proptest::sample::Index;

use crate::common::{ProgramOutput, Sandbox, wait_for};
use embermark_skips::cases;

fn config() -> ProptestConfig {
    let known = std::env::var("PROPTEST_CASES").ok().and_then(|known| known.parse().ok());
    ProptestConfig {
        // Each case is a process.
        cases: known.unwrap_or_else(|| cases(6, 12)),
        // Limits the time to shrink a failure, and writes nothing next to the sources.
        max_shrink_iters: 32,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Runs the program with files as its standard output and error, so that no pipe becomes full.
fn ended(sandbox: &Sandbox, words: &[&str]) -> Result<ProgramOutput, TestCaseError> {
    let at = |name: &str| sandbox.path(name);
    let file = |name: &str| fs::File::create(at(name)).unwrap();
    let mut command = sandbox.command(words);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(file("stdout.txt"))
        .stderr(file("stderr.txt"))
        .spawn()
        .unwrap();
    let status = wait_for("its end", || child.try_wait().unwrap());
    let read = |name: &str| String::from_utf8_lossy(&fs::read(at(name)).unwrap()).into_owned();
    let (stdout, stderr) = (read("stdout.txt"), read("stderr.txt"));
    let ended = ProgramOutput { status: status.code().unwrap_or(-1), stdout, stderr };
    let is_known = (0..=2).contains(&ended.status);
    let panicked = ended.stderr.contains("panicked at");
    prop_assert!(is_known && !panicked, "{words:?}: {} {}", ended.status, ended.stderr);
    prop_assert!(!ended.stderr.contains('\u{1b}'), "{words:?}: {}", ended.stderr);
    Ok(ended)
}

/// Returns a text in which some parts are replaced by other parts of it and by noise.
fn mutated(text: &str, edits: &[(Index, Index, usize, String)]) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for (at, from, length, noise) in edits {
        let (at, from) = (at.index(text.len() + 1), from.index(text.len() + 1));
        let piece: Vec<char> =
            text[from..].iter().copied().take(*length).chain(noise.chars()).collect();
        let end = (at + length).min(text.len());
        text.splice(at..end, piece);
    }
    text.into_iter().collect()
}

fn edits() -> impl Strategy<Value = Vec<(Index, Index, usize, String)>> {
    prop::collection::vec((any::<Index>(), any::<Index>(), 0..20_usize, "\\PC{0,6}"), 1..6)
}

/// Returns a workload file that is small enough to run completely.
const WORKLOAD: &str = r#"
name = "cache"
about = "a cache"

[table.sessions]
rows = "100"
key = ["token"]

[table.sessions.columns]
token = { type = "text", make = "hashed", prefix = "session-" }
seen = { type = "timestamp", unit = "ms", make = "sequence", from = "2024-01-01", step = "1s" }
payload = { type = "bytes", make = "random", length = [10, 100] }

[phase.warm]
do = "insert"
commit = "bulk"

[phase.get]
do = "get"
keys = "zipfian"
absent = "10%"
ops = "10"

[phase.replace]
do = "update"
set = ["payload"]
ops = "10"

[phase.traffic]
mix = { get = "90%", replace = "10%" }
clients = 2
for = "10ms"

[phase.expire]
do = "delete"
older = "1h"
"#;

/// Returns files of rows.
const ROWS: [(&str, &str); 4] = [
    (
        "rows.csv",
        "id,time,temp,note\n1,2024-01-01 00:00:00,20.5,\"a, \"\"b\"\"\"\n2,2024-01-01 00:00:01,NA,x\n\
         3,2024-01-01 00:00:02,-9999,\n4,2024-01-01 00:00:03,1e3,'y'\n",
    ),
    (
        "rows.tsv",
        "# a logger\nDatum\tZeit\twert\n01.02.2024\t13:05\t1.234,5\n02.02.2024\t13:06\t2,5\n",
    ),
    (
        "rows.jsonl",
        "{\"id\":1,\"gps\":{\"lat\":8.5,\"lon\":null},\"tags\":[1,2]}\n{\"id\":2,\"gps\":{\"lat\":7},\"x\":true}\n",
    ),
    ("rows.json", "[{\"id\": 1, \"t\": \"2024-01-01T00:00:00Z\"},\n {\"id\": 2, \"t\": null}]"),
];

/// Returns a plan with the options that the command lines below leave out.
const PLAN: &str = r#"
seed = 7
window = "10ms"
warm-up = "1ms"
clients = 1
rate = 1000
cold = false
cache = "1MiB"
memory-limit = ["none"]
max-run-time = "100ms"
timeout = "30s"
for = "1m"
warmup-runs = 0
accept-license = ["harperdb"]
url = ["postgres=postgres://ann:x@127.0.0.1:1/x"]
[configuration.own]
engine = "sqlite"
settings = { journal_mode = "WAL", cache_size = 7 }
"#;

/// Options that keep a run short, regardless of the file.
const SHORT: [&str; 10] =
    ["--out", "out", "--trials", "1", "--runs", "1", "-s", "10", "--set", "timeout=20s"];

fn of_pieces(pieces: &[&'static str]) -> impl Strategy<Value = String> + use<> {
    let all: Vec<&'static str> = pieces.to_vec();
    prop::collection::vec(prop::sample::select(all), 0..12).prop_map(|chosen| chosen.concat())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_workload_file_is_run_or_refused(edits in edits()) {
        let sandbox = Sandbox::new();
        sandbox.write("own.toml", mutated(WORKLOAD, &edits));
        let words = ["run", "own.toml", "-e", "null,memory", "--set", "max-run-time=100ms"];
        ended(&sandbox, &[&words[..], &SHORT].concat())?;
    }

    /// A proposal for rows runs, or the error names their file and is a usage error.
    #[test]
    fn rows_are_proposed_and_run_or_refused(edits in edits(), base in 0..ROWS.len(), cut in any::<Index>()) {
        let sandbox = Sandbox::new();
        let (name, text) = ROWS[base];
        let text = mutated(text, &edits);
        let end = if edits.len() == 5 { cut.index(text.len() + 1) } else { text.len() };
        sandbox.write(name, &text.as_bytes()[..end]);
        let init = ended(&sandbox, &["init", name, "-o", "own.toml"])?;
        if init.status == 0 {
            let run = ended(&sandbox, &["run", "own.toml", "-e", "null", "--dry-run"])?;
            prop_assert_eq!(run.status, 0, "{} {:?}", run.stderr, text);
        } else {
            prop_assert_eq!(init.status, 2, "{}", init.stderr);
            prop_assert!(init.stderr.contains(name), "{}", init.stderr);
        }
    }

    #[test]
    fn a_plan_file_is_run_or_refused(edits in edits()) {
        let sandbox = Sandbox::new();
        sandbox.write("plan.toml", mutated(PLAN, &edits));
        let words = ["run", "sensors", "-e", "null", "--phases", "load,read", "--plan", "plan.toml"];
        ended(&sandbox, &[&words[..], &SHORT].concat())?;
    }

    #[test]
    fn a_url_is_taken_or_refused(
        engine in prop::sample::select(vec!["postgres", "mariadb", "mongodb", "valkey", "influxdb", "harperdb", "null", "x", ""]),
        url in of_pieces(&[
            "postgres://", "mysql://", "mongodb://", "mongodb+srv://", "valkey://", "redis://", "http://", "://", "ann",
            ":", "hunter2", "@", "127.0.0.1", ":1", ":0", ":99999", "/", "x", "?", "host=/nowhere", "&", "=", "%", "%40",
            "%zz", "#", " ", "'", "\\", "user=ann", "password='hunter2'", ",", "[::1]", "\u{1b}[2J", "\u{e4}", "a=b",
        ]),
    ) {
        let sandbox = Sandbox::new();
        let given = format!("{engine}={url}");
        // No server is contacted, because the engine of the URL does not run.
        let words = ["run", "sensors", "-e", "null", "--phases", "load", "--url", &given];
        let ended = ended(&sandbox, &[&words[..], &SHORT].concat())?;
        prop_assert!(!ended.stderr.contains("hunter2") || engine.is_empty() || engine == "x", "{}", ended.stderr);
    }

    #[test]
    fn a_result_file_is_shown_or_refused(edits in edits(), how in 0..9_usize) {
        let sandbox = Sandbox::new();
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/tests/fixtures/schema-1.json");
        sandbox.write("result.json", mutated(&fs::read_to_string(fixture).unwrap(), &edits));
        let ways: [&[&str]; 9] = [
            &["report", "result.json"],
            &["report", "result.json", "--show", "tables", "--show", "intervals", "--show", "latency", "--show", "explain"],
            &["report", "result.json", "-f", "csv"],
            &["report", "result.json", "-f", "markdown"],
            &["report", "result.json", "-f", "parquet", "-o", "out.parquet"],
            &["compare", "result.json", "result.json"],
            &["gate", "result.json", "result.json", "--force"],
            &["check", "result.json", "--anonymous", "-o", "anonymous.json"],
            &["advise", "result.json"],
        ];
        ended(&sandbox, ways[how])?;
    }
}
