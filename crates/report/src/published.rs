//! Compares the figures of a workload's published source with those measured here.
//!
//! Each phase and scale has a first line with the source's figures. Further lines have those of
//! this run, one per tier and variant. They show whether a difference comes from durability or from
//! how rows are loaded.

use embermark_model::{Conditions, Scale};
use embermark_published::{PhaseFigure, Source, Unit, all};

use crate::grid::{Annotated, Grid, Text};
use crate::note::note;
use crate::summary::{Comparison, Figure};
use crate::{PublishedDetail, format, text};

/// Returns published figures next to measured ones, for every workload of a result that has a
/// source.
pub(crate) fn comparisons(comparison: &Comparison<'_>, which: PublishedDetail) -> Vec<Annotated> {
    // Tables of resources have a form of their own, in the module `cost`.
    let of_result = |source: &&Source| {
        which != PublishedDetail::None
            && source.figures.usage.is_empty()
            && comparison.groups.iter().any(|group| group.workload == source.workload)
    };
    let all_figures = which == PublishedDetail::All;
    let sources = all().iter().filter(of_result);
    sources.filter_map(|source| beside_measured(source, comparison, all_figures)).collect()
}

/// Formats a printed figure with its unit.
pub(crate) fn unit_text(unit: Unit, figure: f64) -> String {
    match unit {
        Unit::Seconds | Unit::Milliseconds => format::duration(unit.amount(figure)),
        Unit::PerSecond => format::rate(figure),
        Unit::Percent => format!("{} % CPU", format::number(figure)),
        Unit::Kilobits => format!("{} kbit/s", format::number(figure)),
        Unit::Kilobytes => format!("{} kB", format::number(figure)),
        Unit::KilobytesPerSecond => format!("{} kB/s", format::number(figure)),
        Unit::Megabytes => format::bytes(unit.amount(figure)),
        Unit::Mebibytes => format!("{} MiB", format::number(figure)),
    }
}

/// One row of a source: a phase at a scale in a variant.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Line<'a> {
    phase: &'a str,
    scale: Option<u64>,
    variant: Option<&'a str>,
}

impl<'a> Line<'a> {
    /// Returns the row that has a figure.
    pub fn of(figure: &'a PhaseFigure) -> Self {
        let PhaseFigure { phase, scale, variant, .. } = figure;
        Self { phase, scale: *scale, variant: variant.as_deref() }
    }

    /// Formats its phase, variant and scale. One variant need not be named.
    pub fn label(&self, unnamed: Option<&str>) -> String {
        let variant = self.variant.filter(|variant| Some(*variant) != unnamed);
        let variant = variant.map(|variant| format!(" ({variant})")).unwrap_or_default();
        let scale = self.scale.map(|rows| format!(" {}", Scale::Rows(rows))).unwrap_or_default();
        format!("{}{variant}{scale}", self.phase)
    }
}

fn beside_measured(source: &Source, comparison: &Comparison<'_>, all: bool) -> Option<Annotated> {
    let figures = &source.figures;
    let engines = text::unique(figures.phases.iter().map(|figure| figure.engine.as_str()));
    let lines = text::unique(figures.phases.iter().map(Line::of));
    let mut rows = Vec::new();
    for line in lines {
        let measured = measured(source, &line, &engines, comparison);
        if !measured.is_empty() || all {
            let label = line.label(figures.unnamed_variant.as_deref());
            rows.push((format!("{label}, published"), printed(source, &line, &engines)));
            rows.extend(measured);
        }
    }
    // If none of the figures match a measurement, there is nothing to show. A source without
    // figures is still shown.
    if rows.is_empty() && !figures.phases.is_empty() {
        return None;
    }
    let (title, hardware) = (source.title_of_figures(), source.hardware_of_figures());
    let says = [
        note("source", format!("{title}; {}; hardware: {hardware}", figures.statistic)),
        note("differs", figures.differs.clone()),
    ];
    let left_out = figures.left_out.iter().map(|text| note("left out", text.clone()));
    let further = figures.notes.iter().map(|text| note("note", text.clone()));
    let title = format!("{} · published beside measured", source.workload);
    let grid = Grid::new(title, engines.iter().map(|engine| text::plain(engine)), rows);
    Some(Annotated { grid, notes: says.into_iter().chain(left_out).chain(further).collect() })
}

/// Returns the source's figures for a line.
fn printed(source: &Source, line: &Line<'_>, engines: &[&str]) -> Vec<Text> {
    let unit = source.figures.unit;
    with_ratios(engines.iter().map(|engine| {
        let mut figures = source.figures.phases.iter();
        let value = figures.find(|of| Line::of(of) == *line && of.engine == **engine)?.value;
        // Rates are converted to times, so that ratios mean the same.
        let time = if unit == Unit::PerSecond { value.recip() } else { value };
        Some((time, unit_text(unit, value)))
    }))
}

/// Returns the measurements for a line, in every tier and variant.
fn measured(
    source: &Source,
    line: &Line<'_>,
    engines: &[&str],
    comparison: &Comparison<'_>,
) -> Vec<(String, Vec<Text>)> {
    let mut rows = Vec::new();
    let rate = source.figures.unit == Unit::PerSecond;
    for group in &comparison.groups {
        let scale = line.scale.is_none_or(|rows| group.extent.scale == Scale::Rows(rows));
        if group.workload != source.workload || !scale {
            continue;
        }
        for row in group.rows.iter().filter(|row| row.phase == Some(line.phase)) {
            let variant = row.variant.unwrap_or(group.variant);
            // The engine itself, or its first configuration.
            let column = |engine: &&str| {
                let known = || group.engines.iter().enumerate();
                let itself = known().find(|(_, known)| known.id == *engine);
                itself.or_else(|| known().find(|(_, known)| known.base == *engine))
            };
            let figure = |engine: &&str| {
                let (place, _) = column(engine)?;
                let measured = row.entries[place].measured()?;
                measured.competes().then_some(&measured.figure)
            };
            let figures: Vec<Option<&Figure<'_>>> = engines.iter().map(figure).collect();
            let own = engines.iter().filter_map(|engine| Some(column(engine)?.1));
            let own = own.filter(|known| known.id != known.base);
            let own: String = own.map(|known| format!(", {}", text::plain(known.id))).collect();
            // A figure of one variant is compared only with that variant.
            let is_other = line.variant.is_some_and(|own| own != variant);
            if figures.iter().all(Option::is_none) || is_other {
                continue;
            }
            let told = line.scale.is_none() || group.conditions() != Conditions::default();
            let scale = if told { format!("{}, ", group.extent) } else { String::new() };
            // A variant is named if there are others.
            let others = group.rows.iter().any(|row| row.variant.is_some());
            let variant = if others { format!(" {}", text::plain(variant)) } else { String::new() };
            let label = format!("  here, {scale}{}{variant}{own}", group.durability);
            rows.push((label, texts(&figures, rate)));
        }
    }
    rows
}

/// Formats measured figures with their ratios to the best. They are times per operation if an
/// engine did not do all the work.
fn texts(figures: &[Option<&Figure<'_>>], rate: bool) -> Vec<Text> {
    let whole = !rate && figures.iter().flatten().all(|figure| figure.elapsed_ns.is_some());
    let time = |figure: &Figure<'_>| match figure.elapsed_ns {
        Some(elapsed) if whole => elapsed,
        _ => figure.per_op_ns,
    };
    let value = |time: f64| match (rate, whole) {
        (true, _) => format::rate(1e9 / time),
        (false, true) => format::duration(time),
        (false, false) => format!("{}/op", format::duration(time)),
    };
    let times = figures.iter().map(|figure| figure.map(time));
    with_ratios(times.map(|time| Some((time?, value(time?)))))
}

/// Formats times, each with its text and its ratio to the best. A single time has no ratio, because
/// it has nothing to be compared with. A time that is missing has no text.
fn with_ratios(all: impl Iterator<Item = Option<(f64, String)>>) -> Vec<Text> {
    let all: Vec<_> = all.collect();
    let times: Vec<f64> = all.iter().flatten().map(|(time, _)| *time).collect();
    let best = times.iter().copied().reduce(f64::min).filter(|_| times.len() > 1);
    let text = |(time, value): (f64, String)| {
        let ratio = best.map(|best| time / best);
        let second = ratio.map(format::ratio).unwrap_or_default();
        Text { second, ratio, ..Text::new(value) }
    };
    all.into_iter().map(|known| known.map(text).unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use embermark_model::Configuration;

    use super::*;

    #[test]
    fn a_source_without_figures_says_why_in_every_form() {
        let mut file = crate::load(std::path::Path::new("tests/fixtures/schema-1.json")).unwrap();
        file.cells.iter_mut().for_each(|cell| cell.id.workload = "contacts".into());
        let options = crate::Options {
            published: PublishedDetail::Measured,
            width: 500,
            ..Default::default()
        };
        for format in [crate::Format::Table, crate::Format::Markdown] {
            let shown = crate::render(&file.clone().publishable(), format, &options).unwrap();
            assert!(shown.contains("contacts · published beside measured"), "{shown}");
            assert!(shown.contains("licence forbids publishing results"), "{shown}");
        }
    }

    #[test]
    fn a_figure_alone_has_no_ratio() {
        let texts = |times: &[Option<f64>]| -> Vec<String> {
            let all = with_ratios(times.iter().map(|time| Some(((*time)?, "1 s".to_owned()))));
            all.into_iter().map(|text| text.second).collect()
        };
        assert_eq!(texts(&[Some(2.0), None, Some(4.0)]), ["1.00x", "", "2.00x"]);
        assert_eq!(texts(&[None, Some(4.0)]), ["", ""]);
    }

    #[test]
    fn figures_stand_beside_a_configuration_where_the_engine_itself_did_not_run() {
        let mut file = crate::load(std::path::Path::new("tests/fixtures/schema-1.json")).unwrap();
        let engine = "postgres-defaults".to_owned();
        let own = Configuration {
            engine: "postgres".into(),
            settings: [].into(),
            library: None,
            client: None,
        };
        file.plan.configurations.insert(engine.clone(), own);
        let mut cell = file.cells[0].clone();
        (cell.id.engine, cell.id.workload) = (engine, "sensors".into());
        cell.id.scale = Scale::Rows(1_000);
        file.cells = vec![cell];
        let comparison = crate::summary::compare(&file, &[]);
        let tables = comparisons(&comparison, PublishedDetail::Measured);
        let labels = tables[0].grid.rows.iter().map(|(label, _)| label.as_str());
        let here: Vec<&str> = labels.filter(|label| label.starts_with("  here")).collect();
        assert!(!here.is_empty());
        assert!(here.iter().all(|label| label.ends_with(", postgres-defaults")), "{here:?}");
    }
}
