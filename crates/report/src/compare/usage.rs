//! Resources of engines in both results.

use std::collections::HashMap;

use embermark_model::CellId;
use embermark_model::result::{Cell, ResultFile};
use serde::Serialize;

use crate::summary::{Amounts, Column, Shortfall, Usage, Work};

/// Resources of one engine for a whole workload in both results, by the keys of the report's
/// resources.
#[derive(Clone, Debug, Serialize)]
pub struct UsageChange {
    /// The cell.
    pub cell: CellId,
    /// Amounts in the old result.
    pub old: Amounts,
    /// Amounts in the new result.
    pub new: Amounts,
}

impl UsageChange {
    /// Returns the amount of a column in the old result and in the new one.
    pub(super) fn both(&self, column: &Column) -> Option<[f64; 2]> {
        Some([self.old.get(column.key)?, self.new.get(column.key)?])
    }
}

/// Returns the cells that did all of their work in both results, in the order of the old one.
pub(super) fn usage_changes(old: &ResultFile, new: &ResultFile) -> Vec<UsageChange> {
    let after: HashMap<&CellId, &Cell> = new.cells.iter().map(|cell| (&cell.id, cell)).collect();
    let amounts = |file: &ResultFile, cell: &Cell| {
        let usage = Usage::new(file, cell, Work::All);
        let did_all = !usage.incomplete && Shortfall::find(cell, None).is_none();
        (usage.is_measured() && did_all).then_some(usage.amounts)
    };
    let of_cell = |before: &Cell| {
        Some(UsageChange {
            cell: before.id.clone(),
            old: amounts(old, before)?,
            new: amounts(new, after.get(&before.id)?)?,
        })
    };
    old.cells.iter().filter_map(of_cell).collect()
}
