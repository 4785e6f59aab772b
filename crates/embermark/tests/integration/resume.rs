//! Runs of real engines, killed at any moment and gone on with.

use std::collections::HashSet;
use std::env;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::common::family::signal;
use crate::common::{self, Place, left_in, wait_for};
use embermark_model::Status;
use embermark_model::result::{Cell, ResultFile};
use embermark_skips::{LONG, SEED};
use nix::sys::signal::Signal;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde_json::Value;

const RUN: [&str; 16] = [
    "run",
    "sensors",
    "--engines",
    "redb,sqlite",
    "--scale",
    "300,600",
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

/// Everything about the cells but what was measured.
fn shape(result: &ResultFile) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                // A mean of samples is there where the run lasted long enough for one, and repetitions where
                // it was short.
                fields.remove("mean_bytes");
                fields.remove("repeated");
                for (name, value) in fields.iter_mut() {
                    let measured =
                        name.ends_with("_ns") || name.ends_with("_bytes") || name == "flushes";
                    if measured || name == "latency" || name == "began" {
                        *value = Value::Bool(!value.is_null());
                    } else {
                        strip(value);
                    }
                }
            }
            Value::Array(values) => values.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut shape = serde_json::to_value(&result.cells).unwrap();
    strip(&mut shape);
    shape
}

/// Where two values first differ, and how; whole results are too long to read.
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

/// The trials of a journal, each line as it stands there; none where there is no journal yet.
fn trials(out: &Path) -> Vec<String> {
    let text = fs::read(out.join("journal.jsonl")).unwrap_or_default();
    let text = String::from_utf8(text).unwrap();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let trial = |line: &&str| line.starts_with("{\"cell\":");
    whole.lines().filter(trial).map(str::to_owned).collect()
}

fn start(place: &Place, words: &[&str], stderr: Stdio) -> Child {
    place.command(words).stdout(Stdio::null()).stderr(stderr).spawn().unwrap()
}

#[test]
fn a_run_killed_at_many_moments_comes_to_the_same_end_and_repeats_nothing() {
    // At moments drawn by the commit, and with all of them twenty.
    let seed = env::var(SEED).unwrap_or_default();
    let many = if env::var_os(LONG).is_some() { 20 } else { 3 };
    println!("kills: {many}, by {SEED}={seed}");
    let place = Place::new();
    let began = Instant::now();
    place.embermark(&[&RUN[..], &["--out", "undisturbed"]].concat()).with(0);
    let time = began.elapsed();
    let undisturbed = place.result("undisturbed");
    let due: usize = undisturbed.cells.iter().map(|cell| cell.trials.len()).sum();
    assert!(due >= 16, "{due}");

    let seed = seed.bytes().fold(42, |seed: u64, byte| seed.wrapping_mul(31) + u64::from(byte));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut moment = || time.mul_f64(random.random_range(0.02..0.7));
    let (mut kills, mut series) = (0, 0);
    while kills < many {
        series += 1;
        let out = format!("killed-{series}");
        let anew = [&RUN[..], &["--out", &out]].concat();
        let mut kept: Vec<String> = Vec::new();
        loop {
            // A run that was killed before its journal was there begins anew, in the same folder.
            let has_journal = place.path(&out).join("journal.jsonl").exists();
            let again = ["run", "--resume", &out];
            let words = if has_journal { &again[..] } else { &anew[..] };
            let said = place.path("said.txt");
            let mut run = start(&place, words, File::create(&said).unwrap().into());
            std::thread::sleep(moment());
            let ended = run.try_wait().unwrap();
            run.kill().unwrap();
            let status = run.wait().unwrap();
            let ended_well = ended.is_none_or(|status| status.success());
            assert!(ended_well, "{words:?}: {ended:?}: {}", fs::read_to_string(&said).unwrap());
            let now = trials(&place.path(&out));
            assert!(now.starts_with(&kept), "trials were lost or repeated");
            kept = now;
            if status.success() {
                break;
            }
            kills += 1;
        }
        let result = place.result(&out);
        let (here, there) = (shape(&result), shape(&undisturbed));
        let differs = first_difference("cells", &here, &there);
        assert_eq!(differs, None, "after {kills} kills, in {out}");
        assert_eq!(kept.len(), due);
        assert_eq!(kept.iter().collect::<HashSet<_>>().len(), due);
        let dir = fs::canonicalize(place.path(&out)).unwrap();
        assert_eq!(left_in(&dir), Vec::<String>::new());
        let mut names: Vec<_> =
            fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name()).collect();
        // A build with the report's page leaves that as well.
        names.retain(|name| name != "report.html");
        names.sort();
        assert_eq!(names, ["journal.jsonl", "result.json", "tables.txt"]);
    }
}

#[test]
fn a_worker_killed_at_any_moment_is_one_failed_trial_and_none_is_missing() {
    let place = Place::new();
    place.embermark(&[&RUN[..], &["--out", "undisturbed"]].concat()).with(0);
    let undisturbed = place.result("undisturbed");
    let mut run = start(&place, &[&RUN[..], &["--out", "out"]].concat(), Stdio::null());
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut killed = 0;
    while run.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(random.random_range(20..400)));
        // The floor's worker is none of a trial.
        if trials(&place.path("out")).is_empty() {
            continue;
        }
        let children = format!("/proc/{0}/task/{0}/children", run.id());
        let children = fs::read_to_string(children).unwrap_or_default();
        // Nor are the programs that mount a disk for a trial that counts.
        let is_worker = |pid: &&str| {
            fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.ends_with(b"worker\0"))
        };
        if let Some(worker) = children.split_whitespace().find(is_worker) {
            killed += usize::from(signal(worker.parse().unwrap(), Signal::SIGKILL));
        }
    }
    let result = place.result("out");
    let key = |result: &ResultFile| -> Vec<_> {
        let of = |cell: &Cell| -> Vec<_> {
            let trials = cell.trials.iter().chain(&cell.lost_trials);
            trials.map(|trial| (trial.order, cell.id.clone(), trial.index)).collect()
        };
        let mut keys: Vec<_> = result.cells.iter().flat_map(of).collect();
        keys.sort_by_key(|(order, ..)| *order);
        keys
    };
    assert_eq!(key(&result), key(&undisturbed));
    let all = result.cells.iter().flat_map(|cell| cell.trials.iter().chain(&cell.lost_trials));
    let failed: Vec<_> = all.filter(|trial| trial.status != Status::Ok).collect();
    assert!(killed > 0 && failed.len() <= killed, "{killed} killed, {} failed", failed.len());
    for trial in failed {
        assert!(trial.reason.as_ref().unwrap().contains("signal 9"), "{:?}", trial.reason);
    }
}

#[test]
fn ctrl_c_leaves_a_run_that_can_be_gone_on_with_and_says_how() {
    let place = Place::new();
    let words = [&RUN[..], &["--out", "out"]].concat();
    let run = place.command(&words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("two trials", || (trials(&place.path("out")).len() >= 2).then_some(()));
    assert!(signal(run.id(), Signal::SIGINT));
    let ended = common::Ended::from(run.wait_with_output().unwrap());
    ended.with(130).saying(&["interrupted", "embermark run --resume out"]);
    let before = place.result("out");
    assert_eq!(before.manifest.finished, None);

    // Other options are refused, the same are not, and nothing has changed in between.
    let other = ["run", "--resume", "out", "--runs", "9"];
    place.embermark(&other).with(2).saying(&["keeps its plan", "runs 2 (now 9)"]);
    let same = [&RUN[..], &["--resume", "out"]].concat();
    place.embermark(&same).with(0);
    let after = place.result("out");
    assert!(after.manifest.finished.is_some());
    let first = |file: &ResultFile| serde_json::to_string(&file.cells).unwrap().len();
    assert!(first(&after) > first(&before));
    // What stays of a run that is killed between its last line and its cleaning up.
    let left = ["rows", "data", "logs"].map(|folder| place.path("out").join(folder));
    left.iter().for_each(|folder| std::fs::create_dir_all(folder).unwrap());
    place.embermark(&["run", "--resume", "out"]).with(0).saying(&["was complete"]);
    assert!(left.iter().all(|folder| !folder.exists()));
    place.embermark(&["run", "--resume", "out", "--out", "x"]).with(2);
    place.embermark(&["run", "--resume", "nowhere"]).with(2).saying(&["--resume"]);
}
