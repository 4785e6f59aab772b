//! Columns of energy, of requests to the operating system, and of what modelled flash cards would
//! program.

use embermark_model::card::End;
use embermark_model::result::{
    Energy, Explained, FlashCost, FlashOfPhase, OsCost, ResultFile, Run,
};

use super::column::{Column, flag, real, whole, word};
use super::lines::Line;
use crate::summary::{COUNTS, Source};
use crate::text::plain;

/// Returns the columns of the energy of a run.
pub(super) fn energy_columns() -> Vec<Column> {
    let energy = |name: &str, get: fn(&Energy, &Run) -> Option<f64>| {
        real(name, move |line| {
            let run = line.run?.1;
            get(run.energy.as_ref()?, run)
        })
    };
    vec![
        word("began", |line| Some(plain(&line.run?.1.period.as_ref()?.began))),
        whole("lasted_ns", |line| Some(line.run?.1.period.as_ref()?.lasted_ns)),
        word("energy_source", |line| Some(plain(&line.run?.1.energy.as_ref()?.source))),
        energy("energy_joules", |energy, _| Some(energy.joules)),
        energy("energy_over_idle_joules", |energy, _| energy.over_idle_joules),
        energy("energy_idle_error_joules", |energy, _| energy.idle_error_joules),
        energy("energy_over_idle_per_op_joules", |of, run| of.over_idle_per_operation(run.ops)),
        word("energy_beside", |line| {
            let others = line.run?.1.energy_beside.iter();
            let others: Vec<String> =
                others.map(|of| format!("{}:{}", plain(&of.source), of.joules)).collect();
            (!others.is_empty()).then(|| others.join("; "))
        }),
        word("no_energy", |line| Some(plain(line.run?.1.no_energy.as_deref()?))),
    ]
}

/// Returns the columns of the requests of a run to the operating system: those of the engine and,
/// with the prefix `client_`, of the client. They are totals, to be divided by `ops`, or by
/// `traced_ops` for system calls.
pub(super) fn system_columns() -> Vec<Column> {
    let mut columns = vec![
        flag("explaining", |line| Some(line.cell.is_explaining(line.trial?))),
        whole("traced_ops", |line| line.run?.1.explained.as_ref()?.traced_ops),
    ];
    type Side = fn(&Explained) -> Option<&OsCost>;
    let sides: [(&str, Side); 2] =
        [("", |all| Some(&all.engine)), ("client_", |all| all.client.as_ref())];
    for (prefix, side) in sides {
        columns.extend(COUNTS.iter().filter_map(|(column, of)| {
            let name = format!("{prefix}{}", column.key);
            match *of {
                Source::Calls(of) => Some(whole(&name, move |line| {
                    Some(of(side(line.run?.1.explained.as_ref()?)?.calls.as_ref()?))
                })),
                Source::Cost(of) => {
                    Some(whole(&name, move |line| of(side(line.run?.1.explained.as_ref()?)?)))
                }
                // Every run has a column of them, also if requests were not counted.
                Source::Used(_) => None,
            }
        }));
    }
    columns
}

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
pub(super) fn flash_columns(file: &ResultFile) -> Vec<Column> {
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
