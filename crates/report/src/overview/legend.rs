//! Marks of the overview.

use std::collections::BTreeSet;

use embermark_model::Durability;
use embermark_model::result::ResultFile;

use super::means::{Line, Mean, Standing};
use crate::grid;
use crate::summary::Engine;
use crate::{Options, cost, format, table, text};

/// Explains the marks that occur, as many on a line as fit.
pub(super) fn lines(
    file: &ResultFile,
    lines: &[Line<'_>],
    options: &Options<'_>,
) -> Option<String> {
    let boxes = || lines.iter().flat_map(|line| &line.boxes);
    let any = |of: &dyn Fn(&Mean) -> bool| {
        boxes().any(|one| matches!(one, Standing::Mean(mean) if of(mean)))
    };
    let engine = |of: &dyn Fn(&Engine<'_>, Durability) -> bool| {
        let mut groups = lines.iter().map(|line| line.group);
        groups.any(|group| group.engines.iter().any(|engine| of(engine, group.durability)))
    };
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
    let parts = [
        (
            any(&|mean| mean.best && !mean.not_significant),
            format!("{} the best of those with every phase", grid::BEST),
        ),
        (
            any(&|mean| mean.not_significant),
            format!("{} not significantly slower than the best", grid::NOT_SIGNIFICANT),
        ),
        (part.is_some(), part.unwrap_or_default()),
        (any(&|mean| mean.lost), format!("{} without a lost trial (see below)", grid::LOST)),
        (behind, format!("{} did not keep up, not ranked", grid::BEHIND)),
        (
            engine(&|engine, _| engine.reference),
            format!("{} for orientation, not ranked", grid::REFERENCE),
        ),
        (stronger, format!("{} durability above the tier", grid::STRONGER)),
        (
            engine(&|engine, _| engine.by_url),
            format!("{} its own settings, not compared", grid::BY_URL),
        ),
        (
            engine(&|engine, _| engine.own_settings),
            format!("{} settings and durability as its author claims", grid::OWN_SETTINGS),
        ),
        (
            engine(&|engine, _| engine.own_durability.is_some()),
            format!("{} not the tier's settings, not ranked", grid::OWN_DURABILITY),
        ),
        (
            engine(&|engine, _| engine.broken),
            format!("{} broke what the tier promises, not ranked (see the tables)", grid::BROKEN),
        ),
        (weaker, format!("{} durability below the tier, not compared", grid::WEAKER)),
    ];
    let parts = parts.into_iter().filter(|(occurs, _)| *occurs).map(|(_, says)| says);
    let machines: BTreeSet<String> = cost::costs(file)
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
    let parts: Vec<String> = parts.chain(machines).collect();
    (!parts.is_empty()).then(|| table::packed(&parts, options.width).join("\n"))
}
