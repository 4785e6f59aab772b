//! LevelDB's own check.

use std::path::Path;
use std::sync::Arc;

use super::ID;
use super::db::{self, Db, Options};
use crate::lsm::check::record_damage;
use crate::{Checked, EngineError, Result};

/// Reads every pair with its checksum, from a database opened with `paranoid_checks`
/// (<https://github.com/google/leveldb/blob/main/doc/index.md#checksums>). The database is closed
/// and reopened for that, because its cache was by default read without checksums.
pub(super) fn verify(open: &mut Option<Arc<Db>>) -> Result<Checked> {
    const DOING: &str = "check the database";
    let is_sole_client = open.as_mut().is_some_and(|db| Arc::get_mut(db).is_some());
    let Some(db) = open.take_if(|_| is_sole_client) else {
        return Err(EngineError::failed(ID, DOING, "another client has it open, or it is closed"));
    };
    let (folder, options) = (db.own.folder.clone(), db.own.options);
    drop(db);
    let mut checked = Checked::new("a scan with verify_checksums and paranoid_checks");
    let read = read(&folder, options, &mut checked);
    let read = record_damage(read, &mut checked);
    *open = Some(db::open(&folder, options)?.into());
    read.map(|()| checked)
}

fn read(folder: &Path, options: Options, checked: &mut Checked) -> Result<()> {
    let db = db::open(folder, Options { paranoid: true, ..options })?;
    db.iter(&db.verifying_read_options()).verify(checked)
}
