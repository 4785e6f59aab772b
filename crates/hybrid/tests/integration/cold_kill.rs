//! A process that writes, archives and expires is killed at any time. Nothing that it had reported
//! as done is lost or duplicated.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use std::{env, thread};

use crate::common::{Rows, close, key, open, options, pairs, rows, value};
use embermark_contract::kv::Table;
use embermark_hybrid::{Archive, Hybrid};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const FOLDER: &str = "HYBRID_KILLED_FOLDER";
const FROM: &str = "HYBRID_KILLED_FROM";

/// A step, determined by its number. It is done completely or not at all. Archiving and expiring
/// may be done in part.
enum Step {
    Put(Vec<u32>),
    Delete(u32),
    Archive { before: u32, removes_pairs: bool },
    Expire { before: u32 },
    Query,
}

impl Step {
    fn new(number: u32) -> Self {
        let earlier = |spread| number.saturating_sub(number.wrapping_mul(7919) % spread);
        match number {
            _ if number % 200 == 199 => Self::Expire { before: number.saturating_sub(150) },
            _ if number % 60 == 59 => {
                let removes_pairs = !(number / 60).is_multiple_of(3);
                Self::Archive { before: number.saturating_sub(30), removes_pairs }
            }
            _ if number % 35 == 34 => Self::Query,
            _ if number % 5 == 3 => Self::Delete(earlier(100)),
            _ if number % 5 == 4 => Self::Put(vec![number, earlier(90), earlier(170)]),
            _ => Self::Put(vec![number]),
        }
    }

    fn perform(&self, number: u32, hybrid: &mut Hybrid, table: Table) {
        match self {
            Self::Put(places) => hybrid
                .change(|batch| {
                    let value = value(number.into(), "put");
                    places.iter().try_for_each(|place| batch.put(table, &key_of(*place), &value))
                })
                .unwrap(),
            Self::Delete(place) => drop(hybrid.delete(table, &key_of(*place)).unwrap()),
            Self::Archive { before, removes_pairs } => {
                let (removes_pairs, before) = (*removes_pairs, i64::from(*before));
                let what = Archive { time: "place", before, removes_pairs, rows_per_file: 15 };
                hybrid.archive(table, &what).unwrap();
            }
            Self::Expire { before } => drop(hybrid.expire(table, i64::from(*before)).unwrap()),
            Self::Query => drop(rows(hybrid)),
        }
    }

    /// Applies the step to a model of the rows. An expiry raises `floor` instead: rows below it may
    /// be present or not.
    fn model(&self, number: u32, model: &mut Rows, floor: &mut u32) {
        match self {
            Self::Put(places) => {
                let row = (number.into(), "put".to_owned());
                model.extend(places.iter().map(|place| (at(*place), row.clone())));
            }
            Self::Delete(place) => drop(model.remove(&at(*place))),
            Self::Expire { before } => *floor = *before,
            Self::Archive { .. } | Self::Query => {}
        }
    }
}

fn at(place: u32) -> (u16, u32) {
    ((place % 4) as u16, place)
}

fn key_of(place: u32) -> Vec<u8> {
    key(at(place).0, place)
}

/// Runs in the process that is killed, and does nothing in any other.
#[test]
fn child() {
    let (Ok(folder), Ok(from)) = (env::var(FOLDER), env::var(FROM)) else { return };
    let folder = PathBuf::from(folder);
    let (mut hybrid, table) = open(&folder, options(&folder));
    for number in from.parse().unwrap()..u32::MAX {
        Step::new(number).perform(number, &mut hybrid, table);
        // In one write, so that the line is complete or absent.
        std::io::stderr().write_all(format!("did {number}\n").as_bytes()).unwrap();
    }
}

/// Starts a child at step `from` and kills it `after` microseconds after it has reported `steps`
/// steps as done. Returns the last step that it reported.
fn kill(folder: &Path, from: u32, steps: u32, after: u64) -> u32 {
    let mut child = Command::new(env::current_exe().unwrap());
    child
        .args(["--exact", "cold_kill::child", "--nocapture"])
        .env(FOLDER, folder)
        .env(FROM, from.to_string());
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).split(b'\n');
    let (works, is_working) = mpsc::channel();
    let reader = thread::spawn(move || {
        let mut last = from - 1;
        for line in lines.map_while(Result::ok) {
            let line = String::from_utf8(line).unwrap();
            last = line.strip_prefix("did ").unwrap_or_else(|| panic!("{line}")).parse().unwrap();
            let _ = works.send(());
        }
        last
    });
    for _ in 0..steps {
        is_working.recv_timeout(Duration::from_secs(300)).unwrap();
    }
    thread::sleep(Duration::from_micros(after));
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap()
}

#[test]
fn nothing_acknowledged_is_lost_or_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let (mut model, mut floor, mut next) = (Rows::new(), 0, 1);
    let is_long = embermark_skips::is_long();
    let (kills, steps) = if is_long { (20, 1000) } else { (10, 400) };
    for _ in 0..kills {
        let last =
            kill(folder.path(), next, random.random_range(1..150), random.random_range(0..5_000));
        (next..=last).for_each(|number| Step::new(number).model(number, &mut model, &mut floor));
        // The step after it was done or not.
        let mut after = model.clone();
        Step::new(last + 1).model(last + 1, &mut after, &mut floor);
        let (mut hybrid, table) = open(folder.path(), options(folder.path()));
        let (rows, pairs) = (rows(&mut hybrid), pairs(&mut hybrid, table));
        let fits = |model: &Rows| {
            let is_known = |(at, row): (&(u16, u32), _)| model.get(at) == Some(row);
            let mut wanted = model.iter().filter(|(at, _)| at.1 >= floor);
            rows.iter().all(is_known)
                && pairs.iter().all(is_known)
                && wanted.all(|(at, _)| rows.contains_key(at))
        };
        if fits(&after) {
            model = after;
        } else {
            assert!(fits(&model), "after {last}: {rows:?} are not {model:?} from {floor} on");
        }
        next = last + 2;
        let files = std::fs::read_dir(folder.path().join("mirror-cold")).into_iter().flatten();
        assert!(files.flatten().all(|file| !file.file_name().to_string_lossy().ends_with(".part")));
        close(hybrid);
    }
    assert!(next > steps, "{next} steps in all");
    let (mut hybrid, table) = open(folder.path(), options(folder.path()));
    hybrid.expire(table, i64::MAX).unwrap();
    assert_eq!((rows(&mut hybrid), pairs(&mut hybrid, table)), (Rows::new(), Rows::new()));
    assert_eq!(std::fs::read_dir(folder.path().join("mirror-cold")).unwrap().count(), 0);
    close(hybrid);
}
