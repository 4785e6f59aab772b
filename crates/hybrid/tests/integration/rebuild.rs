//! A mirror that is damaged, of another state or of another meaning is rebuilt, which is reported.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::common::{
    THINGS, Things, as_store, close, collecting_events, front, key, open, options, pairs, put,
    rows, value,
};
use embermark_contract::kv::mirror::{Decode, Row};
use embermark_contract::kv::{KvStore, Range, TableDef};
use embermark_contract::{Scope, Store, sql};
use embermark_hybrid::Options;

/// A hybrid with this number of rows that was closed with its mirror open.
fn filled(folder: &Path, options: &Options, rows_there: u32) {
    let (mut hybrid, table) = open(folder, options.clone());
    as_store(&mut hybrid)
        .within(Scope::Batch, |batch| {
            (0..rows_there).try_for_each(|place| {
                batch.put(table, &key(1, place), &value(i64::from(place) + 1, "a word of it"))
            })
        })
        .unwrap();
    assert_eq!(rows(&mut hybrid).len(), rows_there as usize);
    close(hybrid);
}

/// The mirror's file.
fn file(folder: &Path) -> PathBuf {
    let mirrors = fs::read_dir(folder.join("mirror")).unwrap().flatten();
    let mut mirrors = mirrors.filter(|e| e.file_name().to_string_lossy().starts_with("mirror-"));
    mirrors.next().unwrap().path().join("embermark.duckdb")
}

/// Checks that the effect of `harm` on the mirror's file is reported with `words`, and that no row
/// is missing afterwards.
fn is_rebuilt(harm: impl FnOnce(&Path), words: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (options, events) = collecting_events(folder.path());
    filled(folder.path(), &options, 20_000);
    harm(&file(folder.path()));
    let (mut hybrid, table) = open(folder.path(), options);
    let (sql, _) = hybrid.mirror().unwrap().sql().unwrap();
    let all = sql.prepare("SELECT SUM(amount), MAX(word) FROM things").unwrap();
    if let Err(error) = sql.query(all, &[], &mut |_| Ok(())) {
        assert!(hybrid.mirror().unwrap().failed(&error).unwrap(), "{error}");
    }
    assert_eq!(rows(&mut hybrid), pairs(&mut hybrid, table));
    close(hybrid);
    let events = events.lock().unwrap();
    assert!(events.len() == 1 && events[0].contains(words), "{events:?}");
}

#[test]
fn a_file_that_is_cut_short() {
    is_rebuilt(|file| fs::write(file, &fs::read(file).unwrap()[..5_000]).unwrap(), "rebuilt");
}

#[test]
fn a_file_that_is_another() {
    is_rebuilt(|file| fs::write(file, b"no database").unwrap(), "cannot be opened");
}

#[test]
fn bytes_changed_in_the_middle_of_its_rows() {
    let harm = |file: &Path| {
        let mut bytes = fs::read(file).unwrap();
        // After the headers, whose damage shows when it is opened.
        for at in (3 * 4096..bytes.len()).step_by(512) {
            bytes[at] ^= 0x55;
        }
        fs::write(file, bytes).unwrap();
    };
    is_rebuilt(harm, "rebuilt");
}

#[test]
fn a_file_of_an_earlier_state_of_the_front() {
    let folder = tempfile::tempdir().unwrap();
    let (options, events) = collecting_events(folder.path());
    filled(folder.path(), &options, 10);
    let old = fs::read(file(folder.path())).unwrap();
    filled(folder.path(), &options, 20);
    fs::write(file(folder.path()), old).unwrap();
    let (mut hybrid, _) = open(folder.path(), options);
    assert_eq!(rows(&mut hybrid).len(), 20);
    close(hybrid);
    assert!(events.lock().unwrap()[0].contains("does not match the front's state"));
}

#[test]
fn a_mirror_that_was_not_closed() {
    let folder = tempfile::tempdir().unwrap();
    let (options, events) = collecting_events(folder.path());
    let (mut hybrid, table) = open(folder.path(), options.clone());
    put(&mut hybrid, table, &key(1, 1), &value(1, "one")).unwrap();
    assert_eq!(rows(&mut hybrid).len(), 1);
    put(&mut hybrid, table, &key(1, 2), &value(2, "two")).unwrap();
    // Like a program that ends without closing: the front's commits are in its file.
    drop(hybrid);
    let (mut hybrid, _) = open(folder.path(), options);
    assert_eq!(rows(&mut hybrid).len(), 2);
    close(hybrid);
    assert!(events.lock().unwrap()[0].contains("was not closed"));
}

#[test]
fn a_front_without_its_last_commits_and_a_mirror_that_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let (options, events) = collecting_events(folder.path());
    filled(folder.path(), &options, 10);
    let mut store = front("lmdb", folder.path());
    let names = store.table(&TableDef::named("hybrid")).unwrap();
    let stamp = store
        .within(Scope::Snapshot, |stored| Ok(stored.get(names, b"stamp")?.map(<[u8]>::to_vec)))
        .unwrap()
        .unwrap();
    Store::Kv(store).close().unwrap();
    // The mirror's file is written after every change.
    let (mut hybrid, table) = open(folder.path(), Options { write_after: 1, ..options.clone() });
    put(&mut hybrid, table, &key(1, 10), &value(11, "lost")).unwrap();
    assert_eq!(rows(&mut hybrid).len(), 11);
    drop(hybrid);
    // A power cut has undone all that the front did after it was signed.
    let mut store = front("lmdb", folder.path());
    let [names, records, things] =
        ["hybrid", "hybridlog", "things"].map(|name| store.table(&TableDef::named(name)).unwrap());
    store
        .within(Scope::Batch, |batch| {
            let mut later = Vec::new();
            batch.scan(records, Range::default(), &mut |number, _| {
                later.push(number.to_vec());
                ControlFlow::Continue(())
            })?;
            later.iter().try_for_each(|number| batch.delete(records, number).map(drop))?;
            batch.delete(things, &key(1, 10))?;
            batch.put(names, b"stamp", &stamp)
        })
        .unwrap();
    Store::Kv(store).close().unwrap();
    let (mut hybrid, table) = open(folder.path(), options);
    let stored = rows(&mut hybrid);
    assert_eq!((stored.len(), &stored), (10, &pairs(&mut hybrid, table)));
    close(hybrid);
    let events = events.lock().unwrap();
    assert!(events.iter().any(|line| line.contains("does not match the front's state")));
}

/// The same pairs with another meaning.
struct Otherwise;

impl Decode for Otherwise {
    fn rows(&self) -> &sql::TableDef {
        &THINGS
    }

    fn version(&self) -> u32 {
        2
    }

    fn key<'a>(&self, key: &'a [u8], row: &mut Row<'a>) -> Option<()> {
        Things.key(key, row)
    }

    fn value<'a>(&self, value: &'a [u8], row: &mut Row<'a>) -> Option<()> {
        Things.value(value, row)?;
        row[3] = sql::Param::Text("otherwise");
        Some(())
    }
}

#[test]
fn rows_of_another_meaning() {
    let folder = tempfile::tempdir().unwrap();
    let (options, events) = collecting_events(folder.path());
    filled(folder.path(), &options, 10);
    let (mut hybrid, table) = open(folder.path(), options);
    hybrid.mirror().unwrap().show(table, Arc::new(Otherwise)).unwrap();
    assert!(rows(&mut hybrid).values().all(|(_, word)| word == "otherwise"));
    // And back, while it is open.
    hybrid.mirror().unwrap().show(table, Arc::new(Things)).unwrap();
    assert!(rows(&mut hybrid).values().all(|(_, word)| word == "a word of it"));
    close(hybrid);
    assert!(events.lock().unwrap()[0].contains("does not match the front's state"));
}

#[test]
fn a_pair_that_is_no_row_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (mut hybrid, table) = open(folder.path(), options(folder.path()));
    put(&mut hybrid, table, &key(1, 1), &value(1, "one")).unwrap();
    put(&mut hybrid, table, b"odd", b"pair").unwrap();
    let error = hybrid.mirror().unwrap().sql().err().unwrap().to_string();
    assert!(error.contains("things") && error.contains("not a valid row"), "{error}");
    as_store(&mut hybrid).within(Scope::PerOperation, |each| each.delete(table, b"odd")).unwrap();
    assert_eq!(rows(&mut hybrid).len(), 1);
    close(hybrid);
}
