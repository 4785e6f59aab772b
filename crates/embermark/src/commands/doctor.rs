//! `embermark doctor`.

use std::env;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use embermark_engines::{Availability, registry::ENGINES};
use embermark_harness::doctor::{Findings, inspect};
use serde::Serialize;

use super::options::databases_folder;
use crate::error::Failure;
use crate::output;

/// The arguments of `embermark doctor`.
#[derive(Args)]
pub struct DoctorArgs {
    /// Folder of the databases
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// Describes this device and what would disturb a measurement. Exit status 1 if something would.
pub fn doctor(args: &DoctorArgs) -> Result<ExitCode, Failure> {
    let data = args.dir.clone().map_or_else(env::current_dir, Ok);
    let data = data.and_then(|data| data.canonicalize()).map_err(|error| {
        let named = args.dir.as_deref().map_or(".".into(), |dir| dir.display().to_string());
        usage!("{named}: {error}; name an existing folder with --dir")
    })?;
    let found = Diagnosis { device: inspect(&databases_folder(Some(data))?), engines: missing() };
    match args.format {
        Format::Text => output::print(&text(&found))?,
        Format::Json => output::print_json(&found)?,
    };
    Ok(if found.device.warnings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Findings about the device and the engines.
#[derive(Serialize)]
struct Diagnosis {
    #[serde(flatten)]
    device: Findings,
    /// Engines that cannot run here.
    #[serde(rename = "missing_engines")]
    engines: Vec<Missing>,
}

/// An engine that cannot run here.
#[derive(Serialize)]
struct Missing {
    id: &'static str,
    why: String,
    remedy: String,
}

/// Returns the engines that cannot run here, without those that need a licence first.
fn missing() -> Vec<Missing> {
    let engines = ENGINES.iter().filter(|engine| !engine.forbids_publishing());
    let missing = engines.filter_map(|engine| match engine.availability() {
        Availability::Ready { .. } => None,
        Availability::Missing { why, remedy } => {
            Some(Missing { id: engine.info().id, why, remedy })
        }
    });
    missing.collect()
}

fn text(found: &Diagnosis) -> String {
    let Diagnosis { device: Findings { facts, warnings, .. }, engines } = found;
    let facts = facts.iter().map(|fact| format!("{:<9} {}\n", fact.name, fact.value));
    let mut text: String = facts.collect();
    text.push_str(if warnings.is_empty() {
        "\nNothing was found that would disturb a measurement.\n"
    } else {
        "\nWould disturb a measurement\n"
    });
    // Writing to a String cannot fail.
    for warning in warnings {
        let _ = writeln!(text, "  - {warning}");
    }
    if !engines.is_empty() {
        text.push_str("\nEngines that cannot run here\n");
    }
    for Missing { id, why, remedy } in engines {
        let _ = writeln!(text, "  - {id}: {why}; {remedy}");
    }
    text
}
