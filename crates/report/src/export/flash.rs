//! Columns of what modelled flash cards would program.

use embermark_model::card::End;
use embermark_model::result::{FlashOfPhase, ResultFile};

use super::column::{Column, real, whole};
use super::lines::Line;

/// Name of a column, and its value.
type Figure = (&'static str, fn(&FlashOfPhase) -> Option<u64>);

const FIGURES: [Figure; 6] = [
    ("written_bytes", |of| Some(of.run.written_bytes)),
    ("programmed_bytes", |of| Some(of.run.typical.programmed_bytes)),
    ("programmed_low_bytes", |of| Some(of.run.low.programmed_bytes)),
    ("programmed_high_bytes", |of| Some(of.run.high.programmed_bytes)),
    ("maintenance_written_bytes", |of| Some(of.maintenance?.written_bytes)),
    ("maintenance_programmed_bytes", |of| Some(of.maintenance?.typical.programmed_bytes)),
];

/// Returns the columns of each modelled card: the run, the maintenance after it, and both together
/// per million operations. Only lines of the counting trial have values.
pub(super) fn columns(file: &ResultFile) -> Vec<Column> {
    let cards = file.plan.cards.iter();
    cards.flat_map(|card| card_columns(&card.name)).collect()
}

fn card_columns(card: &str) -> Vec<Column> {
    let name = |figure: &str| format!("flash_{card}_{figure}");
    let column = |(figure, get): Figure| {
        let card = card.to_owned();
        whole(&name(figure), move |line| get(line.flash(&card)?))
    };
    let mut columns: Vec<Column> = FIGURES.map(column).into();
    let own = card.to_owned();
    let erases = move |line: &Line<'_>| Some(line.flash(&own)?.all(End::Typical).erases);
    columns.push(real(&name("erases"), erases));
    let own = card.to_owned();
    columns.push(real(&name("bytes_per_million"), move |line| {
        let (ops, cost) = (line.run?.1.ops, line.flash(&own)?.all(End::Typical));
        (ops > 0).then(|| cost.programmed_bytes as f64 / ops as f64 * 1e6)
    }));
    columns
}
