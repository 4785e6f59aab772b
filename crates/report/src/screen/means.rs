//! Compares engines with the fastest one: over one workload, the geometric mean of an engine's time
//! ratios.

use embermark_model::Status;

use crate::statistics::{geometric_mean, includes_one, mean_ratio_interval};
use crate::summary::{Engine, Entry, Group, Measured, Row, Shortfall};

/// One workload at one scale in one tier.
pub(crate) struct Line<'a> {
    /// Group that is compared.
    pub group: &'a Group<'a>,
    /// Rows of its table that the means cover.
    pub steps: Vec<Step<'a>>,
    /// Results of the engines, in the order of the group.
    pub boxes: Vec<Standing<'a>>,
}

/// One phase in one variant.
pub(crate) struct Step<'a> {
    pub row: &'a Row<'a>,
    /// Time of each engine over that of the fastest competing one, in the order of the group's
    /// engines. Absent if the engine has no time or its cell failed.
    pub ratios: Vec<Option<f64>>,
}

/// Result of one engine in one workload.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Standing<'a> {
    /// Its mean.
    Mean(Mean),
    /// It lost samples, missed reads of the machine, or did not achieve its rate.
    Behind(Shortfall<'a>),
    /// It failed somewhere in the workload, or could do none of it.
    Ended(Status),
    /// Its effective durability is below the tier, so its times cannot be compared.
    Weaker,
    /// It broke the promise of the tier, so its times cannot be compared.
    Broken,
    /// A server given by its URL, with its own settings, so its times cannot be compared.
    ByUrl,
    /// Nothing comparable was measured.
    Nothing,
}

/// A geometric mean of ratios.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Mean {
    pub ratio: f64,
    /// Number of phases in the mean.
    pub answered: usize,
    /// Number of all phases.
    pub of: usize,
    /// Whether it is the smallest among those that completed every phase.
    pub best: bool,
    /// The 95 % interval of its mean time over that of the best. Absent for the best itself, and
    /// for engines that did not complete every phase or have fewer than three trials.
    pub interval: Option<[f64; 2]>,
    /// Whether the difference to the best is not significant. The best has this too if another
    /// shares its place.
    pub not_significant: bool,
    /// Whether a trial of one of its cells was lost. The mean then covers the others.
    pub lost: bool,
}

/// Returns the line of every workload, in the order of `groups`.
pub(crate) fn lines<'a>(groups: &'a [Group<'a>]) -> Vec<Line<'a>> {
    groups.iter().map(|group| line(group, |_| true)).collect()
}

/// Returns the line of a workload over the rows of its table that are `wanted`.
pub(crate) fn line<'a>(group: &'a Group<'a>, wanted: impl Fn(&Row<'a>) -> bool) -> Line<'a> {
    let rows = group.rows.iter().filter(|row| wanted(row) && was_tried(group, row));
    let steps: Vec<Step<'_>> = rows.map(|row| Step { row, ratios: ratios(group, row) }).collect();
    let places = 0..group.engines.len();
    let mut boxes: Vec<Standing<'_>> = places.map(|place| standing(group, &steps, place)).collect();
    rank(group, &steps, &mut boxes);
    Line { group, steps, boxes }
}

/// Whether a competing engine reached this phase. A phase that all of them lack shows nothing about
/// any of them.
fn was_tried(group: &Group<'_>, row: &Row<'_>) -> bool {
    let mut entries = group.engines.iter().zip(&row.entries);
    entries.any(|(engine, entry)| match entry {
        Entry::Measured(_) => engine.ranked(group.durability),
        Entry::Ended(status) => status.is_failure() && engine.ranked(group.durability),
        Entry::Absent => false,
    })
}

/// Returns the ratios of a row. Those of competing engines are from the table. References, and
/// configurations with other settings than the tier's, are compared with the same best time.
fn ratios(group: &Group<'_>, row: &Row<'_>) -> Vec<Option<f64>> {
    let mut measured = row.entries.iter().filter_map(Entry::measured);
    let best = measured.find(|measured| measured.best).map(|best| best.figure.per_op_ns);
    let ratio = |(engine, entry): (&Engine<'_>, &Entry<'_>)| {
        let measured = entry.measured()?;
        let is_beside = engine.reference || engine.own_durability.is_some();
        match is_beside && measured.competes() {
            true => Some(measured.figure.per_op_ns / best?),
            false => measured.ratio,
        }
    };
    group.engines.iter().zip(&row.entries).map(ratio).collect()
}

fn standing<'a>(group: &'a Group<'a>, steps: &[Step<'a>], place: usize) -> Standing<'a> {
    let engine = &group.engines[place];
    let cells = group.cells().filter(|cell| cell.id.engine == engine.id);
    let lost = cells.clone().any(|cell| !cell.lost_trials.is_empty());
    let worst = cells.map(|cell| cell.status).reduce(Status::worst);
    if let Some(failure) = worst.filter(|status| status.is_failure()) {
        return Standing::Ended(failure);
    }
    if engine.by_url && worst.is_some_and(Status::has_figures) {
        return Standing::ByUrl;
    }
    if engine.weaker(group.durability).is_some() && !engine.reference {
        return Standing::Weaker;
    }
    if engine.broken {
        return Standing::Broken;
    }
    let short = |step: &Step<'a>| step.row.entries[place].measured()?.shortfall;
    if let Some(shortfall) = steps.iter().find_map(short) {
        return Standing::Behind(shortfall);
    }
    // A phase that only one engine completed counts as answered, but has no ratio.
    let measured =
        |step: &&Step<'a>| step.row.entries[place].measured().is_some_and(Measured::competes);
    let (answered, of) = (steps.iter().filter(measured).count(), steps.len());
    match geometric_mean(steps.iter().filter_map(|step| step.ratios[place])) {
        Some(ratio) => Standing::Mean(Mean { ratio, answered, of, lost, ..Mean::default() }),
        // A workload that no engine can do here shows nothing about any of them.
        None if steps.is_empty() => Standing::Nothing,
        None => worst.filter(|w| !w.has_figures()).map_or(Standing::Nothing, Standing::Ended),
    }
}

/// Marks the best mean, and the means without a significant difference to it. If fewer than two
/// engines compete, nothing is marked.
fn rank(group: &Group<'_>, steps: &[Step<'_>], boxes: &mut [Standing<'_>]) {
    let competes = |place: &usize| group.engines[*place].ranked(group.durability);
    let places = || (0..boxes.len()).filter(competes);
    let with_mean = places().filter(|place| matches!(boxes[*place], Standing::Mean(_)));
    if with_mean.count() < 2 {
        return;
    }
    let whole: Vec<(usize, f64)> = places()
        .filter_map(|place| match &boxes[place] {
            Standing::Mean(mean) if mean.answered == mean.of => Some((place, mean.ratio)),
            _ => None,
        })
        .collect();
    let Some(&(first, least)) = whole.iter().min_by(|a, b| a.1.total_cmp(&b.1)) else { return };
    let of_best = trials(steps, first);
    let mut shared = false;
    for &(place, ratio) in &whole {
        let Standing::Mean(mean) = &mut boxes[place] else { continue };
        mean.best = ratio == least;
        if place != first {
            let both = trials(steps, place).zip(of_best.as_deref());
            mean.interval = both.and_then(|(own, best)| mean_ratio_interval(&own, best));
            mean.not_significant = mean.interval.is_some_and(includes_one);
            shared |= mean.not_significant;
        }
    }
    if let Standing::Mean(mean) = &mut boxes[first] {
        mean.not_significant = shared;
    }
}

/// A variant, its counted trials, and their times by phase.
type OfVariant<'a> = (Option<&'a str>, &'a [u32], Vec<&'a [f64]>);

/// Returns the trials of an engine that has every phase, as times by cell and phase. `None` if the
/// trials differ between the phases of a cell, or if a phase is not compared by its time.
fn trials<'a>(steps: &[Step<'a>], place: usize) -> Option<Vec<Vec<&'a [f64]>>> {
    let mut cells: Vec<OfVariant<'_>> = Vec::new();
    for Step { row, .. } in steps {
        let measured = row.entries[place].measured()?;
        let (figure, own) = (&measured.figure, measured.figure.per_trial_ns.as_slice());
        match cells.iter_mut().find(|(variant, ..)| *variant == row.variant) {
            Some((_, trials, phases)) if *trials == figure.trials => phases.push(own),
            Some(_) => return None,
            None => cells.push((row.variant, &figure.trials, vec![own])),
        }
    }
    Some(cells.into_iter().map(|(.., phases)| phases).collect())
}
