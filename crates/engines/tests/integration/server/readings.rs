//! Readings in an SQL table.

use std::thread::sleep;
use std::time::{Duration, Instant};

use embermark_engines::Result;
use embermark_engines::sql::{Nullable, Param, Rows, SqlStore, SqlType, TableDef};
use embermark_model::Durability;
use tempfile::TempDir;

use super::ServerEngine;

pub const TABLE: TableDef = TableDef {
    name: "readings",
    columns: &[
        ("sensor", SqlType::Int, Nullable::No),
        ("ts", SqlType::Big, Nullable::No),
        ("value", SqlType::Double, Nullable::Yes),
        ("note", SqlType::Text, Nullable::Yes),
    ],
    key: &["sensor", "ts"],
};

pub fn create(store: &mut dyn SqlStore) {
    let create = store.dialect().create_table(&TABLE);
    store.batch(&create).unwrap();
}

/// Checks one topic on a server with the table, in its folder.
pub type Check = fn(&mut dyn SqlStore, &TempDir);

impl ServerEngine {
    /// Checks topics one after another on one server with the table. Each leaves it running.
    pub fn each_on_one(self, durability: Durability, topics: &[(&str, Check)]) {
        let Some((dir, mut store)) = self.readings(durability) else { return };
        for (topic, check) in topics {
            eprintln!("{}, tier {durability}: {topic}", self.0);
            check(&mut *store, &dir);
        }
        store.close().unwrap();
    }

    /// Returns the store of a private server, with the table in it.
    pub fn readings(self, durability: Durability) -> Option<(TempDir, Box<dyn SqlStore>)> {
        let (dir, mut store) = self.sql(durability)?;
        create(&mut *store);
        Some((dir, store))
    }
}

/// Returns the integer of the last row, or `None` without a row.
pub fn one_int(store: &mut dyn SqlStore, sql: &str) -> Result<Option<i64>> {
    let statement = store.prepare(sql)?;
    let mut found = None;
    store.query(statement, &[], &mut |row| {
        found = row.int(0)?;
        Ok(())
    })?;
    Ok(found)
}

/// Rows (0, 0), (0, 1) …, with a NULL in every third.
pub struct Made {
    pub next: i64,
    pub end: i64,
    row: [Param<'static>; 4],
}

pub fn made(rows: std::ops::Range<i64>) -> Made {
    Made { next: rows.start, end: rows.end, row: [Param::Null; 4] }
}

impl Rows for Made {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        (self.next < self.end).then(|| {
            let n = self.next;
            self.next += 1;
            let value = if n % 3 == 0 { Param::Null } else { Param::Float(n as f64 / 4.0) };
            self.row = [Param::Int(n / 1000), Param::Int(n), value, Param::Text("grün")];
            &self.row[..]
        })
    }
}

/// Makes the server write a checkpoint after a change, and waits until the server has counted it,
/// which can be a moment after it ends.
pub fn counts_checkpoints(store: &mut dyn SqlStore, checkpoint: &str) {
    let before = store.checkpoints().unwrap().unwrap();
    store.bulk_insert(&TABLE, &mut made(0..100)).unwrap();
    store.batch(checkpoint).unwrap();
    let deadline = Instant::now() + Duration::from_secs(300);
    while store.checkpoints().unwrap() <= Some(before) {
        assert!(Instant::now() < deadline, "the checkpoint was never counted");
        sleep(Duration::from_millis(10));
    }
}
