//! At how many rows advice is given: of each workload one scale, the one measured that is nearest.

use embermark_model::{Durability, Scale};

use super::{AdviceTable, RestsOn};
use crate::summary::{Comparison, Group};
use crate::text;

/// Of every workload in every tier the group nearest to a number of rows.
pub(super) struct Level<'a, 'c> {
    /// That number: as asked for, or a scale that was measured.
    pub rows: u64,
    pub groups: Vec<&'c Group<'a>>,
}

/// The level nearest to `rows`; or one for each scale measured, the smallest first, but for those
/// that have the groups of the one before.
pub(super) fn of<'a, 'c>(comparison: &'c Comparison<'a>, rows: Option<u64>) -> Vec<Level<'a, 'c>> {
    let measured = || comparison.groups.iter().filter_map(Group::row_count);
    let mut all: Vec<u64> = match rows {
        Some(rows) => vec![rows],
        None => text::unique(measured()),
    };
    if all.is_empty() {
        all.push(0);
    }
    all.sort_unstable();
    let mut levels: Vec<Level<'_, '_>> = Vec::new();
    for rows in all {
        let groups = nearest(comparison, rows);
        let same = |last: &Level<'_, '_>| {
            let pairs = || last.groups.iter().zip(&groups);
            pairs().all(|(one, other)| std::ptr::eq(*one, *other))
        };
        if !levels.last().is_some_and(same) {
            levels.push(Level { rows, groups });
        }
    }
    levels
}

fn nearest<'a, 'c>(comparison: &'c Comparison<'a>, rows: u64) -> Vec<&'c Group<'a>> {
    let groups = comparison.groups.iter();
    let all = text::unique(groups.map(|group| (group.workload, group.durability)));
    let of = |(workload, tier): (&str, Durability)| {
        let own = comparison.groups.iter();
        let own = own.filter(|group| (group.workload, group.durability) == (workload, tier));
        own.min_by(|a, b| away(a, rows).total_cmp(&away(b, rows)).then(b.scale.cmp(&a.scale)))
    };
    all.into_iter().filter_map(of).collect()
}

/// How far a group is from a number of rows, by powers; infinitely far where its own is not known.
fn away(group: &Group<'_>, rows: u64) -> f64 {
    let of = |own: u64| (own.max(1) as f64 / rows.max(1) as f64).ln().abs();
    group.row_count().map_or(f64::INFINITY, of)
}

/// `100k`, as a scale is written.
pub(super) fn written(rows: u64) -> String {
    Scale::Rows(rows).to_string()
}

/// The tables that differ in what counts: one whose scales are those of the one before, in the
/// workloads that `weighted` criteria are made of, says the same again. Without any all count.
pub(super) fn differing<'t>(
    tables: &'t [AdviceTable],
    tier: Durability,
    weighted: &[&str],
) -> Vec<&'t AdviceTable> {
    let mut kept: Vec<&AdviceTable> = Vec::new();
    for table in tables {
        let same = |last: &&AdviceTable| {
            let places = |of: &AdviceTable| -> Vec<String> {
                of.resting(tier, weighted).into_iter().map(RestsOn::place).collect()
            };
            places(last) == places(table)
        };
        if !kept.last().is_some_and(same) {
            kept.push(table);
        }
    }
    kept
}
