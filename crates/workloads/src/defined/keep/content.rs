//! Compares the whole content of a table with its expected rows.

use std::collections::HashMap;
use std::ops::Range;

use embermark_model::answer::Difference;
use embermark_model::table::Value;

use super::super::port::fingerprint;
use super::super::row::Values;
use super::super::table_rows::Rows;

/// Compares every row with the expected one: none is missing, none is extra, and each is right.
pub(in super::super) struct Content<'a> {
    rows: &'a Rows,
    /// Positions of the rows that were not seen, by the fingerprint of their key.
    unseen: HashMap<u64, usize>,
    first: Option<String>,
}

impl<'a> Content<'a> {
    /// Creates the comparison with these rows.
    pub(in super::super) fn new(rows: &'a Rows, there: Range<usize>) -> Self {
        let unseen = there.map(|place| (fingerprint(rows.key(place)).bits(), place)).collect();
        Self { rows, unseen, first: None }
    }

    /// Takes a row of the table.
    pub(in super::super) fn see(&mut self, got: &[Value<'_>]) {
        let key = self.rows.table.key.iter().map(|column| got[*column]);
        let what = match self.unseen.remove(&fingerprint(key).bits()) {
            None => Some(format!("an unexpected or duplicate row: {got:?}")),
            Some(place) => {
                let right: Values<'_> = self.rows.row(place).collect();
                let same = fingerprint(right.iter().copied()) == fingerprint(got.iter().copied());
                (!same).then(|| format!("row {place} is {got:?}, expected {right:?}"))
            }
        };
        if self.first.is_none() {
            self.first = what;
        }
    }

    /// Returns whether all rows were seen and right.
    ///
    /// # Errors
    /// Returns the first difference.
    pub(in super::super) fn finish(self) -> Result<(), Difference> {
        let missing = self
            .unseen
            .values()
            .min()
            .map(|first| format!("{} rows are missing, row {first} first", self.unseen.len()));
        self.first.or(missing).map_or(Ok(()), |what| Err(Difference(what)))
    }
}
