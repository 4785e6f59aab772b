//! Runs of real engines that are killed at any time and resumed.

#[path = "../../../harness/tests/integration/resumption/shape.rs"]
mod shape;

use std::collections::HashSet;
use std::env;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::common::run_processes::signal;
use crate::common::{self, Sandbox, processes_using, wait_for};
use embermark_model::Status;
use embermark_model::result::{Cell, ResultFile};
use embermark_skips::SEED;
use nix::sys::signal::Signal;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde_json::Value;
use shape::shape;

/// The run of these tests, at one scale and in long campaigns at two.
const RUN: [&str; 14] = [
    "run",
    "sensors",
    "--engines",
    "redb,sqlite",
    "--variant",
    "single,bulk",
    "--phases",
    "load,read,update,delete,avg_sensor",
    "--runs",
    "2",
    "--trials",
    "2",
    "--set",
    "max-run-time=none",
];

/// Returns the words of the run, with these at the end.
fn of_run(last: [&str; 2]) -> Vec<&str> {
    let scales = if embermark_skips::is_long() { "300,600" } else { "300" };
    [&RUN[..], &["--scale", scales], &last].concat()
}

/// Returns the position of the first difference between two values, and the values there. Whole
/// results are too long to read.
fn first_difference(at: &str, here: &Value, there: &Value) -> Option<String> {
    match (here, there) {
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => a
            .iter()
            .find_map(|(name, value)| first_difference(&format!("{at}.{name}"), value, &b[name])),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .find_map(|(i, (a, b))| first_difference(&format!("{at}[{i}]"), a, b)),
        _ if here == there => None,
        _ => Some(format!("{at}: {here} against {there}")),
    }
}

/// Returns the lines of a journal's trials. Empty if the journal does not exist yet.
fn trials(out: &Path) -> Vec<String> {
    let text = fs::read(out.join("journal.jsonl")).unwrap_or_default();
    let text = String::from_utf8(text).unwrap();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let trial = |line: &&str| line.starts_with("{\"cell\":");
    whole.lines().filter(trial).map(str::to_owned).collect()
}

fn start(sandbox: &Sandbox, words: &[&str], stderr: Stdio) -> Child {
    sandbox.command(words).stdout(Stdio::null()).stderr(stderr).spawn().unwrap()
}

/// Both are compared with the same undisturbed run.
#[test]
fn a_run_killed_at_many_moments_comes_to_the_same_end_and_a_killed_worker_is_one_failed_trial() {
    let sandbox = Sandbox::new();
    let began = Instant::now();
    sandbox.embermark(&of_run(["--out", "undisturbed"])).expect_status(0);
    let time = began.elapsed();
    let undisturbed = sandbox.result("undisturbed");
    a_run_killed_at_many_moments_comes_to_the_same_end(&sandbox, &undisturbed, time);
    a_worker_killed_at_any_moment_is_one_failed_trial(&sandbox, &undisturbed);
}

/// It repeats nothing. `time` is that of the undisturbed run.
fn a_run_killed_at_many_moments_comes_to_the_same_end(
    sandbox: &Sandbox,
    undisturbed: &ResultFile,
    time: Duration,
) {
    // The times are drawn by the commit. Long campaigns have twenty.
    let seed = env::var(SEED).unwrap_or_default();
    let many = if embermark_skips::is_long() { 20 } else { 3 };
    println!("kills: {many}, by {SEED}={seed}");
    let due: usize = undisturbed.cells.iter().map(|cell| cell.trials.len()).sum();
    assert!(due >= if embermark_skips::is_long() { 16 } else { 8 }, "{due}");

    let seed = seed.bytes().fold(42, |seed: u64, byte| seed.wrapping_mul(31) + u64::from(byte));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut moment = || time.mul_f64(random.random_range(0.02..0.7));
    let (mut kills, mut series) = (0, 0);
    while kills < many {
        series += 1;
        let out = format!("killed-{series}");
        let anew = of_run(["--out", &out]);
        let mut kept: Vec<String> = Vec::new();
        loop {
            // A run that was killed before its journal existed begins again in the same folder.
            let has_journal = sandbox.path(&out).join("journal.jsonl").exists();
            let again = ["run", "--resume", &out];
            let words = if has_journal { &again[..] } else { &anew[..] };
            let said = sandbox.path("said.txt");
            let mut run = start(sandbox, words, File::create(&said).unwrap().into());
            std::thread::sleep(moment());
            let ended = run.try_wait().unwrap();
            run.kill().unwrap();
            let status = run.wait().unwrap();
            let ended_well = ended.is_none_or(|status| status.success());
            assert!(ended_well, "{words:?}: {ended:?}: {}", fs::read_to_string(&said).unwrap());
            let now = trials(&sandbox.path(&out));
            assert!(now.starts_with(&kept), "trials were lost or repeated");
            kept = now;
            if status.success() {
                break;
            }
            kills += 1;
        }
        let result = sandbox.result(&out);
        let (here, there) = (shape(&result), shape(undisturbed));
        let differs = first_difference("cells", &here, &there);
        assert_eq!(differs, None, "after {kills} kills, in {out}");
        assert_eq!(kept.len(), due);
        assert_eq!(kept.iter().collect::<HashSet<_>>().len(), due);
        let dir = fs::canonicalize(sandbox.path(&out)).unwrap();
        assert_eq!(processes_using(&dir), Vec::<String>::new());
        let mut names: Vec<_> =
            fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name()).collect();
        // A build with the report's page also writes the page.
        names.retain(|name| name != "report.html");
        names.sort();
        assert_eq!(names, ["journal.jsonl", "result.json", "tables.txt"]);
    }
}

/// None is missing.
fn a_worker_killed_at_any_moment_is_one_failed_trial(sandbox: &Sandbox, undisturbed: &ResultFile) {
    let mut run = start(sandbox, &of_run(["--out", "out"]), Stdio::null());
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut killed = 0;
    while run.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(random.random_range(20..300)));
        // The worker that measures the floor does not belong to a trial.
        if trials(&sandbox.path("out")).is_empty() {
            continue;
        }
        let children = format!("/proc/{0}/task/{0}/children", run.id());
        let children = fs::read_to_string(children).unwrap_or_default();
        // The same holds for the programs that mount the disk of a counting trial.
        let is_worker = |pid: &&str| {
            fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.ends_with(b"worker\0"))
        };
        if let Some(worker) = children.split_whitespace().find(is_worker) {
            killed += usize::from(signal(worker.parse().unwrap(), Signal::SIGKILL));
        }
    }
    let result = sandbox.result("out");
    let key = |result: &ResultFile| -> Vec<_> {
        let of = |cell: &Cell| -> Vec<_> {
            let trials = cell.trials.iter().chain(&cell.lost_trials);
            trials.map(|trial| (trial.order, cell.id.clone(), trial.index)).collect()
        };
        let mut keys: Vec<_> = result.cells.iter().flat_map(of).collect();
        keys.sort_by_key(|(order, ..)| *order);
        keys
    };
    assert_eq!(key(&result), key(undisturbed));
    let all = result.cells.iter().flat_map(|cell| cell.trials.iter().chain(&cell.lost_trials));
    let failed: Vec<_> = all.filter(|trial| trial.status != Status::Ok).collect();
    assert!(killed > 0 && failed.len() <= killed, "{killed} killed, {} failed", failed.len());
    for trial in failed {
        assert!(trial.reason.as_ref().unwrap().contains("signal 9"), "{:?}", trial.reason);
    }
}

#[test]
fn ctrl_c_leaves_a_run_that_can_be_gone_on_with_and_says_how() {
    let sandbox = Sandbox::new();
    let words = of_run(["--out", "out"]);
    let run = sandbox.command(&words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("two trials", || (trials(&sandbox.path("out")).len() >= 2).then_some(()));
    assert!(signal(run.id(), Signal::SIGINT));
    let ended = common::ProgramOutput::from(run.wait_with_output().unwrap());
    ended.expect_status(130).expect_stderr(&["interrupted", "embermark run --resume out"]);
    let before = sandbox.result("out");
    assert_eq!(before.manifest.finished, None);

    // Other options are refused, the same options are not, and nothing has changed meanwhile.
    let other = ["run", "--resume", "out", "--runs", "9"];
    sandbox.embermark(&other).expect_status(2).expect_stderr(&["keeps its plan", "runs 2 (now 9)"]);
    sandbox.embermark(&of_run(["--resume", "out"])).expect_status(0);
    let after = sandbox.result("out");
    assert!(after.manifest.finished.is_some());
    let first = |file: &ResultFile| serde_json::to_string(&file.cells).unwrap().len();
    assert!(first(&after) > first(&before));
    // The remains of a run that is killed between its last line and its cleanup.
    let left = ["rows", "data", "logs"].map(|folder| sandbox.path("out").join(folder));
    left.iter().for_each(|folder| std::fs::create_dir_all(folder).unwrap());
    sandbox
        .embermark(&["run", "--resume", "out"])
        .expect_status(0)
        .expect_stderr(&["was complete"]);
    assert!(left.iter().all(|folder| !folder.exists()));
    sandbox.embermark(&["run", "--resume", "out", "--out", "x"]).expect_status(2);
    sandbox
        .embermark(&["run", "--resume", "nowhere"])
        .expect_status(2)
        .expect_stderr(&["--resume"]);
}
