//! From figures to the ratios of criteria.

use embermark_model::Durability;
use embermark_model::result::{Cell, ResultFile};

use super::criteria::{CRITERIA, Source};
use super::wear;
use crate::flash;
use crate::statistics::{FEWEST_TRIALS, geometric_mean, is_measure, median, ratio_interval};
use crate::summary::{Figure, Group, Resource, Row, Shortfall};
use crate::text;

/// Sizes below one page of 4,096 bytes are not told apart: memory and storage come in pages, and
/// what an engine did not write at all would be infinitely better than one page.
const PAGE: f64 = 4_096.0;

/// One figure that a criterion is made of, over the engines that compete for it.
pub(super) struct Line<'a> {
    /// Of which workload.
    pub workload: &'a str,
    /// Engines that took part in the group, whether they have this figure or not.
    present: Vec<&'a str>,
    /// Engine, its figure over the best one's, and the interval of that ratio.
    ratios: Vec<(&'a str, f64, Option<[f64; 2]>)>,
}

/// By criterion the lines it is made of in one tier, of these groups.
pub(super) fn lines<'a>(
    file: &'a ResultFile,
    groups: &[&Group<'a>],
    tier: Durability,
) -> Vec<(&'static str, Vec<Line<'a>>)> {
    let of_tier = groups.iter().copied().filter(|group| group.durability == tier);
    let groups: Vec<&Group<'a>> = of_tier.collect();
    let of = |source: &Source| match source {
        Source::Time(phases) => by_row(&groups, |of| phases.has(of.0, of.1, of.2), time),
        Source::Tail(phases) => {
            by_row(&groups, |of| phases.has(of.0, of.1, of.2), |figure| figure.p99_per_trial())
        }
        Source::Steady(phases) => {
            let steady = |figure: &Figure<'_>| figure.steady_p99_per_trial();
            by_those_that_have(&groups, |of| phases.has(of.0, of.1, of.2), steady)
        }
        Source::Use(resource) => {
            by_group(file, &groups, *resource, |_, cell| resource.per_trial(cell))
        }
        Source::Wear => by_group(file, &groups, Resource::Written, |group, cell| {
            match wear::is_modelled(file, group) {
                true => flash::programmed(file, cell).into_iter().collect(),
                false => Resource::Written.per_trial(cell),
            }
        }),
    };
    // Phases of workload files: each counts for one criterion, and those of single operations for the tail.
    let counts =
        |of: RowOf<'_>, criterion: &str| file.plan.criterion_of(of.0, of.2) == Some(criterion);
    let own = |criterion: &str| match criterion {
        "tail" => {
            let single = |of: RowOf<'_>| SINGLE.into_iter().any(|criterion| counts(of, criterion));
            by_row(&groups, single, |figure| figure.p99_per_trial())
        }
        criterion => by_row(&groups, |of| counts(of, criterion), time),
    };
    let made = CRITERIA.iter();
    made.map(|made| {
        let id = made.criterion.id;
        (id, made.of.iter().flat_map(of).chain(own(id)).collect())
    })
    .collect()
}

/// Criteria of single operations.
const SINGLE: [&str; 3] = ["ingest", "point", "update"];

/// The workload, the variant and the phase of a row.
type RowOf<'a> = (&'a str, &'a str, &'a str);

#[allow(clippy::unnecessary_wraps, reason = "a percentile may be lacking, a time never is")]
fn time(figure: &Figure<'_>) -> Option<Vec<f64>> {
    Some(figure.per_trial_ns.clone())
}

/// The ratio of an engine in a criterion and its interval: the geometric means over its lines, of
/// the intervals' ends too, which is the widest that the ratio's can be. `None` where the engine
/// lacks the figure of a line of a group it took part in: a mean over the easier part of the work
/// would compare nothing.
pub(super) fn of(lines: &[Line<'_>], engine: &str) -> Option<(f64, Option<[f64; 2]>)> {
    let mine = lines.iter().filter(|line| line.present.contains(&engine));
    let ratios: Option<Vec<_>> = mine
        .map(|line| line.ratios.iter().find(|(other, ..)| *other == engine))
        .map(|found| found.map(|(_, ratio, interval)| (*ratio, *interval)))
        .collect();
    let ratios = ratios?;
    let ratio = geometric_mean(ratios.iter().map(|(ratio, _)| *ratio))?;
    let intervals: Option<Vec<[f64; 2]>> = ratios.iter().map(|(_, interval)| *interval).collect();
    let end = |intervals: &[[f64; 2]], end: usize| {
        geometric_mean(intervals.iter().map(|interval| interval[end]))
    };
    let interval = intervals.and_then(|all| Some([end(&all, 0)?, end(&all, 1)?]));
    Some((ratio, interval))
}

/// A line for each row of these phases in which all who have a time have this figure too: fast
/// operations are timed seldom, so that the fastest engines are the first to lack a percentile, and
/// a slow one would be the best of those that are left.
fn by_row<'a>(
    groups: &[&Group<'a>],
    phases: impl Fn(RowOf<'_>) -> bool,
    trials: impl Fn(&Figure<'_>) -> Option<Vec<f64>>,
) -> Vec<Line<'a>> {
    let wanted = |group: &Group<'a>, row: &Row<'a>| {
        let variant = row.variant.unwrap_or(group.variant);
        row.phase.is_some_and(|phase| phases((group.workload, variant, phase)))
    };
    let mut lines = Vec::new();
    for group in groups {
        for row in group.rows.iter().filter(|row| wanted(group, row)) {
            let entries = group.engines.iter().zip(&row.entries);
            let ranked = entries.filter_map(|(engine, entry)| {
                let measured = entry.measured().filter(|measured| measured.ratio.is_some())?;
                Some((engine.id, trials(&measured.figure)))
            });
            let values: Option<Vec<_>> =
                ranked.map(|(engine, trials)| Some((engine, trials?))).collect();
            lines.extend(values.and_then(|values| line(group, values)));
        }
    }
    lines
}

/// A line for each row of these phases, of the engines that have this figure: one that lacks it came to no
/// steady state, and is not measured.
fn by_those_that_have<'a>(
    groups: &[&Group<'a>],
    phases: impl Fn(RowOf<'_>) -> bool,
    trials: impl Fn(&Figure<'_>) -> Option<Vec<f64>>,
) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    for group in groups {
        for row in &group.rows {
            let variant = row.variant.unwrap_or(group.variant);
            if !row.phase.is_some_and(|phase| phases((group.workload, variant, phase))) {
                continue;
            }
            let entries = group.engines.iter().zip(&row.entries);
            let values = entries.filter_map(|(engine, entry)| {
                let measured = entry.measured().filter(|measured| measured.ratio.is_some())?;
                Some((engine.id, trials(&measured.figure)?))
            });
            lines.extend(line(group, values.collect()));
        }
    }
    lines
}

/// A line for each workload: what its main variant used, by engines that did all of it.
fn by_group<'a>(
    file: &'a ResultFile,
    groups: &[&Group<'a>],
    of: Resource,
    used: impl Fn(&Group<'a>, &Cell) -> Vec<f64>,
) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    for group in groups {
        let engines = group.engines.iter().zip(&group.usage);
        let whole = engines
            .filter(|(engine, usage)| engine.ranked(group.durability) && !usage.incomplete)
            .filter_map(|(engine, _)| {
                Some((engine.id, group.cell(file, group.variant, engine.id)?))
            })
            .filter(|(_, cell)| Shortfall::of(cell, None).is_none());
        // What is counted has no error: its interval is the ratio itself.
        let times = if of.is_counted() { FEWEST_TRIALS } else { 1 };
        let values =
            whole.map(|(engine, cell)| (engine, floored(used(group, cell).repeat(times), of)));
        lines.extend(line(group, values.collect()));
    }
    lines
}

fn floored(values: Vec<f64>, of: Resource) -> Vec<f64> {
    let sizes = matches!(of, Resource::Peak | Resource::Read | Resource::Written | Resource::Disk);
    values.into_iter().map(|value| if sizes { value.max(PAGE) } else { value }).collect()
}

/// The engines that compete in a group and have any figure in it, if only one of a cell that did
/// not do all that it was to do.
fn present<'a>(group: &Group<'a>) -> Vec<&'a str> {
    let taking_part = group.measured().filter(|(_, engine, measured)| {
        let is_figure = measured.ratio.is_some() || measured.shortfall.is_some();
        engine.ranked(group.durability) && is_figure
    });
    text::unique(taking_part.map(|(_, engine, _)| engine.id))
}

/// The ratios to the smallest median; `None` where nobody has one.
fn line<'a>(group: &Group<'a>, values: Vec<(&'a str, Vec<f64>)>) -> Option<Line<'a>> {
    let medians: Vec<(&str, f64, &[f64])> = values
        .iter()
        .filter_map(|(engine, trials)| Some((*engine, median(trials)?, trials.as_slice())))
        .filter(|(_, median, _)| is_measure(*median))
        .collect();
    let (best, least, of_best) = *medians.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let ratios = medians.iter().map(|(engine, median, trials)| {
        // The best is 1 by definition; what is uncertain about it is in the others' intervals.
        let interval = ratio_interval(trials, of_best);
        let interval = if *engine == best { interval.map(|_| [1.0, 1.0]) } else { interval };
        (*engine, median / least, interval)
    });
    Some(Line { workload: group.workload, present: present(group), ratios: ratios.collect() })
}
