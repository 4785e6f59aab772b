//! Explains the values and marks of the table.

use embermark_model::Durability;

use super::columns::{BOUND, FAR};
use crate::format;
use crate::grid::{self, Grid};

pub(super) fn legend(grid: &Grid, tiers: &[Durability], main: Durability) -> Vec<String> {
    let texts = || grid.rows.iter().flat_map(|(_, texts)| texts);
    let any = |mark: &str| texts().any(|text| text.marks.contains(mark));
    let own = |mark: &str| grid.rows.iter().any(|(name, _)| name.contains(mark));
    let mut says = vec!["times the best engine's time, or bytes".to_owned()];
    says.extend(tiers.iter().map(|tier| match tier {
        Durability::Power => "power: a commit per row that survives a power cut".to_owned(),
        Durability::Process => "process: one that survives a crash of the program".to_owned(),
        Durability::None => "none: one that may be lost".to_owned(),
    }));
    if tiers.len() > 1 {
        says.push(format!("all else at {main}"));
    }
    let (bound, far) = (format!(">{BOUND:.0}x"), format!(">{FAR:.0}x"));
    if texts().any(|text| text.value == bound) {
        says.push(format!("{bound} more than that, a run stops there"));
    }
    if texts().any(|text| text.value == far) {
        says.push(format!("{far} more than that"));
    }
    if grid.header.iter().any(|name| name == "memory") {
        says.push("memory: peak of the process".to_owned());
    }
    if texts().any(|text| text.value == format::NOT_MEASURED) {
        says.push(format!("{} cannot, or not measured", format::NOT_MEASURED));
    }
    says.push("all work: commits, reads, changes, questions alike".to_owned());
    let marks = [
        (any(grid::BEST), format!("{} the best", grid::BEST)),
        (
            any(grid::NOT_SIGNIFICANT),
            format!("{} not significantly slower than the best", grid::NOT_SIGNIFICANT),
        ),
        (
            any(grid::CLIENT_SIDE),
            format!("{} answered by client code over its rows", grid::CLIENT_SIDE),
        ),
        (own(grid::STRONGER), format!("{} durability above the tier", grid::STRONGER)),
        (own(grid::BROKEN), format!("{} broke what the tier promises, not ranked", grid::BROKEN)),
        (own("hybrid"), "hybrid: ours, keeps every row twice (docs/hybrid.md)".to_owned()),
    ];
    says.extend(marks.into_iter().filter(|(occurs, _)| *occurs).map(|(_, text)| text));
    says
}
