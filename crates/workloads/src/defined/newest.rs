//! The newest rows of each value of a column, in client code.

use std::collections::HashMap;

use embermark_model::fingerprint::{Checksum, Fingerprint};
use embermark_model::table::Value;

use super::port::fingerprint;

/// Keeps the newest of rows as they come; of the same time all.
#[derive(Default)]
pub(super) struct Newest(HashMap<u64, (i64, Checksum)>);

impl Newest {
    /// Adds a row. One whose value or time is absent is none of any value's.
    #[inline]
    pub(super) fn add(&mut self, of: Value<'_>, time: Value<'_>, row: Fingerprint) {
        let Value::Int(time) = time else { return };
        if of == Value::Null {
            return;
        }
        let newest = self.0.entry(fingerprint([of]).bits());
        let (at, rows) = newest.or_insert((i64::MIN, Checksum::default()));
        if time > *at {
            (*at, *rows) = (time, Checksum::default());
        }
        if time == *at {
            *rows += row;
        }
    }

    /// All that are the newest.
    pub(super) fn rows(self) -> Checksum {
        let mut all = Checksum::default();
        self.0.into_values().for_each(|(_, rows)| all += rows);
        all
    }
}
