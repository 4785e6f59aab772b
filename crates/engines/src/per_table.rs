//! State of a transaction for each table that it uses.

use smallvec::SmallVec;

use crate::Result;
use crate::kv::Table;

/// A value per table, created on first use.
pub(crate) struct PerTable<T>(SmallVec<[Option<T>; 8]>);

impl<T> PerTable<T> {
    pub fn new() -> Self {
        Self(SmallVec::new())
    }

    /// Returns the value of a table. `make` creates it on first use.
    #[inline]
    pub fn get(&mut self, table: Table, make: impl FnOnce(Table) -> Result<T>) -> Result<&mut T> {
        if self.0.len() <= table.0 {
            self.0.resize_with(table.0 + 1, || None);
        }
        match &mut self.0[table.0] {
            Some(made) => Ok(made),
            none => Ok(none.insert(make(table)?)),
        }
    }
}
