//! Computes the ratios of criteria from figures.

use embermark_model::{Durability, Status};

use super::criteria::{CRITERIA, CriterionSources, Source};
use super::line::{Lack, Line};
use super::resource_lines;
use crate::kinds::{Kinds, PhaseOf};
use crate::statistics::geometric_mean;
use crate::summary::{Entry, Figure, Group, Row};
use crate::text;

/// Returns the lines of each criterion in one tier of these groups.
pub(super) fn lines<'a>(
    groups: &[&Group<'a>],
    kinds: &Kinds<'_>,
    tier: Durability,
) -> Vec<(&'static str, Vec<Line<'a>>)> {
    let of_tier = groups.iter().copied().filter(|group| group.durability == tier);
    let groups: Vec<&Group<'a>> = of_tier.collect();
    let any = |_: &Group<'_>, _: &Row<'_>| true;
    let of = |source: &Source| {
        let wanted = |of: PhaseOf<'_>| source.is_of(&kinds.at(of));
        match source {
            Source::Time(_) => by_row(&groups, wanted, any, true, time),
            Source::Tail => by_row(&groups, wanted, any, true, |figure| figure.p99_per_trial()),
            Source::Steady => by_row(&groups, wanted, any, false, |of| of.steady_p99_per_trial()),
            Source::Common(_) => {
                let can = |entry: &Entry<'_>| !matches!(entry, Entry::Ended(Status::Unsupported));
                let all = |group: &Group<'_>, row: &Row<'_>| {
                    let mut ranked = group.engines.iter().zip(&row.entries);
                    ranked.all(|(engine, entry)| !engine.ranked(tier) || can(entry))
                };
                by_row(&groups, wanted, all, true, time)
            }
            Source::Use(used, work) => resource_lines::lines(&groups, kinds, *used, *work),
        }
    };
    let competing = groups.iter().flat_map(|group| &group.engines);
    let competing = competing.filter(|engine| engine.ranked(tier)).map(|engine| engine.id);
    let competing = text::unique(competing);
    let of_criterion = |made: &CriterionSources| {
        let mut lines: Vec<Line<'a>> = made.sources.iter().flat_map(of).collect();
        // Where engines can be compared, only that counts. The other lines have reasons.
        let compares = lines.iter().any(|line| !line.ratios.is_empty());
        lines.retain(|line| !compares || !line.ratios.is_empty());
        lines.iter_mut().for_each(|line| line.add_missing(&competing));
        (made.criterion.id, lines)
    };
    CRITERIA.iter().map(of_criterion).collect()
}

#[allow(clippy::unnecessary_wraps, reason = "a percentile may be lacking, a time never is")]
fn time(figure: &Figure<'_>) -> Option<Vec<f64>> {
    Some(figure.per_trial_ns.clone())
}

/// Result of an engine in a criterion.
pub(super) struct Standing<'a> {
    /// The ratio, and its interval if every line has one.
    pub ratio: Option<(f64, Option<[f64; 2]>)>,
    /// The ratio over the lines of each workload, without workloads in which a line is missing.
    pub by_workload: Vec<(&'a str, f64)>,
    /// Why the engine has no ratio. Empty if one word says it.
    pub lacks: Vec<String>,
    /// The most important reason in a word: a failure, or that there is no other engine.
    pub word: Option<String>,
}

/// Computes an engine's ratio in a criterion and the interval: geometric means over the lines. The
/// ends of the intervals are averaged too, which gives the widest possible interval. An engine that
/// lacks the figure of any line, or a whole workload, has no ratio. A mean over the easier part of
/// the work would compare nothing.
pub(super) fn standing<'a>(lines: &[Line<'a>], engine: &str) -> Standing<'a> {
    let workloads = text::unique(lines.iter().map(|line| line.workload));
    let of_one = |workload: &'a str| {
        let own = lines.iter().filter(|line| line.workload == workload);
        Some((workload, mean(own, engine)?.0))
    };
    let ratio = mean(lines.iter(), engine);
    let lacking = lines.iter().flat_map(|line| &line.lacking);
    let lacking = lacking.filter(|(other, ..)| *other == engine && ratio.is_none());
    let lacking: Vec<_> = lacking.collect();
    let failed = lacking.iter().find(|(.., lack)| lack.is_failure());
    let word = failed.or_else(|| lacking.iter().find(|(.., lack)| *lack == Lack::Alone));
    // Of work that nobody did, each engine lacks every figure.
    let compares = lines.iter().any(|line| !line.ratios.is_empty());
    let is_told = |lack: &Lack| match lack {
        Lack::Alone => false,
        Lack::NotMeasured => compares,
        Lack::Ended(_) | Lack::Undone(_) => true,
    };
    let lacks = lacking.iter().filter(|(.., lack)| is_told(lack));
    let lacks = lacks.map(|(_, place, lack)| format!("{place}: {lack}"));
    Standing {
        lacks: text::unique(lacks),
        word: word.map(|(.., lack)| lack.to_string()),
        ratio,
        by_workload: workloads.into_iter().filter_map(of_one).collect(),
    }
}

fn mean<'l, 'a: 'l>(
    lines: impl Iterator<Item = &'l Line<'a>>,
    engine: &str,
) -> Option<(f64, Option<[f64; 2]>)> {
    let of_line = |line: &'l Line<'a>| line.ratios.iter().find(|(other, ..)| *other == engine);
    let ratios: Vec<_> = lines.map(of_line).collect::<Option<_>>()?;
    let ratio = geometric_mean(ratios.iter().map(|(_, ratio, _)| *ratio))?;
    let intervals: Option<Vec<[f64; 2]>> = ratios.iter().map(|(.., interval)| *interval).collect();
    let end = |intervals: &[[f64; 2]], end: usize| {
        geometric_mean(intervals.iter().map(|interval| interval[end]))
    };
    let interval = intervals.and_then(|all| Some([end(&all, 0)?, end(&all, 1)?]));
    Some((ratio, interval))
}

/// Makes a line for each row of these phases that `counts`, and in which all engines with a time
/// have this figure too. Fast operations are sampled rarely, so the fastest engines are the first to
/// lack a percentile, and a slow one would be the best of the rest. Without `of_all`, a line has the
/// engines with this figure: one without it reached no steady state, and counts as not measured.
fn by_row<'a>(
    groups: &[&Group<'a>],
    phases: impl Fn(PhaseOf<'_>) -> bool,
    counts: impl Fn(&Group<'a>, &Row<'a>) -> bool,
    of_all: bool,
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
            let ranked = group.engines.iter().zip(&row.entries).filter_map(|(engine, entry)| {
                let measured = entry.measured().filter(|measured| measured.competes())?;
                let is_ranked = engine.ranked(group.durability);
                is_ranked.then(|| (engine.id, trials(&measured.figure)))
            });
            let values = ranked.map(|(engine, trials)| Some((engine, trials?)));
            let values: Option<Vec<_>> = match of_all {
                true => values.collect(),
                false => Some(values.flatten().collect()),
            };
            lines.extend(values.map(|values| Line::new(group, values, lacking(group, row))));
        }
    }
    lines
}

/// Lists the engines that compete in a row, with their work, and why each could lack a ratio.
fn lacking<'a>(group: &Group<'a>, row: &Row<'a>) -> Vec<(&'a str, String, Lack)> {
    let variant = row.variant.unwrap_or(group.variant);
    let place = format!("{} {variant} {}", group.place(), row.phase.unwrap_or_default());
    let place = text::plain(&place);
    let why = |entry: &Entry<'_>| match entry {
        Entry::Measured(measured) => match measured.shortfall {
            Some(shortfall) => Lack::Undone(shortfall.words(row.phase)),
            None if measured.tainted => Lack::Undone("its cell did not end well".to_owned()),
            None => Lack::NotMeasured,
        },
        Entry::Ended(status) => Lack::Ended(*status),
        Entry::Absent => Lack::NotMeasured,
    };
    let engines = group.engines.iter().zip(&row.entries);
    let engines = engines.filter(|(engine, _)| engine.ranked(group.durability));
    engines.map(|(engine, entry)| (engine.id, place.clone(), why(entry))).collect()
}
