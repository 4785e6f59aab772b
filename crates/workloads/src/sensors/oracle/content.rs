//! The whole store read back and compared, row by row.

use std::fmt;

use embermark_model::Reading;
use embermark_model::answer::Difference;

use super::Oracle;

/// Compares readings that arrive in key order with those that must be there, and keeps the first
/// difference.
pub(in super::super) struct Content<'a> {
    order: &'a [u32],
    /// What must be there of the row at a place.
    change: &'a dyn Fn(u32) -> Option<Reading>,
    next: usize,
    found: u64,
    /// Rows that may be absent, in all.
    spare: u64,
    difference: Option<Difference>,
}

impl<'a> Content<'a> {
    /// Expects what `change` makes of the row at each place: `None` where it must be absent.
    /// Of the rest, any `spare` rows may be absent.
    pub(in super::super) fn new(
        oracle: &'a Oracle,
        change: &'a dyn Fn(u32) -> Option<Reading>,
        spare: u64,
    ) -> Self {
        Self { order: &oracle.order, change, next: 0, found: 0, spare, difference: None }
    }

    /// Takes the next reading of the store.
    pub(in super::super) fn see(&mut self, got: &Reading) {
        if self.difference.is_some() {
            return;
        }
        self.found += 1;
        while let Some(expected) = self.expected() {
            if expected.key() > got.key() {
                break;
            }
            self.next += 1;
            if expected.key() == got.key() {
                if expected != *got {
                    self.differ(format!("expected {}, found {}", Row(&expected), Row(got)));
                }
                return;
            }
            if !self.skip(&expected) {
                return;
            }
        }
        self.differ(format!("{} should not be in the store", Row(got)));
    }

    /// Says whether the readings seen were all.
    pub(in super::super) fn finish(mut self) -> Result<(), Difference> {
        while self.difference.is_none()
            && let Some(expected) = self.expected()
        {
            self.next += 1;
            self.skip(&expected);
        }
        if self.difference.is_none() && self.spare > 0 {
            let found = self.found;
            self.differ(format!(
                "the store holds {found} rows, {} more than were loaded",
                self.spare
            ));
        }
        self.difference.map_or(Ok(()), Err)
    }

    /// The next row that must be there.
    fn expected(&mut self) -> Option<Reading> {
        while let Some(&place) = self.order.get(self.next) {
            if let Some(expected) = (self.change)(place) {
                return Some(expected);
            }
            self.next += 1;
        }
        None
    }

    /// Passes over a row that is absent; whether it may be.
    fn skip(&mut self, expected: &Reading) -> bool {
        if self.spare == 0 {
            self.differ(format!("{} is missing from the store", Row(expected)));
            return false;
        }
        self.spare -= 1;
        true
    }

    fn differ(&mut self, text: String) {
        self.difference = Some(Difference(text));
    }
}

/// A reading as a person reads it.
struct Row<'a>(&'a Reading);

impl fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row (sensor {}, ts {}", self.0.sensor, self.0.ts)?;
        for (i, column) in Reading::COLUMNS.into_iter().enumerate() {
            match self.0.get(i) {
                Some(value) => write!(f, ", {column} {value}")?,
                None => write!(f, ", {column} NULL")?,
            }
        }
        f.write_str(")")
    }
}
