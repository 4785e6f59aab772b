//! Names of workloads and phases, as short as possible. A scale, variant or tier is named only if
//! there are several.

use embermark_model::Extent;

use crate::notes::failures::FailedWork;
use crate::summary::{Comparison, Group};
use crate::text;

/// Names a workload: `sensors`, or `sensors 10k` if it was also measured at other scales or within
/// a limit.
pub(super) fn workload(comparison: &Comparison<'_>, workload: &str, extent: Extent) -> String {
    let mut groups = comparison.groups.iter();
    match groups.any(|other| other.workload == workload && other.extent != extent) {
        true => format!("{} {extent}", text::plain(workload)),
        false => text::plain(workload),
    }
}

/// Names a phase: `sensors load (bulk)`. A variant that has every phase is not named.
pub(super) fn phase(
    comparison: &Comparison<'_>,
    group: &Group<'_>,
    phase: Option<&str>,
    variant: &str,
) -> String {
    let mut name = workload(comparison, group.workload, group.extent);
    if let Some(phase) = phase {
        name += &format!(" {}", text::plain(phase));
    }
    if variant == group.variant { name } else { format!("{name} ({})", text::plain(variant)) }
}

/// Names a cell or one of its phases: `sensors outages`.
pub(super) fn place(comparison: &Comparison<'_>, place: &FailedWork<'_>) -> String {
    let id = place.id;
    match comparison.groups.iter().find(|group| group.holds(id)) {
        Some(group) => phase(comparison, group, place.phase, &id.variant),
        None => text::plain(&id.to_string()),
    }
}
