//! Several clients at once: each query sees every commit that was acknowledged before it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::common::{
    as_store, close, front, key, open, open_client, options, pairs, rows, show, value,
};
use embermark_contract::{ClientOpener, Lifecycle, Result, Scope, Store};
use embermark_hybrid::Hybrid;

const WRITERS: u16 = 3;
const BATCHES: u32 = 60;

/// Writes batches of ten rows, and publishes the number of rows after each batch.
fn write(opener: ClientOpener, group: u16, written: &AtomicU64) -> Result<()> {
    let (mut store, table) = open_client(opener);
    for batch in 0..BATCHES {
        store.within(Scope::Batch, |operations| {
            (0..10).try_for_each(|row| {
                operations.put(table, &key(group, batch * 10 + row), &value(1, "w"))
            })
        })?;
        written.fetch_add(10, Ordering::SeqCst);
    }
    Store::Kv(store).close()
}

/// Counts the rows by SQL until all exist. Fails if a count has fewer rows than were acknowledged,
/// or part of a batch.
fn ask(opener: ClientOpener, written: &AtomicU64) -> Result<()> {
    let (mut store, _) = open_client(opener);
    let mut number = None;
    let mut count = None;
    loop {
        let before = written.load(Ordering::SeqCst);
        let (sql, now) = store.mirror().unwrap().sql()?;
        if number != Some(now) {
            count = Some(sql.prepare("SELECT COUNT(*) FROM things")?);
            number = Some(now);
        }
        let mut found = 0;
        sql.query(count.unwrap(), &[], &mut |row| {
            found = row.int(0)?.unwrap() as u64;
            Ok(())
        })?;
        assert!(found >= before, "{found} rows seen, {before} were acknowledged before");
        assert_eq!(found % 10, 0, "part of a batch");
        if found == u64::from(WRITERS) * u64::from(BATCHES) * 10 {
            return Store::Kv(store).close();
        }
    }
}

fn see_everything(refresh_every: Option<Duration>) {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path());
    options.refresh_every = refresh_every;
    options.write_after = 100;
    let (mut hybrid, table) = open(folder.path(), options);
    let written = AtomicU64::new(0);
    let mut openers: Vec<_> = (0..WRITERS + 2).map(|_| hybrid.open_client().unwrap()).collect();
    std::thread::scope(|threads| {
        for group in 0..WRITERS {
            let (opener, written) = (openers.pop().unwrap(), &written);
            threads.spawn(move || write(opener, group, written).unwrap());
        }
        for opener in openers {
            let written = &written;
            threads.spawn(move || ask(opener, written).unwrap());
        }
    });
    assert_eq!(rows(&mut hybrid), pairs(&mut hybrid, table));
    // With one client again, and maintained.
    hybrid.maintain().unwrap();
    as_store(&mut hybrid).clear(table).unwrap();
    assert_eq!(rows(&mut hybrid).len(), 0);
    close(hybrid);
}

#[test]
fn questions_see_what_was_acknowledged() {
    see_everything(None);
}

#[test]
fn they_do_with_a_refresh_in_the_background() {
    see_everything(Some(Duration::from_millis(1)));
}

#[test]
fn a_program_in_another_language_opens_the_front_until_a_table_is_mirrored() {
    let folder = tempfile::tempdir().unwrap();
    let front = front("lmdb", folder.path());
    let mut hybrid = Hybrid::open(front, options(folder.path())).unwrap();
    let connection = hybrid.connection().unwrap();
    let dir = connection.iter().find(|(name, _)| *name == "dir").map(|(_, value)| &**value);
    assert!(dir.is_some_and(|dir| dir.ends_with("front")), "{dir:?}");
    show(&mut hybrid);
    let refused = hybrid.connection().unwrap_err();
    assert!(refused.is_unsupported() && refused.to_string().contains("mirror"), "{refused}");
    close(hybrid);
}
