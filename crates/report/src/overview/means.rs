//! How many times the fastest engine's time an engine takes: over one workload, the geometric mean
//! of its ratios.

use embermark_model::Status;
use embermark_model::result::ResultFile;

use crate::statistics::{geometric_mean, includes_one, mean_ratio_interval};
use crate::summary::{Entry, Group, Measured, Row, Shortfall};

/// One workload at one scale in one tier.
pub(crate) struct Line<'a> {
    /// What is compared.
    pub group: &'a Group<'a>,
    /// The rows of its table that the means are over.
    pub steps: Vec<Step<'a>>,
    /// In the order of the group's engines.
    pub boxes: Vec<Standing<'a>>,
}

/// One phase in one variant.
pub(crate) struct Step<'a> {
    pub row: &'a Row<'a>,
    /// Each engine's time over that of the fastest one that competes, in the order of the group's
    /// engines; absent where it did not answer, or its cell did not end well.
    pub ratios: Vec<Option<f64>>,
}

/// How one engine stands in one workload.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Standing<'a> {
    /// It has a mean.
    Mean(Mean),
    /// It lost samples or missed reads of the machine, or did not achieve its rate.
    Behind(Shortfall<'a>),
    /// It failed somewhere in the workload, or could do none of it.
    Ended(Status),
    /// Its effective durability is below the tier: its times compare with no other.
    Weaker,
    /// A server given by its URL, with its own settings: its times compare with no other.
    ByUrl,
    /// Nothing was measured that compares.
    Nothing,
}

/// A geometric mean of ratios.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mean {
    pub ratio: f64,
    /// Phases it is over.
    pub answered: usize,
    /// Phases there are.
    pub of: usize,
    /// The smallest among those that answered every phase.
    pub best: bool,
    /// The 95 % interval of its mean time over that of the best; absent for the best itself, and where it
    /// did not answer every phase or has fewer than three trials.
    pub interval: Option<[f64; 2]>,
    /// The difference to the best is not significant; the best has this too where another shares
    /// its place.
    pub not_significant: bool,
    /// A trial of one of its cells was lost: the mean is of the others.
    pub lost: bool,
}

/// Every workload's line, in the order of `groups`.
pub(crate) fn lines<'a>(file: &ResultFile, groups: &'a [Group<'a>]) -> Vec<Line<'a>> {
    groups.iter().map(|group| line(file, group, |_| true)).collect()
}

/// A workload's line over the rows of its table that are `wanted`.
pub(crate) fn line<'a>(
    file: &ResultFile,
    group: &'a Group<'a>,
    wanted: impl Fn(&Row<'a>) -> bool,
) -> Line<'a> {
    let steps: Vec<Step<'_>> = group
        .rows
        .iter()
        .filter(|row| wanted(row) && was_tried(group, row))
        .map(|row| Step { row, ratios: ratios(group, row) })
        .collect();
    let boxes = (0..group.engines.len()).map(|place| standing(file, group, &steps, place));
    let mut boxes: Vec<Standing<'_>> = boxes.collect();
    rank(group, &steps, &mut boxes);
    Line { group, steps, boxes }
}

/// Whether some engine that competes came to this phase: one that all of them lack says nothing of
/// any of them.
fn was_tried(group: &Group<'_>, row: &Row<'_>) -> bool {
    group.engines.iter().zip(&row.entries).any(|(engine, entry)| {
        engine.ranked(group.durability)
            && match entry {
                Entry::Measured(_) => true,
                Entry::Ended(status) => status.is_failure(),
                Entry::Absent => false,
            }
    })
}

/// The ratios of a row. Those of engines that compete are the table's; a reference, and a configuration
/// whose settings are not the tier's, is held against the same time.
fn ratios(group: &Group<'_>, row: &Row<'_>) -> Vec<Option<f64>> {
    let mut measured = row.entries.iter().filter_map(Entry::measured);
    let best = measured.find(|measured| measured.best).map(|best| best.figure.per_op_ns);
    let ratio = |(engine, entry): (&crate::summary::Engine<'_>, &Entry<'_>)| match entry {
        Entry::Measured(measured)
            if (engine.reference || engine.own_durability.is_some()) && measured.competes() =>
        {
            Some(measured.figure.per_op_ns / best?)
        }
        Entry::Measured(measured) => measured.ratio,
        _ => None,
    };
    group.engines.iter().zip(&row.entries).map(ratio).collect()
}

fn standing<'a>(
    file: &ResultFile,
    group: &'a Group<'a>,
    steps: &[Step<'a>],
    place: usize,
) -> Standing<'a> {
    let engine = &group.engines[place];
    let cells = file.cells.iter().filter(|c| group.holds(&c.id) && c.id.engine == engine.id);
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
    let short = |step: &Step<'a>| match &step.row.entries[place] {
        Entry::Measured(measured) => measured.shortfall,
        _ => None,
    };
    if let Some(shortfall) = steps.iter().find_map(short) {
        return Standing::Behind(shortfall);
    }
    // A phase that an engine did alone it answered, and has no ratio in.
    let measured =
        |step: &&Step<'a>| step.row.entries[place].measured().is_some_and(Measured::competes);
    let answered = steps.iter().filter(measured).count();
    match geometric_mean(steps.iter().filter_map(|step| step.ratios[place])) {
        Some(ratio) => Standing::Mean(Mean {
            ratio,
            answered,
            of: steps.len(),
            best: false,
            interval: None,
            not_significant: false,
            lost,
        }),
        // What nobody could do here says nothing of one of them.
        None if steps.is_empty() => Standing::Nothing,
        None => worst.filter(|w| !w.has_figures()).map_or(Standing::Nothing, Standing::Ended),
    }
}

/// Finds the best mean, and those that no difference to it is shown for. Where fewer than two
/// engines compete there is none.
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
            let interval = trials(steps, place)
                .zip(of_best.as_deref())
                .and_then(|(own, best)| mean_ratio_interval(&own, best));
            mean.interval = interval;
            mean.not_significant = interval.is_some_and(includes_one);
            shared |= mean.not_significant;
        }
    }
    if let Standing::Mean(mean) = &mut boxes[first] {
        mean.not_significant = shared;
    }
}

/// A variant, which of its trials counted, and of each phase their times.
type OfVariant<'a> = (Option<&'a str>, &'a [u32], Vec<&'a [f64]>);

/// The trials of an engine that has every phase: by cell, its phases. `None` where they are not the
/// same ones in every phase of a cell, or a phase is not compared by its time.
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
