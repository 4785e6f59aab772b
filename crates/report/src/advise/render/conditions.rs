//! Conditions that the advice is for, and the measurements behind it.

use embermark_model::Scale;

use super::{All, at, weighted};
use crate::advise::{Advice, AdviceTable, AdviceTables, RestsOn, Weight, remedy};
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
    let name = |(table, _): &(&AdviceTable, Advice)| {
        table.conditions.memory_limit.map_or("no limit".into(), |limit| limit.to_string())
    };
    lists(all.iter().map(name), "within each limit", "--memory-limit SIZE or none")
}

/// Explains the storages if there are several: `a list of its own on each storage: this machine's
/// disk, sd-a1; …`.
pub(super) fn storages(all: &All<'_>) -> Vec<String> {
    let name = |(table, _): &(&AdviceTable, Advice)| {
        table.conditions.storage.map_or("this machine's disk".into(), |storage| storage.to_string())
    };
    lists(all.iter().map(name), "on each storage", "--storage NAME or none")
}

/// Explains the clients if there are several: `a list of its own for each client: native, python;
/// …`.
pub(super) fn clients(all: &All<'_>) -> Vec<String> {
    let name = |(table, _): &(&AdviceTable, Advice)| text::plain(table.language());
    lists(all.iter().map(name), "for each client", "--client NAME")
}

/// Explains that there is a list for each name, if there are several.
fn lists(names: impl Iterator<Item = String>, of_each: &str, option: &str) -> Vec<String> {
    let names = text::unique(names);
    let says = || format!("a list of its own {of_each}: {}; {option} chooses", names.join(", "));
    (names.len() > 1).then(says).into_iter().collect()
}

/// States which scales answer for the requested rows, and how far they are from it.
pub(super) fn asked(rows: u64, (table, advice): &(&AdviceTable, Advice)) -> String {
    let resting = || table.resting(advice.needs.tier, &weighted(advice));
    let fewer = |of: &&RestsOn| of.decades(rows).is_some_and(|far| far > 0.0 && far <= 1.0);
    let beyond = text::joined(resting().into_iter().filter(fewer).map(RestsOn::place), ", ");
    let asked = Scale::Rows(rows);
    let mut says = match advice.too_far.is_empty() {
        true => {
            format!("{asked} rows asked for; answered {}, the nearest measured", at(table, advice))
        }
        false => {
            let remedy = remedy::beyond_file(table, rows);
            let remedy = remedy.unwrap_or_else(|| format!("measure with --scale {asked}"));
            let far = advice.too_far.join(", ");
            format!(
                "{asked} rows asked for; more than ten times away, so no answer for {asked}: \
                 {far}: {remedy}"
            )
        }
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
