use std::fs::File;
use std::path::Path;

use embermark_model::Durability;

use super::*;
use crate::firebird::{FILE, Firebird};
use crate::{Engine, OpenOptions, Store};

/// Opens the database of a folder and closes it.
fn opened(dir: &Path) -> Result<()> {
    let options = OpenOptions::new(dir, Durability::Process, 16 << 20);
    let Store::Sql(store) = Firebird.open(&options)?.store else { panic!("it answers SQL") };
    store.close()
}

#[test]
fn a_file_that_is_locked_for_a_moment_more_is_waited_for_and_one_that_stays_locked_is_told() {
    if !embermark_skips::is_here(&Firebird) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    opened(dir.path()).unwrap();
    let lock = File::open(dir.path().join(FILE)).unwrap();
    lock.lock().unwrap();
    let error = opened(dir.path()).unwrap_err().to_string();
    assert!(error.contains("already opened") && error.contains(FILE), "{error}");
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(100));
            lock.unlock().unwrap();
        });
        opened(dir.path()).unwrap();
    });
}
