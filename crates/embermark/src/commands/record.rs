//! `embermark durability-record`: what of runs of `embermark durability` becomes part of embermark.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use embermark_engines::registry;
use embermark_model::durability_result::Outcome;
use embermark_report::load_durability;
use embermark_report::shown::Record;

use crate::error::Failure;

/// The arguments of `embermark durability-record`.
#[derive(Args)]
pub struct RecordArgs {
    /// Results of `embermark durability`, each its folder or its file
    #[arg(required = true, value_name = "RESULT")]
    results: Vec<PathBuf>,

    /// The record: crates/report/durability/record.json
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
}

/// Writes the record of these results and no other, and names the engines that have no place in it.
pub fn record(args: RecordArgs) -> Result<ExitCode, Failure> {
    let runs = args.results.iter().map(|path| load_durability(path));
    let runs: Vec<Outcome> = runs.collect::<Result<_, _>>().map_err(Failure::usage)?;
    for tested in runs.iter().flat_map(|run| &run.tested) {
        // One that this build lacks may be one whose licence forbids it.
        let engine = registry::find(&tested.engine).map_err(Failure::usage)?;
        if engine.forbids_publishing() {
            let (id, tier) = (&tested.engine, tested.durability);
            eprintln!("left out: {id} {tier}: its licence forbids publishing figures");
        }
    }
    let text = Record::text(runs, may_be_published).map_err(Failure::runtime)?;
    fs::write(&args.out, text).map_err(Failure::unwritable(&args.out))?;
    Ok(ExitCode::SUCCESS)
}

/// Whether an engine is known, and its licence does not forbid publishing its figures.
pub fn may_be_published(id: &str) -> bool {
    registry::find(id).is_ok_and(|engine| !engine.forbids_publishing())
}

#[cfg(test)]
mod tests;
