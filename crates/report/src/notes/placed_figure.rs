//! A figure in a table, with its position.

use crate::summary::{Engine, Group, Measured, Row};
use crate::text;

/// A measurement with its group, its row and its engine.
pub(super) type PlacedFigure<'a> = (&'a Group<'a>, &'a Row<'a>, &'a Engine<'a>, &'a Measured<'a>);

/// Names the position of a figure: `postgres load (commit-each), sensors 10k process`.
pub(super) fn position((group, row, engine, _): &PlacedFigure<'_>) -> String {
    let (engine, phase) = (engine.name(), text::plain(row.phase.unwrap_or_default()));
    let variant = text::plain(row.variant.unwrap_or(group.variant));
    let workload = text::plain(group.workload);
    format!("{engine} {phase} ({variant}), {workload} {} {}", group.extent(), group.durability)
}
