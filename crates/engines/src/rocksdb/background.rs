//! Flushes, compactions, and write stalls, from the library's properties
//! (<https://github.com/facebook/rocksdb/blob/main/include/rocksdb/db.h>, `DB::Properties`).

use std::ffi::CStr;
use std::sync::Arc;

use super::family::Family;
use crate::Background;

/// Properties of the whole database, from any of its column families.
const OF_ALL: [(&str, &CStr); 4] = [
    ("compactions running", c"rocksdb.num-running-compactions"),
    ("flushes running", c"rocksdb.num-running-flushes"),
    ("writes stopped", c"rocksdb.is-write-stopped"),
    ("writes slowed to so many bytes a second", c"rocksdb.actual-delayed-write-rate"),
];

/// A property of each column family, summed.
const IMMUTABLE: (&str, &CStr) = ("memtables to be flushed", c"rocksdb.num-immutable-mem-table");

/// A property that counts full memtables, finished flushes, and finished compactions.
const VERSIONS: (&str, &CStr) =
    ("memtables filled, flushes and compactions ended", c"rocksdb.current-super-version-number");

pub(super) fn read(tables: &[Arc<Family>], into: &mut Vec<Background>) {
    let Some(first) = tables.first() else { return };
    let sum = |property| tables.iter().map(|table| table.number(property)).sum();
    into.extend(OF_ALL.map(|(name, property)| Background::state(name, first.number(property))));
    into.push(Background::state(IMMUTABLE.0, sum(IMMUTABLE.1)));
    into.push(Background::count(VERSIONS.0, sum(VERSIONS.1)));
}
