//! While one client archives, another writes and a third queries.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Rows, close, key, open, open_client, options, rows, value};
use embermark_contract::{ClientOpener, Lifecycle, Scope};
use embermark_hybrid::Archive;

const GROUPS: u16 = 4;
const PLACES: u32 = 200;

/// Changes existing rows by single operations and by transactions. The number of rows stays the
/// same. Returns the last written row of each key.
fn write(opener: ClientOpener, is_done: &AtomicBool) -> Rows {
    let (mut store, table) = open_client(opener);
    let mut written = Rows::new();
    for turn in 1_i64.. {
        if is_done.load(Ordering::Acquire) {
            break;
        }
        let at = |step: u32| ((turn % 4) as u16, (turn as u32).wrapping_mul(7919) % PLACES + step);
        let scope = if turn % 3 == 0 { Scope::PerOperation } else { Scope::Batch };
        let places = (0..turn as u32 % 3 + 1).map(at).filter(|(_, place)| *place < PLACES);
        store
            .within(scope, |operations| {
                places.clone().try_for_each(|(group, place)| {
                    let bytes = key(group, place);
                    if turn % 5 == 0 && scope == Scope::Batch {
                        operations.delete(table, &bytes)?;
                    }
                    operations.put(table, &bytes, &value(turn, "written"))
                })
            })
            .unwrap();
        written.extend(places.map(|at| (at, (turn, "written".to_owned()))));
        // So that not every row changes during every run.
        thread::sleep(Duration::from_micros(500));
    }
    written
}

/// Queries the number of rows and of keys, and fails if they differ.
fn ask(opener: ClientOpener, is_done: &AtomicBool, asked: &AtomicU64) {
    let (mut store, _) = open_client(opener);
    let (mut known, mut statement) = (0, None);
    while !is_done.load(Ordering::Acquire) {
        let (sql, number) = store.mirror().unwrap().sql().unwrap();
        if number != known {
            statement = None;
            known = number;
        }
        let text = "SELECT COUNT(*), COUNT(DISTINCT grp * 1000000 + place) FROM things";
        let statement = *statement.get_or_insert_with(|| sql.prepare(text).unwrap());
        let mut counts = [0; 2];
        sql.query(statement, &[], &mut |row| {
            counts = [row.int(0)?.unwrap(), row.int(1)?.unwrap()];
            Ok(())
        })
        .unwrap();
        assert_eq!(counts, [i64::from(GROUPS) * i64::from(PLACES); 2]);
        asked.fetch_add(1, Ordering::AcqRel);
    }
}

fn every_row_is_there_once(removes_pairs: bool, background: bool) {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path());
    if background {
        options.refresh_every = Some(Duration::from_millis(1));
    }
    let (mut hybrid, table) = open(folder.path(), options.clone());
    let mut model = Rows::new();
    for at in (0..GROUPS).flat_map(|group| (0..PLACES).map(move |place| (group, place))) {
        hybrid.put(table, &key(at.0, at.1), &value(-1, "first")).unwrap();
        model.insert(at, (-1, "first".to_owned()));
    }
    hybrid.refresh().unwrap();
    let (is_done, asked) = (AtomicBool::new(false), AtomicU64::new(0));
    let (mut runs, mut archived) = (0, 0);
    let [writer, asker] = [hybrid.open_client().unwrap(), hybrid.open_client().unwrap()];
    thread::scope(|scope| {
        let writer = scope.spawn(|| write(writer, &is_done));
        scope.spawn(|| ask(asker, &is_done, &asked));
        let began = Instant::now();
        let longest = if embermark_skips::is_long() { 2_000 } else { 600 };
        while began.elapsed() < Duration::from_millis(longest) || runs < 5 {
            let before = if runs % 2 == 0 { 120 } else { 60 };
            let what = Archive { time: "place", before, removes_pairs, rows_per_file: 50 };
            archived += hybrid.archive(table, &what).unwrap().rows;
            runs += 1;
        }
        is_done.store(true, Ordering::Release);
        model.extend(writer.join().unwrap());
    });
    assert!(archived > 0 && asked.load(Ordering::Acquire) > 0, "{archived} {runs} {asked:?}");
    assert_eq!(rows(&mut hybrid), model);
    close(hybrid);
    std::fs::remove_dir_all(folder.path().join("mirror")).unwrap();
    let (mut hybrid, _) = open(folder.path(), options);
    assert_eq!(rows(&mut hybrid), model);
    close(hybrid);
}

#[test]
fn every_row_is_there_once_where_pairs_leave() {
    every_row_is_there_once(true, false);
}

#[test]
fn every_row_is_there_once_where_pairs_stay() {
    every_row_is_there_once(false, true);
}
