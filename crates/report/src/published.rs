//! Compares the figures of a workload's published source with those measured here.
//!
//! Each phase and scale has a first line with the source's figures. Further lines have those of
//! this run, one per tier and variant. They show whether a difference comes from durability or from
//! how rows are loaded.

use std::sync::LazyLock;

use embermark_model::{Conditions, Scale};
use serde::Deserialize;

use crate::grid::{Annotated, Grid, Text};
use crate::note::note;
use crate::summary::{Comparison, Figure};
use crate::{PublishedDetail, format, text};

/// One published comparison.
#[derive(Clone, Debug, Deserialize)]
pub struct Published {
    /// Source of the figures.
    pub source: Source,
    /// The figures. Empty if the licences of its engines forbid publishing all of them.
    #[serde(default, rename = "figure")]
    pub figures: Vec<PublishedFigure>,
}

/// Source of published figures.
#[derive(Clone, Debug, Deserialize)]
pub struct Source {
    /// Title, author and year.
    pub title: String,
    /// Workload that reproduces it.
    pub workload: String,
    /// How it summarizes its repetitions.
    pub statistic: String,
    /// Hardware that it ran on.
    pub hardware: String,
    /// Variant of the figures that name no other.
    pub variant: String,
    /// Why the figures need not agree with those of a run, in one line.
    pub differs: String,
    /// Which of its figures embermark leaves out, and why. Absent if it has all.
    pub left_out: Option<String>,
    /// What is ambiguous or inconsistent in the source.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A published figure.
#[derive(Clone, Debug, Deserialize)]
pub struct PublishedFigure {
    /// Phase.
    pub phase: String,
    /// Engine.
    pub engine: String,
    /// Number of rows. If absent, the number that the source uses.
    pub scale: Option<u64>,
    /// Variant. If absent, that of the source.
    pub variant: Option<String>,
    /// Seconds of the whole phase.
    pub seconds: Option<f64>,
    /// Operations per second.
    pub per_second: Option<f64>,
}

/// Returns every published comparison.
///
/// # Panics
/// If a file in the repository is not such a comparison, which a test rules out.
pub fn all() -> &'static [Published] {
    static ALL: LazyLock<Vec<Published>> = LazyLock::new(|| {
        [
            include_str!("../published/ulb-embedded-iot.toml"),
            include_str!("../published/mcknight-zen-vs-sqlite.toml"),
            include_str!("../published/marending-sqlite-vs-duckdb.toml"),
            include_str!("../published/sqlite-rpi3.toml"),
        ]
        .map(|text| toml::from_str(text).expect("a file of the repository is well-formed"))
        .into()
    });
    &ALL
}

/// Returns published figures next to measured ones, for every workload of a result that has a
/// source.
pub(crate) fn comparisons(comparison: &Comparison<'_>, which: PublishedDetail) -> Vec<Annotated> {
    let of_result = |published: &&Published| {
        which != PublishedDetail::None
            && comparison.groups.iter().any(|group| group.workload == published.source.workload)
    };
    let all_figures = which == PublishedDetail::All;
    let sources = all().iter().filter(of_result);
    sources.filter_map(|published| published.comparison(comparison, all_figures)).collect()
}

/// One row of the source: a phase at a scale in a variant.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Line<'a> {
    phase: &'a str,
    scale: Option<u64>,
    variant: &'a str,
}

impl Published {
    fn comparison(&self, comparison: &Comparison<'_>, all: bool) -> Option<Annotated> {
        let engines = text::unique(self.figures.iter().map(|figure| figure.engine.as_str()));
        let lines = text::unique(self.figures.iter().map(|figure| self.line(figure)));
        let mut rows = Vec::new();
        for line in lines {
            let measured = self.measured(&line, &engines, comparison);
            if !measured.is_empty() || all {
                rows.push((line.label(self), self.printed(&line, &engines)));
                rows.extend(measured);
            }
        }
        let Source { title, statistic, hardware, differs, left_out, notes, .. } = &self.source;
        // If none of the figures match a measurement, there is nothing to show. A source without
        // figures is still shown.
        if rows.is_empty() && !self.figures.is_empty() {
            return None;
        }
        let says = [
            note("source", format!("{title}; {statistic}; hardware: {hardware}")),
            note("differs", differs.clone()),
        ];
        let left_out = left_out.iter().map(|text| note("left out", text.clone()));
        let further = notes.iter().map(|text| note("note", text.clone()));
        let title = format!("{} · published beside measured", self.source.workload);
        let grid = Grid::new(title, engines.iter().map(|engine| text::plain(engine)), rows);
        Some(Annotated { grid, notes: says.into_iter().chain(left_out).chain(further).collect() })
    }

    fn line<'a>(&'a self, figure: &'a PublishedFigure) -> Line<'a> {
        let variant = figure.variant.as_deref().unwrap_or(&self.source.variant);
        Line { phase: &figure.phase, scale: figure.scale, variant }
    }

    /// Returns the source's figures for a line.
    fn printed(&self, line: &Line<'_>, engines: &[&str]) -> Vec<Text> {
        // Rates are converted to times, so that ratios mean the same.
        with_ratios(engines.iter().map(|engine| {
            let mut figures = self.figures.iter();
            let own = |figure: &&PublishedFigure| figure.engine == **engine;
            let figure = figures.find(|figure| self.line(figure) == *line && own(figure));
            match figure.map(|figure| (figure.seconds, figure.per_second)) {
                Some((Some(seconds), _)) => (Some(seconds), Some(format::duration(seconds * 1e9))),
                Some((None, Some(rate))) => (Some(rate.recip()), Some(format::rate(rate))),
                _ => (None, None),
            }
        }))
    }

    /// Returns the measurements for a line, in every tier and variant.
    fn measured(
        &self,
        line: &Line<'_>,
        engines: &[&str],
        comparison: &Comparison<'_>,
    ) -> Vec<(String, Vec<Text>)> {
        let mut rows = Vec::new();
        let rate = self.figures.iter().any(|f| f.phase == line.phase && f.per_second.is_some());
        // If the source has figures of single variants, each is compared only with that variant.
        let varied = self.figures.iter().any(|figure| figure.variant.is_some());
        for group in &comparison.groups {
            let scale = line.scale.is_none_or(|rows| group.extent.scale == Scale::Rows(rows));
            if group.workload != self.source.workload || !scale {
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
                if figures.iter().all(Option::is_none) || varied && variant != line.variant {
                    continue;
                }
                let told = line.scale.is_none() || group.conditions() != Conditions::default();
                let scale = if told { format!("{}, ", group.extent) } else { String::new() };
                // A variant is named if there are others.
                let others = group.rows.iter().any(|row| row.variant.is_some());
                let variant =
                    if others { format!(" {}", text::plain(variant)) } else { String::new() };
                let label = format!("  here, {scale}{}{variant}{own}", group.durability);
                rows.push((label, texts(&figures, rate)));
            }
        }
        rows
    }
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
    with_ratios(times.map(|time| (time, time.map(value))))
}

/// Formats times, each with its text and its ratio to the best. A single time has no ratio, because
/// it has nothing to be compared with.
fn with_ratios(all: impl Iterator<Item = (Option<f64>, Option<String>)>) -> Vec<Text> {
    let all: Vec<_> = all.collect();
    let times: Vec<f64> = all.iter().filter_map(|(time, _)| *time).collect();
    let best = times.iter().copied().reduce(f64::min).filter(|_| times.len() > 1);
    let text = |(time, value): (Option<f64>, Option<String>)| {
        let ratio = time.zip(best).map(|(time, best)| time / best);
        let second = ratio.map(format::ratio).unwrap_or_default();
        Text { second, ratio, ..Text::new(value.unwrap_or_default()) }
    };
    all.into_iter().map(text).collect()
}

impl Line<'_> {
    fn label(&self, of: &Published) -> String {
        let scale = self.scale.map(|rows| format!(" {}", Scale::Rows(rows))).unwrap_or_default();
        let own = self.variant == of.source.variant;
        let variant = if own { String::new() } else { format!(" ({})", self.variant) };
        format!("{}{variant}{scale}, published", self.phase)
    }
}

#[cfg(test)]
mod tests {
    use embermark_model::Configuration;

    use super::*;

    #[test]
    fn every_file_is_read_and_every_figure_has_a_value() {
        assert_eq!(all().len(), 4);
        for published in all() {
            let Source { differs, left_out, .. } = &published.source;
            assert!(!differs.is_empty());
            // A source without figures has a reason.
            assert!(!published.figures.is_empty() || left_out.is_some());
            for figure in &published.figures {
                assert!(
                    figure.seconds.is_some() != figure.per_second.is_some(),
                    "{}: {figure:?}",
                    published.source.title
                );
            }
        }
    }

    #[test]
    fn no_figure_ships_of_an_engine_whose_licence_forbids_publishing_them() {
        let secret = ["zen", "harperdb"];
        for published in all() {
            let mut figures = published.figures.iter();
            assert!(!figures.any(|figure| secret.contains(&figure.engine.as_str())));
        }
        let folder = std::fs::read_dir("published").unwrap();
        for file in folder.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()) {
            for engine in secret {
                assert!(!file.contains(&format!("engine = \"{engine}\"")), "{file}");
            }
        }
    }

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
            let all = with_ratios(times.iter().map(|time| (*time, time.map(|_| "1 s".to_owned()))));
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
