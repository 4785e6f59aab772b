//! The changes in the front since a change record.

use std::ops::ControlFlow;

use embermark_contract::Result;
use embermark_contract::kv::{Operations, Range, Table};

use crate::change_log::{self, Change};

/// The changes of consecutive change records.
#[derive(Default)]
pub(crate) struct Changes {
    /// Number of the last record.
    pub last_record: u64,
    /// Bit mask of the tables that have changed as a whole.
    pub whole_tables: u64,
    bytes: Vec<u8>,
    /// Table, offset in `bytes`, and length of each key.
    keys: Vec<(u8, u32, u16)>,
}

impl Changes {
    /// Reads the changes after a record.
    pub fn after(snapshot: &mut dyn Operations, records: Table, applied: u64) -> Result<Self> {
        let mut found = Self { last_record: applied, ..Self::default() };
        let from = change_log::key(applied + 1);
        snapshot.scan(records, Range::between(&from, None), &mut |key, record| {
            found.last_record = change_log::number(key);
            change_log::changes(record).for_each(|change| found.add(change));
            ControlFlow::Continue(())
        })?;
        let Self { whole_tables, bytes, keys, .. } = &mut found;
        keys.retain(|(table, _, _)| *whole_tables >> table & 1 == 0);
        let sort_key = |&(table, start, length): &(u8, u32, u16)| {
            (table, &bytes[start as usize..start as usize + usize::from(length)])
        };
        keys.sort_unstable_by(|a, b| sort_key(a).cmp(&sort_key(b)));
        keys.dedup_by(|a, b| sort_key(a) == sort_key(b));
        Ok(found)
    }

    fn add(&mut self, change: Change<'_>) {
        match change {
            Change::All(table) => self.whole_tables |= 1 << table,
            Change::Key(table, key) => {
                // More than 4 GiB of keys: their tables are transferred as a whole.
                let Ok(start) = u32::try_from(self.bytes.len()) else {
                    return self.whole_tables |= 1 << table;
                };
                self.keys.push((table, start, key.len() as u16));
                self.bytes.extend_from_slice(key);
            }
        }
    }

    pub fn key(&self, &(_, start, length): &(u8, u32, u16)) -> &[u8] {
        &self.bytes[start as usize..start as usize + usize::from(length)]
    }

    /// Returns the changed keys of a table, in order.
    pub fn keys_of_table(&self, table: u8) -> &[(u8, u32, u16)] {
        let start = self.keys.partition_point(|(of, _, _)| *of < table);
        let end = self.keys.partition_point(|(of, _, _)| *of <= table);
        &self.keys[start..end]
    }
}
