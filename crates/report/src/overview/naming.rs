//! Names of workloads and phases, as short as they can be: a scale, a variant or a tier is
//! named where there are several.

use embermark_model::Extent;

use crate::notes::failures::Place;
use crate::summary::{Comparison, Group};
use crate::text;

/// `sensors`, or `sensors 10k` where it was measured at other scales or within a limit too.
pub(super) fn workload(comparison: &Comparison<'_>, workload: &str, extent: Extent) -> String {
    let mut groups = comparison.groups.iter();
    match groups.any(|other| other.workload == workload && other.extent() != extent) {
        true => format!("{} {extent}", text::plain(workload)),
        false => text::plain(workload),
    }
}

/// `sensors load (bulk)`; the variant of every phase is not named.
pub(super) fn phase(
    comparison: &Comparison<'_>,
    group: &Group<'_>,
    phase: Option<&str>,
    variant: &str,
) -> String {
    let mut name = workload(comparison, group.workload, group.extent());
    if let Some(phase) = phase {
        name = format!("{name} {}", text::plain(phase));
    }
    match variant == group.variant {
        true => name,
        false => format!("{name} ({})", text::plain(variant)),
    }
}

/// `sensors outages`: a phase of a cell, or all of it.
pub(super) fn place(comparison: &Comparison<'_>, place: &Place<'_>) -> String {
    let id = place.id;
    let group = comparison.groups.iter().find(|group| group.holds(id));
    group.map_or_else(
        || text::plain(&id.to_string()),
        |group| phase(comparison, group, place.phase, &id.variant),
    )
}
