//! The headlines of a published comparison, each with the figures that were measured here.

use embermark_model::Scale;
use embermark_published::{Figure, FigureSource, Headline, Printed, Source};

use super::lookup::{FigureQuery, FoundFigure, Results, busy_pair};
use crate::published::unit_text;
use crate::{format, text};

/// A headline and the ratios to compare.
pub(super) struct Row {
    /// The headline and its number of rows.
    pub label: String,
    /// One ratio for each of [`COLUMNS`]. `None` if no piece measures the headline in that way.
    pub boxes: [Option<Ratio>; 6],
    /// Cause of the finding, and the measurement that shows it. `None` if there is no such
    /// measurement.
    pub explained: Option<String>,
}

/// Titles of the columns of ratios.
pub(super) const COLUMNS: [&str; 6] = [
    "published",
    "here as published",
    "at equal durability",
    "counter-run",
    "from its language",
    "emulated",
];

/// A ratio and its two figures, or the reason for their absence.
pub(super) struct Ratio {
    /// The ratio. `None` if it was not measured, or if the headline is about a single figure.
    pub ratio: Option<Figure>,
    /// Both figures, the single figure, or the reason why there is none.
    pub of: String,
    /// Whether figures were measured here.
    pub is_measured: bool,
    /// Letters of the remarks on what is done differently from the source.
    pub ours: Vec<String>,
    /// Differences from what the headline says.
    pub what: Option<String>,
}

impl Ratio {
    /// Formats the ratio: `14.0x`.
    pub fn ratio_text(&self) -> Option<String> {
        Some(figure_text(self.ratio?, format::ratio))
    }

    /// Makes a text that replaces a ratio.
    fn none(of: String) -> Self {
        Self { ratio: None, of, is_measured: false, what: None, ours: Vec::new() }
    }
}

impl Row {
    /// Returns the ratio that was measured with the source's settings.
    pub fn as_published(&self) -> Option<f64> {
        match self.boxes[1].as_ref()?.ratio? {
            Figure::Number(times) => Some(times),
            Figure::Range(_) => None,
        }
    }

    /// Whether any figure was measured for the headline.
    pub fn is_measured(&self) -> bool {
        self.boxes[1..].iter().flatten().any(|here| here.is_measured)
    }
}

/// Returns one row for each headline.
pub(super) fn rows(source: &Source, results: &Results<'_>) -> Vec<Row> {
    let row = |headline: &Headline| {
        let here = |beside: &FigureSource| {
            let none = |why| Ratio { what: beside.what.clone(), ..Ratio::none(why) };
            measured_here(source, headline, beside, results).unwrap_or_else(none)
        };
        let [published, equal, counter, client, emulated] =
            headline.beside().map(|beside| beside.map(here));
        let said = || Ratio::none(headline.said.clone().unwrap_or_default());
        let printed = Some(headline.compared().map_or_else(said, printed));
        Row {
            label: label(headline),
            boxes: [printed, published, equal, counter, client, emulated],
            explained: headline.explanation(),
        }
    };
    source.headlines.iter().map(row).collect()
}

fn label(headline: &Headline) -> String {
    match (headline.scale, headline.to_scale) {
        (Some(rows), None) => format!("{}, {}", headline.says, Scale::Rows(rows)),
        _ => headline.says.clone(),
    }
}

fn printed(printed: Printed) -> Ratio {
    let show = |figure| figure_text(figure, |figure| unit_text(printed.unit, figure));
    Ratio {
        ratio: Some(printed.ratio()),
        ..Ratio::none(format!("{} / {}", show(printed.of), show(printed.to)))
    }
}

/// Formats a figure, or a range as `2.0x to 3.0x`.
fn figure_text(figure: Figure, show: impl Fn(f64) -> String) -> String {
    match figure {
        Figure::Number(number) => show(number),
        Figure::Range([least, greatest]) => format!("{} to {}", show(least), show(greatest)),
    }
}

/// Returns the ratio that was measured here.
///
/// # Errors
/// The reason why a figure is missing.
fn measured_here(
    source: &Source,
    headline: &Headline,
    beside: &FigureSource,
    results: &Results<'_>,
) -> Result<Ratio, String> {
    let above = FigureQuery {
        source,
        pieces: &beside.pieces,
        engine: beside.engine.as_ref().unwrap_or(&headline.of),
        column: beside.column.as_deref(),
        variant: beside.variant.as_deref(),
        tier: beside.tier,
        phase: beside.phase.as_deref().unwrap_or(&headline.phase),
        measure: headline.measure,
    };
    // Two columns of an engine differ in more than the headline says.
    let is_one_engine = headline.to.is_none() && beside.to_pieces.is_none();
    let below = FigureQuery {
        pieces: beside.to_pieces.as_ref().unwrap_or(&beside.pieces),
        engine: headline.to.as_deref().unwrap_or(above.engine),
        column: beside.to_column.as_deref().or(above.column.filter(|_| is_one_engine)),
        variant: beside.to_variant.as_deref().or(beside.variant.as_deref()),
        phase: beside.to_phase.as_deref().unwrap_or(above.phase),
        ..above
    };
    let what = |deviations: &[&[String]]| {
        let said = beside.what.iter().chain(deviations.iter().copied().flatten()).cloned();
        Some(text::unique(said).join("; ")).filter(|what| !what.is_empty())
    };
    let given = headline.printed.filter(|_| headline.to_given);
    if headline.alone || given.is_some() {
        let is_wanted = |found: &FoundFigure| {
            headline.scale.is_none_or(|rows| found.scale == Scale::Rows(rows))
        };
        let all = results.find(&above)?.into_iter().filter(is_wanted);
        let found = all.max_by_key(|found| found.scale).ok_or("not run")?;
        let what = what(&[&found.notes()]);
        let (ratio, of) = match given {
            Some(given) => to_given(&found, given),
            None => (None, single(headline, &found)),
        };
        return Ok(Ratio { of, is_measured: true, ours: found.ours, what, ratio });
    }
    let (above, below) = (results.find(&above)?, results.find(&below)?);
    let (above, below) = pair(headline, &above, &below).ok_or("no scale of both was run")?;
    let own = headline.scale.map(Scale::Rows);
    let other = own.filter(|own| *own != above.scale).map(|_| format!("at {}: ", above.scale));
    let mut ours: Vec<String> = above.ours.iter().chain(&below.ours).cloned().collect();
    ours.sort_unstable();
    ours.dedup();
    let busy: Vec<String> = busy_pair(above.busy, below.busy).into_iter().collect();
    Ok(Ratio {
        ratio: Some(Figure::Number(above.amount / below.amount)),
        of: format!("{}{} / {}", other.unwrap_or_default(), above.shown, below.shown),
        is_measured: true,
        what: what(&[&above.deviations, &below.deviations, &busy]),
        ours,
    })
}

/// Formats the figure of a headline about one engine. If the source printed no totals, the time of
/// each operation follows: it compares those.
fn single(headline: &Headline, found: &FoundFigure) -> String {
    let each = found.each_ns.filter(|each| headline.printed.is_none() && *each < found.amount);
    let each = each.map(|each| format!(", {} each", format::duration(each)));
    format!("{}{}", found.shown, each.unwrap_or_default())
}

/// Divides a figure by the given one of the source, and formats both.
fn to_given(found: &FoundFigure, given: Printed) -> (Option<Figure>, String) {
    let [to, _] = given.to.ends();
    let ratio = Figure::Number(found.amount / given.unit.amount(to));
    (Some(ratio), format!("{} / {}", found.shown, unit_text(given.unit, to)))
}

/// Returns the two figures at the source's scale, or else at the largest scale that both have.
fn pair<'a>(
    headline: &Headline,
    above: &'a [FoundFigure],
    below: &'a [FoundFigure],
) -> Option<(&'a FoundFigure, &'a FoundFigure)> {
    let at = |all: &'a [FoundFigure], scale| all.iter().find(|found| found.scale == scale);
    if let (Some(scale), Some(other)) = (headline.scale, headline.to_scale) {
        return at(above, Scale::Rows(scale)).zip(at(below, Scale::Rows(other)));
    }
    let both = |found: &'a FoundFigure| Some((found, at(below, found.scale)?));
    let own = headline.scale.and_then(|rows| both(at(above, Scale::Rows(rows))?));
    own.or_else(|| above.iter().filter_map(both).max_by_key(|(found, _)| found.scale))
}
