//! Finds the newest rows of each value of a column in client code.

use std::collections::HashMap;

use embermark_model::fingerprint::{Checksum, Fingerprint};
use embermark_model::table::Value;

use super::port::fingerprint;

/// Keeps the newest rows, and all of them if several have the same time.
#[derive(Default)]
pub(super) struct LatestRows(HashMap<u64, (i64, Checksum)>);

impl LatestRows {
    /// Adds a row. A row with an absent value or time does not count.
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

    /// Returns the newest rows.
    pub(super) fn rows(self) -> Checksum {
        self.0.into_values().map(|(_, rows)| rows).collect()
    }
}
