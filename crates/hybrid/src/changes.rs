//! The changes in the front after a record.

use std::ops::ControlFlow;

use embermark_contract::Result;
use embermark_contract::kv::{Operations, Range, Table};

use crate::log::{self, Change};

/// The changes of some records.
#[derive(Default)]
pub(crate) struct Changes {
    /// The newest record.
    pub newest: u64,
    /// A bit for each table that has changed as a whole.
    pub all: u64,
    bytes: Vec<u8>,
    /// Keys: their table and position.
    keys: Vec<(u8, u32, u16)>,
}

impl Changes {
    /// Reads the changes after a record.
    pub(crate) fn after(
        snapshot: &mut dyn Operations,
        records: Table,
        applied: u64,
    ) -> Result<Self> {
        let mut found = Self { newest: applied, ..Self::default() };
        let from = log::key(applied + 1);
        snapshot.scan(records, Range::between(&from, None), &mut |key, record| {
            found.newest = log::number(key);
            log::changes(record).for_each(|change| found.add(change));
            ControlFlow::Continue(())
        })?;
        let Self { all, bytes, keys, .. } = &mut found;
        keys.retain(|(table, _, _)| *all >> table & 1 == 0);
        let of = |&(table, start, length): &(u8, u32, u16)| {
            (table, &bytes[start as usize..start as usize + usize::from(length)])
        };
        keys.sort_unstable_by(|a, b| of(a).cmp(&of(b)));
        keys.dedup_by(|a, b| of(a) == of(b));
        Ok(found)
    }

    fn add(&mut self, change: Change<'_>) {
        match change {
            Change::All(table) => self.all |= 1 << table,
            Change::Key(table, key) => {
                // More than 4 GiB of keys: their tables are transferred as a whole.
                let Ok(start) = u32::try_from(self.bytes.len()) else {
                    return self.all |= 1 << table;
                };
                self.keys.push((table, start, key.len() as u16));
                self.bytes.extend_from_slice(key);
            }
        }
    }

    pub(crate) fn key(&self, &(_, start, length): &(u8, u32, u16)) -> &[u8] {
        &self.bytes[start as usize..start as usize + usize::from(length)]
    }

    /// Returns the changed keys of a table, in order.
    pub(crate) fn of(&self, table: u8) -> &[(u8, u32, u16)] {
        let start = self.keys.partition_point(|(of, _, _)| *of < table);
        let end = self.keys.partition_point(|(of, _, _)| *of <= table);
        &self.keys[start..end]
    }
}
