//! State of a transaction for each table that it uses.

use smallvec::SmallVec;

use crate::Result;
use crate::kv::Table;

/// A value per table, created on first use.
#[allow(dead_code, reason = "used by engines that hold one; a build may have none")]
pub(crate) struct PerTable<T>(SmallVec<[Option<T>; 8]>);

#[allow(dead_code, reason = "as above")]
impl<T> PerTable<T> {
    /// Creates it without values.
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
