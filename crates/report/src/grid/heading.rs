//! Headings of tables: what ran, on what, and the names of the engines.

use embermark_model::Status;
use embermark_model::result::{Cell, Floor};

use super::{BROKEN, OWN_DURABILITY, OWN_SETTINGS, REFERENCE, STRONGER, WEAKER};
use crate::summary::{Engine, Entry, Group};
use crate::{conditions, format, notes, text};

/// Returns the title: `sensors 10k · durability process`, `sensors 1M within 256 MiB on sd-a1 ·
/// durability process`.
pub(crate) fn title(group: &Group<'_>) -> String {
    format!("{} {} · durability {}", text::plain(group.workload), group.extent, group.durability)
}

/// Returns the conditions of a group in parts: rows, protocol, variant, clients, cold reads, the
/// harness's own cost, imitated storage, and engines that could not take part.
pub(crate) fn subtitle(group: &Group<'_>) -> Vec<String> {
    let file = group.file;
    let rows = group.row_count().map(|rows| format::counted(rows, "row"));
    let name = group.dataset.map(|dataset| format!(", {}", text::plain(&dataset.name)));
    let rows = rows.unwrap_or_else(|| "all rows".into()) + &name.unwrap_or_default();
    let mut parts = vec![rows];
    parts.extend(group.protocol.as_ref().map(ToString::to_string));
    if group.rows.iter().any(|row| row.variant.is_some()) {
        parts.push(format!("variant {} unless named", text::plain(group.variant)));
    }
    parts.extend(conditions::of_heading(&file.plan, group.is_paced()));
    let floor = file.manifest.floor.as_ref().and_then(|floor| harness_floor(floor, group.workload));
    parts.extend(floor.map(|floor| format!("harness floor {floor}")));
    parts.extend(group.extent.storage.map(|name| notes::storage::imitated(name.as_str())));
    parts.extend(notes::network::imitated(file));
    parts.extend(absentees(group));
    parts
}

/// Returns the harness's own cost per operation in the cheapest and in the most expensive phase of
/// a workload: `3.90 ns to 61.0 ns`. For older files it is that of a point read.
fn harness_floor(floor: &Floor, workload: &str) -> Option<String> {
    if floor.phases.is_empty() {
        return floor.read_ns.map(format::duration);
    }
    let of = || floor.phases.get(workload).into_iter().flat_map(|phases| phases.values().copied());
    let [least, most] = [of().reduce(f64::min)?, of().reduce(f64::max)?].map(format::duration);
    Some(if least == most { least } else { format!("{least} to {most}") })
}

/// Lists the engines without a column: `unavailable: zen, harperdb`.
fn absentees(group: &Group<'_>) -> Vec<String> {
    let word = |at: usize| {
        let mut own = group.cells().filter(|cell| cell.id.engine == group.engines[at].id);
        let is_left_out = own.any(Cell::is_left_out);
        Some(if is_left_out { notes::LEFT_OUT } else { absence(group, at)?.name() })
    };
    let absent = (0..group.engines.len()).filter(|at| absence(group, *at).is_some());
    let absent = absent.filter_map(|at| Some((word(at)?, group.engines[at].name())));
    let mut absent = text::by_key(absent);
    absent.sort_by_key(|(word, _)| ABSENT.iter().position(|status| status.name() == *word));
    absent.iter().map(|(word, names)| format!("{word}: {}", names.join(", "))).collect()
}

/// Statuses of cells that did not or could not run.
const ABSENT: [Status; 4] =
    [Status::Skipped, Status::NotRun, Status::Unavailable, Status::Unsupported];

/// Returns the status of an engine that ran nothing in a group.
pub(crate) fn absence(group: &Group<'_>, engine: usize) -> Option<Status> {
    let entries = group.rows.iter().filter_map(|row| row.entries.get(engine));
    let mut statuses = entries.map(|entry| match entry {
        Entry::Ended(status) => Some(*status),
        _ => None,
    });
    let first = statuses.next()?.filter(|status| ABSENT.contains(status))?;
    statuses.all(|status| status == Some(first)).then_some(first)
}

/// Returns an engine's name with its marks in the group.
pub(crate) fn engine_heading(group: &Group<'_>, engine: &Engine<'_>) -> String {
    let name = engine.name() + if engine.broken { BROKEN } else { "" };
    if engine.reference {
        format!("{name} {REFERENCE}")
    } else if engine.own_durability.is_some() {
        format!("{name}{OWN_SETTINGS} {OWN_DURABILITY}")
    } else if engine.own_settings {
        name + OWN_SETTINGS
    } else if engine.stronger(group.durability).is_some() {
        name + STRONGER
    } else if engine.weaker(group.durability).is_some() {
        format!("{name} {WEAKER}")
    } else {
        name
    }
}
