//! `embermark engines`.

use std::cmp::Ordering;
use std::process::ExitCode;

use comfy_table::{Table, TableStyle};
use embermark_engines::registry::ENGINES;
use embermark_engines::{Availability, Engine, Tier};
use embermark_model::Durability;

use super::output;
use crate::error::Failure;

/// Lists every engine of this build.
pub fn list() -> Result<ExitCode, Failure> {
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    table.set_header(["engine", "kind", "data model", "version", "none", "process", "power"]);
    let mut notes = Vec::new();
    for engine in ENGINES {
        let info = engine.info();
        let version = match engine.availability() {
            Availability::Ready { version } => version,
            Availability::Missing { why, remedy } => {
                notes.push(format!("{}: {why}; {remedy}", info.id));
                "missing".to_owned()
            }
        };
        for (name, path) in engine.programs() {
            notes.push(format!("{}, program {name}: {}", info.id, path.display()));
        }
        let mut row =
            vec![info.id.to_owned(), info.kind.to_string(), info.family.to_string(), version];
        row.extend(Durability::ALL.map(|durability| tier(*engine, durability, &mut notes)));
        table.add_row(row);
    }
    let mut text = table.trim_fmt();
    text.push_str("\n\nnone: a commit may be lost when the process dies · process: survives that · power: survives a power cut\nin brackets: the effective durability, where it is another\n");
    for note in notes {
        text.push_str(&format!("{note}\n"));
    }
    output::print(&text)
}

/// Whether the tier is offered, and the effective durability where that is another; the setting
/// goes to the notes.
fn tier(engine: &dyn Engine, durability: Durability, notes: &mut Vec<String>) -> String {
    let id = engine.info().id;
    match engine.tier(durability) {
        Tier::Offered { effective_durability: effective, setting, .. } => {
            notes.push(format!("{id}, {durability}: {setting}"));
            match effective.cmp(&durability) {
                Ordering::Equal => "yes".to_owned(),
                Ordering::Greater => format!("yes ({effective})"),
                Ordering::Less => format!("no ({effective})"),
            }
        }
        Tier::Unsupported { why } => {
            notes.push(format!("{id}, {durability}: not offered: {why}"));
            "-".to_owned()
        }
    }
}
