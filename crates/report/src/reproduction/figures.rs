//! Every figure that a source printed for a phase, next to the one measured as published.

use embermark_model::Scale;
use embermark_published::{Measure, PhaseFigure, Role, Source, Unit};

use super::lookup::{FigureQuery, Results};
use crate::format;
use crate::grid::{Grid, Text};
use crate::published::{Line, unit_text};

/// Returns one row per figure. `None` if the source's figures have another form, or if none may be
/// shown.
pub(super) fn table(source: &Source, results: &Results<'_>) -> Option<Grid> {
    let pieces = source.pieces.iter().filter(|piece| piece.role == Role::AsPublished);
    let pieces: Vec<String> = pieces.map(|piece| piece.name.clone()).collect();
    let unit = source.figures.unit;
    let row = |figure: &PhaseFigure| {
        let wanted = FigureQuery {
            source,
            pieces: &pieces,
            engine: &figure.engine,
            column: None,
            variant: figure.variant.as_deref().or_else(|| variant_of(source, figure)),
            tier: None,
            phase: &figure.phase,
            measure: Measure::Time,
        };
        let found = results.find(&wanted).map(|all| {
            let own = figure.scale.map(Scale::Rows);
            all.into_iter().find(|found| own.is_none_or(|own| found.scale == own))
        });
        let none = |why: &str| [format!("- ({why})"), String::new(), String::new()];
        let [here, runs, ratio] = match found {
            Ok(Some(found)) => {
                let each_ns = found.each_ns.filter(|_| unit == Unit::PerSecond);
                let times = each_ns.unwrap_or(found.amount) / unit.amount(figure.value);
                let notes = found.notes().join("; ");
                let notes = if notes.is_empty() { notes } else { format!(" ({notes})") };
                let here = format!("{}{notes}", found.shown);
                [here, found.runs.unwrap_or_default(), format::ratio(times)]
            }
            Ok(None) => none("not run at this scale"),
            Err(why) => none(&why),
        };
        let label = format!("{} {}", Line::of(figure).label(None), figure.engine);
        let shown = unit_text(unit, figure.value);
        (label, [shown, here, runs, ratio].map(Text::new).to_vec())
    };
    let rows = source.figures.phases.iter().map(row).collect();
    let header = ["published", "here as published", "its runs", "time, here to published"];
    Grid::new(format!("{}: every figure", source.id), header, rows).filled()
}

/// Returns the variant of the headlines for a phase and an engine.
fn variant_of<'a>(source: &'a Source, figure: &PhaseFigure) -> Option<&'a str> {
    let mut of_phase = source.headlines.iter().filter(|headline| headline.phase == figure.phase);
    let own = of_phase.find(|headline| {
        headline.of == figure.engine || headline.to.as_ref() == Some(&figure.engine)
    });
    own?.as_published.as_ref()?.variant.as_deref()
}
