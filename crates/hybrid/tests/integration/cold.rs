//! Archived rows answer queries as before, whatever happens to their keys afterwards.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use crate::common::{
    Rows, as_store, close, collecting_events, front, key, open, options, pairs, rows, value,
};
use embermark_contract::kv::{Range, TableDef};
use embermark_contract::sql::Param;
use embermark_contract::{Scope, Store};
use embermark_hybrid::{Archive, Expired, Hybrid, Options};

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder.join("mirror-cold")).map_or(0, Iterator::count)
}

fn filled(folder: &Path) -> (Hybrid, embermark_contract::kv::Table, Rows) {
    let (mut hybrid, table) = open(folder, options(folder));
    let mut model = Rows::new();
    for group in 0..3 {
        for place in 0..20 {
            hybrid.put(table, &key(group, place), &value(5, "old")).unwrap();
            model.insert((group, place), (5, "old".to_owned()));
        }
    }
    (hybrid, table, model)
}

#[test]
fn rows_that_left_answer_questions_and_are_no_pairs() {
    let folder = tempfile::tempdir().unwrap();
    let (mut hybrid, table, mut model) = filled(folder.path());
    let what = Archive { rows_per_file: 7, ..Archive::moving("place", 10) };
    let done = hybrid.archive(table, &what).unwrap();
    assert_eq!((done.rows, done.chunks, files(folder.path())), (30, 5, 5));
    assert!(done.bytes > 0);
    assert_eq!(rows(&mut hybrid), model);
    assert_eq!(pairs(&mut hybrid, table).len(), 30);
    assert_eq!(hybrid.get(table, &key(0, 9)).unwrap(), None);
    // A late row, one that is deleted although it is not a pair, and one that comes back.
    hybrid.put(table, &key(0, 3), &value(7, "late")).unwrap();
    model.insert((0, 3), (7, "late".to_owned()));
    assert!(!hybrid.delete(table, &key(1, 3)).unwrap());
    model.remove(&(1, 3));
    assert_eq!(rows(&mut hybrid), model);
    assert!(hybrid.delete(table, &key(0, 3)).unwrap());
    model.remove(&(0, 3));
    hybrid.put(table, &key(1, 3), &value(8, "again")).unwrap();
    model.insert((1, 3), (8, "again".to_owned()));
    assert_eq!(rows(&mut hybrid), model);
    let done = hybrid.archive(table, &what).unwrap();
    assert_eq!((done.rows, done.chunks), (1, 1));
    assert_eq!(rows(&mut hybrid), model);
    assert_eq!(hybrid.archive(table, &what).unwrap().chunks, 0);
    // A rebuilt mirror knows them, and so does one that is reopened.
    close(hybrid);
    std::fs::remove_dir_all(folder.path().join("mirror")).unwrap();
    for _ in 0..2 {
        let (mut hybrid, _) = open(folder.path(), options(folder.path()));
        assert_eq!(rows(&mut hybrid), model);
        close(hybrid);
    }
    let (mut hybrid, table) = open(folder.path(), options(folder.path()));
    let expired = hybrid.expire(table, 15).unwrap();
    assert_eq!(expired, Expired { pairs: 15, chunks: 6, rows: 31 });
    model.retain(|(_, place), _| *place >= 15);
    assert_eq!(rows(&mut hybrid), model);
    assert_eq!(files(folder.path()), 0);
    close(hybrid);
}

#[test]
fn rows_that_stay_are_pairs_too() {
    let folder = tempfile::tempdir().unwrap();
    let (mut hybrid, table, mut model) = filled(folder.path());
    let what = Archive { rows_per_file: 7, ..Archive::copying("place", 10) };
    assert_eq!(hybrid.archive(table, &what).unwrap().rows, 30);
    assert_eq!(rows(&mut hybrid), model);
    assert_eq!(pairs(&mut hybrid, table), model);
    hybrid.put(table, &key(0, 3), &value(7, "late")).unwrap();
    model.insert((0, 3), (7, "late".to_owned()));
    assert!(hybrid.delete(table, &key(1, 3)).unwrap());
    model.remove(&(1, 3));
    assert_eq!(rows(&mut hybrid), model);
    assert_eq!(hybrid.archive(table, &what).unwrap().rows, 1);
    assert_eq!(rows(&mut hybrid), model);
    close(hybrid);
    std::fs::remove_dir_all(folder.path().join("mirror")).unwrap();
    let (mut hybrid, table) = open(folder.path(), options(folder.path()));
    assert_eq!(rows(&mut hybrid), model);
    assert_eq!(hybrid.archive(table, &what).unwrap().rows, 0);
    assert_eq!(hybrid.expire(table, 10).unwrap().pairs, 29);
    model.retain(|(_, place), _| *place >= 10);
    assert_eq!(rows(&mut hybrid), model);
    assert_eq!(pairs(&mut hybrid, table), model);
    close(hybrid);
}

#[test]
fn an_export_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let (mut hybrid, table, model) = filled(folder.path());
    hybrid.archive(table, &Archive::moving("place", 5)).unwrap();
    let file = folder.path().join("all 'of' them.parquet");
    assert_eq!(hybrid.export("SELECT * FROM things", &file).unwrap(), model.len() as u64);
    assert!(hybrid.export("SELECT * FROM nothing", &file).is_err());
    let path = file.to_str().unwrap();
    let mut read = BTreeMap::new();
    let all = "SELECT grp, place, amount, word FROM read_parquet(?)";
    hybrid
        .query(all, &[Param::Text(path)], &mut |row| {
            let key = (row.int(0)?.unwrap() as u16, row.int(1)?.unwrap() as u32);
            read.insert(key, (row.int(2)?.unwrap_or(0), row.text(3)?.unwrap().to_owned()));
            Ok(())
        })
        .unwrap();
    assert_eq!(read, model);
    close(hybrid);
}

#[test]
fn files_of_no_chunk_are_removed_and_one_that_is_missing_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (mut hybrid, table, model) = filled(folder.path());
    hybrid.archive(table, &Archive::moving("place", 5)).unwrap();
    close(hybrid);
    let cold = folder.path().join("mirror-cold");
    let [known] = &std::fs::read_dir(&cold).unwrap().flatten().collect::<Vec<_>>()[..] else {
        panic!("one chunk")
    };
    std::fs::write(cold.join("things-00000007-0000.parquet"), "of a run that was not done")
        .unwrap();
    std::fs::write(cold.join("things-00000007-0001.parquet.part"), "half of").unwrap();
    let (noted, events) = collecting_events(folder.path());
    let (mut hybrid, _) = open(folder.path(), noted.clone());
    assert_eq!(events.lock().unwrap().len(), 2, "{events:?}");
    assert_eq!((rows(&mut hybrid), files(folder.path())), (model, 1));
    close(hybrid);
    std::fs::rename(known.path(), folder.path().join("elsewhere")).unwrap();
    let error = Hybrid::open(front("lmdb", folder.path()), noted).err().unwrap();
    let error = error.to_string();
    assert!(error.contains(known.path().to_str().unwrap()) && error.contains("15 rows"), "{error}");
}

#[test]
fn the_folder_may_have_moved() {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (folder.path().join("before"), folder.path().join("after"));
    std::fs::create_dir(&before).unwrap();
    let (mut hybrid, table, model) = filled(&before);
    hybrid.archive(table, &Archive::moving("place", 5)).unwrap();
    close(hybrid);
    std::fs::rename(&before, &after).unwrap();
    let (mut hybrid, _) = open(&after, options(&after));
    assert_eq!(rows(&mut hybrid), model);
    close(hybrid);
}

#[test]
fn expired_pairs_are_transferred_before_their_records_exceed_the_limit() {
    const PAIRS: u32 = 25_000;
    let folder = tempfile::tempdir().unwrap();
    let options = Options { log_limit: 1_000, ..options(folder.path()) };
    let (mut hybrid, table) = open(folder.path(), options);
    as_store(&mut hybrid)
        .within(Scope::Batch, |batch| {
            (0..PAIRS).try_for_each(|place| batch.put(table, &key(1, place), &value(1, "old")))
        })
        .unwrap();
    // It names the time column.
    hybrid.archive(table, &Archive::copying("place", 0)).unwrap();
    let expired = hybrid.expire(table, PAIRS.into()).unwrap();
    assert_eq!(expired, Expired { pairs: PAIRS.into(), ..Expired::default() });
    assert_eq!(rows(&mut hybrid).len(), 0);
    drop(hybrid);
    let mut store = front("lmdb", folder.path());
    let records = store.table(&TableDef::named("hybridlog")).unwrap();
    let mut bytes = 0;
    store
        .within(Scope::Snapshot, |stored| {
            stored.scan(records, Range::default(), &mut |_, record| {
                bytes += record.len();
                ControlFlow::Continue(())
            })
        })
        .unwrap();
    Store::Kv(store).close().unwrap();
    // Only the last transaction's record is left, of the keys of three.
    assert!((1..150_000).contains(&bytes), "{bytes}");
}
