//! From figures to the ratios of criteria.

use embermark_model::result::ResultFile;
use embermark_model::{Durability, Status};

use super::criteria::{CRITERIA, Source};
use super::used;
use crate::kinds::{Kinds, PhaseOf};
use crate::statistics::{geometric_mean, is_measure, median, ratio_interval, to_the_best};
use crate::summary::{Entry, Figure, Group, Row};
use crate::text;

/// Sizes below one page of 4,096 bytes are not told apart: memory and storage come in pages, and
/// what an engine did not write at all would be infinitely better than one page.
pub(super) const PAGE: f64 = 4_096.0;

/// One figure that a criterion is made of, over the engines that compete for it.
pub(super) struct Line<'a> {
    /// Of which workload.
    pub workload: &'a str,
    /// That with its scale: `sensors 10k`.
    place: String,
    /// Engine, its figure over the best one's, and the interval of that ratio.
    ratios: Vec<(&'a str, f64, Option<[f64; 2]>)>,
    /// Engines that lack it, and why.
    lacking: Vec<(&'a str, String)>,
}

/// By criterion the lines it is made of in one tier, of these groups.
pub(super) fn lines<'a>(
    file: &'a ResultFile,
    groups: &[&Group<'a>],
    kinds: &Kinds<'_>,
    tier: Durability,
) -> Vec<(&'static str, Vec<Line<'a>>)> {
    let of_tier = groups.iter().copied().filter(|group| group.durability == tier);
    let groups: Vec<&Group<'a>> = of_tier.collect();
    let of = |source: &Source| {
        let wanted = |of: PhaseOf<'_>| source.is_of(&kinds.at(of));
        match source {
            Source::Time(_) => by_row(&groups, wanted, time),
            Source::Tail => by_row(&groups, wanted, |figure| figure.p99_per_trial()),
            Source::Steady => {
                by_those_that_have(&groups, wanted, |figure| figure.steady_p99_per_trial())
            }
            Source::Common(_) => {
                let can = |entry: &Entry<'_>| !matches!(entry, Entry::Ended(Status::Unsupported));
                let all = |group: &Group<'_>, row: &Row<'_>| {
                    let mut ranked = group.engines.iter().zip(&row.entries);
                    ranked.all(|(engine, entry)| !engine.ranked(tier) || can(entry))
                };
                by_rows(&groups, wanted, all, time)
            }
            Source::Use(used, work) => used::lines(file, &groups, kinds, *used, *work),
        }
    };
    let made = CRITERIA.iter();
    let competing = groups.iter().flat_map(|group| &group.engines);
    let competing = competing.filter(|engine| engine.ranked(tier)).map(|engine| engine.id);
    let competing = text::unique(competing);
    made.map(|made| {
        let id = made.criterion.id;
        let mut lines: Vec<Line<'a>> = made.of.iter().flat_map(of).collect();
        lines.iter_mut().for_each(|line| line.miss(&competing));
        (id, lines)
    })
    .collect()
}

#[allow(clippy::unnecessary_wraps, reason = "a percentile may be lacking, a time never is")]
fn time(figure: &Figure<'_>) -> Option<Vec<f64>> {
    Some(figure.per_trial_ns.clone())
}

/// How an engine stands in a criterion.
pub(super) struct Standing<'a> {
    /// Its ratio, and the interval of that where every line has one.
    pub ratio: Option<(f64, Option<[f64; 2]>)>,
    /// By workload the ratio over its lines; without those of which it lacks one.
    pub by_workload: Vec<(&'a str, f64)>,
    /// Why it has no ratio.
    pub lacks: Vec<String>,
}

/// The ratio of an engine in a criterion and its interval: the geometric means over its lines, of
/// the intervals' ends too, which is the widest that the ratio's can be. It has none where it lacks
/// the figure of a line, if only as it has a workload not at all: a mean over the easier part of the
/// work would compare nothing.
pub(super) fn of<'a>(lines: &[Line<'a>], engine: &str) -> Standing<'a> {
    let workloads = text::unique(lines.iter().map(|line| line.workload));
    let of_one = |workload: &'a str| {
        let own = lines.iter().filter(|line| line.workload == workload);
        Some((workload, mean(own, engine)?.0))
    };
    let lacking = lines.iter().flat_map(|line| &line.lacking);
    let lacks = lacking.filter(|(other, _)| *other == engine).map(|(_, why)| why.clone());
    let ratio = mean(lines.iter(), engine);
    Standing {
        lacks: if ratio.is_some() { Vec::new() } else { text::unique(lacks) },
        ratio,
        by_workload: workloads.into_iter().filter_map(of_one).collect(),
    }
}

fn mean<'l, 'a: 'l>(
    lines: impl Iterator<Item = &'l Line<'a>>,
    engine: &str,
) -> Option<(f64, Option<[f64; 2]>)> {
    let ratios: Option<Vec<_>> = lines
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
    phases: impl Fn(PhaseOf<'_>) -> bool,
    trials: impl Fn(&Figure<'_>) -> Option<Vec<f64>>,
) -> Vec<Line<'a>> {
    by_rows(groups, phases, |_, _| true, trials)
}

/// The same of rows that `counts` lets pass.
fn by_rows<'a>(
    groups: &[&Group<'a>],
    phases: impl Fn(PhaseOf<'_>) -> bool,
    counts: impl Fn(&Group<'a>, &Row<'a>) -> bool,
    trials: impl Fn(&Figure<'_>) -> Option<Vec<f64>>,
) -> Vec<Line<'a>> {
    let wanted = |group: &Group<'a>, row: &Row<'a>| {
        let variant = row.variant.unwrap_or(group.variant);
        row.phase.is_some_and(|phase| phases((group.workload, variant, phase)))
            && counts(group, row)
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
            lines.extend(values.and_then(|values| Line::of(group, values, lacking(group, row))));
        }
    }
    lines
}

/// Engines without a ratio in a row, and why.
fn lacking<'a>(group: &Group<'a>, row: &Row<'a>) -> Vec<(&'a str, String)> {
    let variant = row.variant.unwrap_or(group.variant);
    let place = format!("{} {variant} {}", group.place(), row.phase.unwrap_or_default());
    let place = text::plain(&place);
    let why = |entry: &Entry<'_>| match entry {
        Entry::Measured(measured) => match measured.shortfall {
            Some(shortfall) => shortfall.beside(row.phase),
            None if measured.tainted => "its cell did not end well".to_owned(),
            None => "not measured".to_owned(),
        },
        Entry::Ended(status) => status.to_string(),
        Entry::Absent => "not measured".to_owned(),
    };
    let engines = group.engines.iter().zip(&row.entries);
    let engines = engines.filter(|(engine, _)| engine.ranked(group.durability));
    engines.map(|(engine, entry)| (engine.id, format!("{place}: {}", why(entry)))).collect()
}

/// A line for each row of these phases, of the engines that have this figure: one that lacks it came to no
/// steady state, and is not measured.
fn by_those_that_have<'a>(
    groups: &[&Group<'a>],
    phases: impl Fn(PhaseOf<'_>) -> bool,
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
            lines.extend(Line::of(group, values.collect(), lacking(group, row)));
        }
    }
    lines
}

impl<'a> Line<'a> {
    /// The ratios to the smallest median; `None` where fewer than two have one. `why` says of each
    /// engine why it has none, if it has none.
    pub fn of(
        group: &Group<'a>,
        values: Vec<(&'a str, Vec<f64>)>,
        why: Vec<(&'a str, String)>,
    ) -> Option<Self> {
        let medians: Vec<(&str, f64, &[f64])> = values
            .iter()
            .filter_map(|(engine, trials)| Some((*engine, median(trials)?, trials.as_slice())))
            .filter(|(_, median, _)| is_measure(*median))
            .collect();
        // Who is alone is compared with nobody.
        if medians.len() < 2 {
            return None;
        }
        let (best, least, of_best) = *medians.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let ratios = medians.iter().map(|(engine, median, trials)| {
            // The best is 1 by definition; what is uncertain about it is in the others' intervals.
            let interval = ratio_interval(trials, of_best).map(to_the_best);
            let interval = if *engine == best { interval.map(|_| [1.0, 1.0]) } else { interval };
            (*engine, median / least, interval)
        });
        let ratios: Vec<_> = ratios.collect();
        let has = |engine: &str| ratios.iter().any(|(other, ..)| *other == engine);
        let lacking = why.into_iter().filter(|(engine, _)| !has(engine)).collect();
        Some(Self { workload: group.workload, place: group.place(), ratios, lacking })
    }

    /// Says of the engines that compete in the tier and are not in this group that they were not measured.
    fn miss(&mut self, competing: &[&'a str]) {
        for engine in competing {
            let has = self.ratios.iter().any(|(other, ..)| other == engine);
            if !has && !self.lacking.iter().any(|(other, _)| other == engine) {
                self.lacking.push((engine, format!("{}: not measured", self.place)));
            }
        }
    }
}
