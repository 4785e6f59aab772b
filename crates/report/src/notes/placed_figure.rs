//! A figure in a table, with its position.

use crate::summary::{Engine, Group, Measured, Row};
use crate::text;

/// A measurement with its group, its row and its engine.
pub(super) type PlacedFigure<'a> = (&'a Group<'a>, &'a Row<'a>, &'a Engine<'a>, &'a Measured<'a>);

/// Names the position of a figure: `postgres load (commit-each), sensors 10k process`.
pub(super) fn position((group, row, engine, _): &PlacedFigure<'_>) -> String {
    let (phase, variant) = (row.phase.unwrap_or_default(), row.variant.unwrap_or(group.variant));
    let Group { workload, durability, .. } = group;
    let place = format!("{workload} {} {durability}", group.extent);
    text::plain(&format!("{} {phase} ({variant}), {place}", engine.name()))
}
