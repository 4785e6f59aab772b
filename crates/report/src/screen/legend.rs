//! Marks of the screen.

use std::collections::BTreeSet;

use embermark_model::Durability;

use super::View;
use super::means::{Line, Mean, Standing};
use crate::grid;
use crate::summary::Engine;
use crate::{cost, format, table, text};

/// Explains [`grid::NOT_SIGNIFICANT`].
pub(super) const NOT_SLOWER: &str = "not significantly slower than the best";
/// Explains a figure without that mark, where some have no interval.
pub(super) const NO_MARK: &str = "no mark: slower, or too few trials to tell";
/// Explains [`grid::OWN_SETTINGS`].
pub(super) const CLAIMS: &str = "settings and durability as its author claims";
/// Explains [`grid::OWN_DURABILITY`].
pub(super) const NOT_THE_TIERS: &str = "not the tier's settings, not ranked";

/// Explains the marks that occur, as many on a line as fit.
pub(super) fn lines(view: &View<'_>) -> Option<String> {
    let lines = view.lines.iter().filter(|line| view.has_table(line.group.durability));
    let lines: Vec<&Line<'_>> = lines.collect();
    let boxes = || lines.iter().flat_map(|line| &line.boxes);
    let any = |of: &dyn Fn(&Mean) -> bool| {
        boxes().any(|one| matches!(one, Standing::Mean(mean) if of(mean)))
    };
    let engine = |of: &dyn Fn(&Engine<'_>, Durability) -> bool| {
        let mut groups = lines.iter().map(|line| line.group);
        groups.any(|group| {
            let mut shown = grid::columns(group).into_iter().map(|at| &group.engines[at]);
            shown.any(|engine| of(engine, group.durability))
        })
    };
    let lacks_interval = lines.iter().any(|line| {
        let engines = line.group.engines.iter().zip(&line.boxes);
        let ranked = engines.filter(|(engine, _)| engine.ranked(line.group.durability));
        let means = ranked.filter_map(|(_, one)| match one {
            Standing::Mean(mean) if mean.answered == mean.of => Some(mean),
            _ => None,
        });
        let means: Vec<&Mean> = means.collect();
        means.len() > 1 && means.iter().any(|mean| !mean.best && mean.interval.is_none())
    });
    let behind = boxes().any(|one| matches!(one, Standing::Behind(_)));
    let weaker = boxes().any(|one| *one == Standing::Weaker);
    let stronger = engine(&|engine, tier| !engine.reference && engine.stronger(tier).is_some());
    let short = boxes().find_map(|one| match one {
        Standing::Mean(mean) if mean.answered < mean.of => Some((mean.answered, mean.of)),
        _ => None,
    });
    let part = short.map(|(answered, of)| {
        let part = format::part(answered as u64, of as u64);
        format!("{part} answered {answered} of {of} phases, not ranked")
    });
    let mark = |occurs: bool, mark: &str, says: &str| occurs.then(|| format!("{mark} {says}"));
    let has_best = any(&|mean| mean.best && !mean.not_significant);
    let is_own = engine(&|engine, _| engine.own_durability.is_some());
    let broken = "broke what the tier promises, not ranked (see the tables)";
    let parts = [
        mark(has_best, grid::BEST, "the best of those with every phase"),
        mark(any(&|mean| mean.not_significant), grid::NOT_SIGNIFICANT, NOT_SLOWER),
        lacks_interval.then(|| NO_MARK.to_owned()),
        part,
        mark(any(&|mean| mean.lost), grid::LOST, "without a lost trial (see below)"),
        mark(behind, grid::BEHIND, "did not keep up, not ranked"),
        mark(engine(&|of, _| of.reference), grid::REFERENCE, "for orientation, not ranked"),
        mark(stronger, grid::STRONGER, "durability above the tier"),
        mark(engine(&|of, _| of.by_url), grid::BY_URL, "its own settings, not compared"),
        mark(engine(&|of, _| of.own_settings), grid::OWN_SETTINGS, CLAIMS),
        mark(is_own, grid::OWN_DURABILITY, NOT_THE_TIERS),
        mark(engine(&|of, _| of.broken), grid::BROKEN, broken),
        mark(weaker, grid::WEAKER, "durability below the tier, not compared"),
    ];
    let machines: BTreeSet<String> = cost::costs(view.comparison)
        .iter()
        .flat_map(|costs| costs.lines.iter().map(|line| (costs.workload, line)))
        .map(|(workload, line)| match line.activity == cost::Activity::Searches {
            true => {
                let phase = text::plain(line.phase);
                format!("{phase}: the highest rate of all over the engine's own")
            }
            false => {
                let workload = text::plain(workload);
                format!("{workload}: times, not what keeping up costs (see the tables)")
            }
        })
        .collect();
    let parts: Vec<String> = parts.into_iter().flatten().chain(machines).collect();
    (!parts.is_empty()).then(|| table::packed(&parts, view.options.width).join("\n"))
}
