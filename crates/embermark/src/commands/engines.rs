//! `embermark engines`.

mod releases;

use std::cmp::Ordering;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use embermark_engines::{Availability, Engine, Origin, Tier, engine_library, registry};
use embermark_model::{Durability, EngineLibrary};
use embermark_report::evidence::{Record, Standing};
use embermark_report::load_durability;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::error::Failure;
use crate::output;
use crate::plan::engine_libraries;

/// The arguments of `embermark engines`.
#[derive(Args)]
pub struct EnginesArgs {
    /// Result of `embermark durability` on this machine, a file or its folder; may be repeated
    ///
    /// Its findings take precedence over those that come with embermark.
    #[arg(long, value_name = "FILE")]
    durability: Vec<PathBuf>,

    /// Add an engine of your own, a shared library (docs/engine-library.md); ID renames it; may be repeated
    #[arg(long, value_name = "[ID=]PATH")]
    engine_library: Vec<PathBuf>,
}

/// Meaning of the words in the tier columns.
const KEY: &str = "\
none: a commit may be lost when the process dies · process: survives that · power: survives a power cut
shown: tested by 'embermark durability' with this version, and no violation found · broken: one was
manual: only by the engine's manual · in brackets: the effective durability, where it is another
yes: offered, and nothing was tested · no: runs, but keeps less · -: not offered, for the reason below
from: compiled in, fetched by 'make deps' or 'make servers', the system's, or named by that variable
";

/// Lists every engine of this build and of libraries.
pub fn list(args: &EnginesArgs) -> Result<ExitCode, Failure> {
    engine_libraries(&args.engine_library)?;
    let own = args.durability.iter().map(|path| load_durability(path));
    let record = Record::with(own.collect::<Result<_, _>>().map_err(Failure::usage)?);
    let mut table = output::table([
        "engine",
        "kind",
        "data model",
        "version",
        "from",
        "released",
        "none",
        "process",
        "power",
    ]);
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let mut notes = Vec::new();
    for engine in registry::all() {
        let info = engine.info();
        let version = match engine.availability() {
            Availability::Ready { version } => Some(version),
            Availability::Missing { why, remedy } => {
                notes.push(format!("{}: {why}; {remedy}", info.id));
                None
            }
        };
        for (name, path) in engine.programs() {
            notes.push(format!("{}, program {name}: {}", info.id, path.display()));
        }
        let outside = engine_library::find(info.id);
        if let Some(described) = &outside {
            let EngineLibrary { path, sha256 } = &described.library;
            notes.push(format!("{}, library: {}, SHA-256 {sha256}", info.id, path.display()));
        }
        let origin = engine.origin();
        let is_program = !engine.programs().is_empty();
        if let Some(path) = origin.as_ref().and_then(Origin::path).filter(|_| !is_program) {
            notes.push(format!("{}, library: {}", info.id, path.display()));
        }
        let dash = || "-".to_owned();
        let released = version.as_ref().and_then(|version| releases::released(info.id, version));
        let mut row = vec![
            info.id.to_owned(),
            info.kind.to_string(),
            info.family.to_string(),
            version.clone().unwrap_or_else(|| "missing".to_owned()),
            match (&outside, origin) {
                (Some(_), _) => "--engine-library".to_owned(),
                (None, origin) => origin.map_or_else(dash, |origin| origin.to_string()),
            },
            released.map_or_else(dash, |day| format!("{day}, {}", releases::age(day, today))),
        ];
        row.extend(Durability::ALL.map(|durability| {
            let standing =
                |effective| record.standing(info.id, version.as_deref()?, durability, effective);
            tier(*engine, durability, standing, &mut notes)
        }));
        table.add_row(row);
    }
    let mut text = table.trim_fmt();
    text.push_str("\n\n");
    text.push_str(KEY);
    for note in notes {
        text.push_str(&format!("{note}\n"));
    }
    output::print(&text)
}

/// Returns the evidence for the tier, if it is offered, and the effective durability if that
/// differs. The setting and the tests go to the notes.
fn tier(
    engine: &dyn Engine,
    durability: Durability,
    standing: impl Fn(Durability) -> Option<Standing>,
    notes: &mut Vec<String>,
) -> String {
    let id = engine.info().id;
    match engine.tier(durability) {
        Tier::Offered { effective_durability: effective, setting, .. } => {
            let standing = standing(effective);
            let words = standing.as_ref().map(|standing| format!("; {}", standing.words()));
            notes.push(format!("{id}, {durability}: {setting}{}", words.unwrap_or_default()));
            let word = standing.as_ref().map_or("yes", Standing::word);
            match effective.cmp(&durability) {
                Ordering::Equal => word.to_owned(),
                Ordering::Greater => format!("{word} ({effective})"),
                Ordering::Less => format!("no ({effective})"),
            }
        }
        Tier::Unsupported { why } => {
            notes.push(format!("{id}, {durability}: not offered: {why}"));
            "-".to_owned()
        }
    }
}
