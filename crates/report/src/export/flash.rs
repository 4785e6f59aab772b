//! Columns of what modelled flash cards would program.

use embermark_model::card::End;
use embermark_model::result::{FlashCost, FlashOfPhase, ResultFile};

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
    let phase = |card: &str| {
        let card = card.to_owned();
        move |line: &Line<'_>| {
            line.run?;
            let model = line.trial?.flash.iter().find(|model| model.card == card)?;
            model.phase(&line.phase?.phase).cloned()
        }
    };
    let mut columns: Vec<Column> = Vec::new();
    for (figure, get) in FIGURES {
        let phase = phase(card);
        columns.push(whole(&name(figure), move |line| get(&phase(line)?)));
    }
    let cost = |of: fn(&FlashCost) -> f64| {
        let phase = phase(card);
        move |line: &Line<'_>| Some(of(&phase(line)?.all(End::Typical)))
    };
    columns.push(real(&name("erases"), cost(|cost| cost.erases)));
    let all = cost(|cost| cost.programmed_bytes as f64);
    columns.push(real(&name("bytes_per_million"), move |line| {
        let ops = line.run?.1.ops;
        let all = all(line)?;
        (ops > 0).then(|| all / ops as f64 * 1e6)
    }));
    columns
}
