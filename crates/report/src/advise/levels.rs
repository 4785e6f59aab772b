//! Chooses the scales, memory limits and storages for which advice is given. For each workload it
//! takes the nearest scale at which engines can be compared under these conditions.

use embermark_model::{Conditions, Durability, Scale};

use super::{AdviceTable, RestsOn};
use crate::summary::{Comparison, Group};
use crate::text;

/// For every workload in every tier, the group under the same conditions that is nearest to a
/// number of rows.
pub(super) struct Level<'a, 'c> {
    /// The number of rows: the requested one, or a measured scale.
    pub rows: u64,
    pub conditions: Conditions,
    pub groups: Vec<&'c Group<'a>>,
}

/// Returns the levels under each of the chosen conditions that was measured, or under all measured
/// ones if none are chosen. Those without a memory limit and on this machine's own disk come first.
pub(super) fn for_conditions<'a, 'c>(
    comparison: &'c Comparison<'a>,
    rows: Option<u64>,
    chosen: &[Conditions],
) -> Vec<Level<'a, 'c>> {
    let mut measured = text::unique(comparison.groups.iter().map(Group::conditions));
    measured.retain(|conditions| chosen.is_empty() || chosen.contains(conditions));
    if measured.is_empty() {
        measured.push(Conditions::default());
    }
    measured.sort_unstable();
    measured.into_iter().flat_map(|conditions| under(comparison, rows, conditions)).collect()
}

/// Returns the level nearest to `rows`. Without `rows`, returns one level per scale at which
/// engines can be compared, or per scale if they can at none, the smallest first. Levels with the
/// groups of the one before are left out.
fn under<'a, 'c>(
    comparison: &'c Comparison<'a>,
    rows: Option<u64>,
    conditions: Conditions,
) -> Vec<Level<'a, 'c>> {
    let own = comparison.groups.iter().filter(|group| group.conditions() == conditions);
    let own: Vec<&Group<'a>> = own.collect();
    let mut all: Vec<u64> = match rows {
        Some(rows) => vec![rows],
        None => text::unique(comparing(&own).iter().filter_map(|group| group.row_count())),
    };
    if all.is_empty() {
        all.push(0);
    }
    all.sort_unstable();
    let level = |rows| Level { rows, conditions, groups: nearest(&own, rows) };
    let mut levels: Vec<Level<'_, '_>> = all.into_iter().map(level).collect();
    levels.dedup_by(|one, last| {
        let mut pairs = last.groups.iter().zip(&one.groups);
        pairs.all(|(a, b)| std::ptr::eq(*a, *b))
    });
    levels
}

/// Returns the groups in which engines can be compared, or all if there are none. A scale that an
/// interrupted run did not reach must not hide a smaller one.
fn comparing<'a, 'c>(groups: &[&'c Group<'a>]) -> Vec<&'c Group<'a>> {
    let known: Vec<&Group<'a>> =
        groups.iter().copied().filter(|group| group.is_compared()).collect();
    if known.is_empty() { groups.to_vec() } else { known }
}

fn nearest<'a, 'c>(groups: &[&'c Group<'a>], rows: u64) -> Vec<&'c Group<'a>> {
    let all = text::unique(groups.iter().map(|group| (group.workload, group.durability)));
    let of = |(workload, tier): (&str, Durability)| {
        let is_own = |group: &&Group<'_>| (group.workload, group.durability) == (workload, tier);
        let own: Vec<&Group<'a>> = groups.iter().copied().filter(is_own).collect();
        comparing(&own).into_iter().min_by(|a, b| {
            let distance = log_distance(a, rows).total_cmp(&log_distance(b, rows));
            distance.then(b.extent.scale.cmp(&a.extent.scale))
        })
    };
    all.into_iter().filter_map(of).collect()
}

/// Returns the logarithmic distance of a group from a number of rows. It is infinite if the group's
/// own number is unknown.
fn log_distance(group: &Group<'_>, rows: u64) -> f64 {
    let of = |own: u64| (own.max(1) as f64 / rows.max(1) as f64).ln().abs();
    group.row_count().map_or(f64::INFINITY, of)
}

/// Formats rows and conditions: `10k rows`, `10k rows within 256 MiB on sd-a1, python, servers over
/// wifi`.
pub(super) fn label(
    rows: u64,
    conditions: Conditions,
    client: Option<&str>,
    network: Option<&str>,
) -> String {
    let client = client.map(|client| format!(", {}", text::plain(client))).unwrap_or_default();
    let network = network.map(|name| format!(", servers over {name}")).unwrap_or_default();
    format!("{} rows{conditions}{client}{network}", Scale::Rows(rows))
}

/// Returns the tables that differ in what counts. A table is left out if, in the workloads of the
/// `weighted` criteria, it has the scales of the table before it in its language. Without weights
/// all criteria count. A table without measurements is left out unless all are.
pub(super) fn differing<'t>(
    tables: &'t [AdviceTable],
    tier: Durability,
    weighted: &[&str],
) -> Vec<&'t AdviceTable> {
    let places = |of: &AdviceTable| -> Vec<String> {
        of.resting(tier, weighted).into_iter().map(RestsOn::place).collect()
    };
    let nothing = tables.iter().all(|table| places(table).is_empty());
    let kept = tables.iter().filter(|table| nothing || !places(table).is_empty());
    let mut kept: Vec<&AdviceTable> = kept.collect();
    kept.dedup_by(|one, last| last.client == one.client && places(last) == places(one));
    kept
}
