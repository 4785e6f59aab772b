//! What engines used in both results.

use std::collections::HashMap;

use embermark_model::CellId;
use embermark_model::result::{Cell, ResultFile};
use serde::Serialize;

use crate::summary::{Amounts, Column, Usage, Work};

/// What one engine used for the whole of a workload in both results, by the keys of the report's resources.
#[derive(Clone, Debug, Serialize)]
pub struct Used {
    /// The cell.
    pub cell: CellId,
    /// In the old result.
    pub old: Amounts,
    /// In the new one.
    pub new: Amounts,
}

impl Used {
    /// The amount of a column in the old result and in the new one.
    pub(super) fn both(&self, column: &Column) -> Option<[f64; 2]> {
        Some([self.old.get(column.key)?, self.new.get(column.key)?])
    }
}

/// Returns the cells that did all of their work in both results, in the order of the old one.
pub(super) fn used(old: &ResultFile, new: &ResultFile) -> Vec<Used> {
    let after: HashMap<&CellId, &Cell> = new.cells.iter().map(|cell| (&cell.id, cell)).collect();
    let amounts = |file: &ResultFile, cell: &Cell| {
        let usage = Usage::of(cell).above_floor(file, cell, Work::All);
        (usage.is_measured() && !usage.incomplete).then(|| usage.amounts().clone())
    };
    let of_cell = |before: &Cell| {
        Some(Used {
            cell: before.id.clone(),
            old: amounts(old, before)?,
            new: amounts(new, after.get(&before.id)?)?,
        })
    };
    old.cells.iter().filter_map(of_cell).collect()
}
