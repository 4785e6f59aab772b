//! Conditions that the advice is for, and the measurements behind it.

use super::{All, at, weighted};
use crate::advise::levels::scale_text;
use crate::advise::{Advice, AdviceTable, AdviceTables, RestsOn, Weight};
use crate::text;

/// Explains weights of `ingest-…` criteria.
pub(super) fn meant(advice: &Advice) -> Vec<String> {
    let of = |weight: &Weight| weight.criterion.strip_prefix("ingest-").map(str::to_owned);
    let of_ingest: Vec<String> = advice.weights.iter().filter_map(of).collect();
    let says = || format!("{}: with one commit per row, like `ingest`", of_ingest.join(", "));
    (!of_ingest.is_empty()).then(says).into_iter().collect()
}

/// Explains the memory limits if there are several: `a list of its own within each limit: no limit,
/// 256 MiB; …`.
pub(super) fn limits(all: &All<'_>) -> Vec<String> {
    let limits = text::unique(all.iter().map(|(table, _)| table.conditions.memory_limit));
    let names =
        limits.into_iter().map(|limit| limit.map_or("no limit".into(), |of| of.to_string()));
    let names: Vec<String> = names.collect();
    let says = |names: &[String]| {
        let names = names.join(", ");
        format!("a list of its own within each limit: {names}; --memory-limit SIZE or none chooses")
    };
    (names.len() > 1).then(|| says(&names)).into_iter().collect()
}

/// Explains the storages if there are several: `a list of its own on each storage: this machine's
/// disk, sd-a1; …`.
pub(super) fn storages(all: &All<'_>) -> Vec<String> {
    let storages = text::unique(all.iter().map(|(table, _)| table.conditions.storage));
    let names = storages
        .into_iter()
        .map(|storage| storage.map_or("this machine's disk".into(), |of| of.to_string()));
    let names: Vec<String> = names.collect();
    let says = |names: &[String]| {
        let names = names.join(", ");
        format!("a list of its own on each storage: {names}; --storage NAME or none chooses")
    };
    (names.len() > 1).then(|| says(&names)).into_iter().collect()
}

/// Explains the clients if there are several: `a list of its own for each client: native, python;
/// …`.
pub(super) fn clients(all: &All<'_>) -> Vec<String> {
    let names = text::unique(all.iter().map(|(table, _)| text::plain(table.language())));
    let says = |names: &[String]| {
        let names = names.join(", ");
        format!("a list of its own for each client: {names}; --client NAME chooses")
    };
    (names.len() > 1).then(|| says(&names)).into_iter().collect()
}

/// States which scales answer for the requested rows, and how far they are from it.
pub(super) fn asked(rows: u64, (table, advice): &(&AdviceTable, Advice)) -> String {
    let resting = || table.resting(advice.needs.tier, &weighted(advice));
    let fewer = |of: &&RestsOn| of.decades(rows).is_some_and(|far| far > 0.0 && far <= 1.0);
    let beyond = text::joined(resting().into_iter().filter(fewer).map(RestsOn::place), ", ");
    let rows = scale_text(rows);
    let mut says = match advice.too_far.is_empty() {
        true => {
            format!("{rows} rows asked for; answered {}, the nearest measured", at(table, advice))
        }
        false => format!(
            "{rows} rows asked for; more than ten times away, so no answer for {rows}: {}: measure \
             with --scale {rows}",
            advice.too_far.join(", ")
        ),
    };
    if !beyond.is_empty() {
        says += &format!("; fewer rows than asked for: {beyond}");
    }
    says
}

/// Describes the measurements: `sensors 1k, 100k: 6 runs (1 warm-up) x 3 trials`, with the source
/// of `wear` if that counts.
pub(super) fn measured(tables: &AdviceTables, advice: &Advice) -> Vec<String> {
    let resting = tables.tables.iter().flat_map(|table| table.resting(advice.needs.tier, &[]));
    let counts = weighted(advice).contains(&"wear") || advice.weights.is_empty();
    let wear = |of: &RestsOn| {
        let wear = of.wear.as_ref().filter(|_| counts && of.criteria.contains(&"wear"));
        wear.map(|wear| format!(", {wear}")).unwrap_or_default()
    };
    let by = text::by_key(
        resting.map(|of| ((&*of.workload, of.protocol.clone() + &wear(of)), of.scale.clone())),
    );
    let line = |((workload, protocol), scales): ((&str, String), Vec<String>)| {
        format!("{workload} {}: {protocol}", scales.join(", "))
    };
    by.into_iter().map(line).collect()
}

/// Formats workloads and scales: `sensors 1k, 10k and htap 1`.
pub(super) fn scales<'t>(all: impl Iterator<Item = &'t RestsOn>) -> String {
    let of = text::by_key(all.map(|of| (&of.workload, of.scale.clone())));
    let of = of.into_iter().map(|(workload, scales)| format!("{workload} {}", scales.join(", ")));
    text::joined(of, " and ")
}
