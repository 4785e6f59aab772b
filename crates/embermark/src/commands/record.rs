//! `embermark durability-record`: makes the record of durability results that is part of embermark.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use embermark_engines::registry;
use embermark_model::durability_result::Outcome;
use embermark_report::evidence::Record;
use embermark_report::load_durability;

use crate::error::Failure;
use crate::output;
use crate::plan::engine_libraries;

/// The arguments of `embermark durability-record`.
#[derive(Args)]
pub struct RecordArgs {
    /// Results of `embermark durability`, each its folder or its file
    #[arg(required = true, value_name = "RESULT")]
    results: Vec<PathBuf>,

    /// The record: crates/report/durability/record.json
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,

    /// A shared library of an engine in these results (docs/engine-library.md). Once for each; ID names its engine anew
    #[arg(long, value_name = "[ID=]PATH")]
    engine_library: Vec<PathBuf>,
}

/// Writes the record of these results only, and names the engines that are left out.
pub fn record(args: RecordArgs) -> Result<ExitCode, Failure> {
    engine_libraries(&args.engine_library)?;
    let runs = args.results.iter().map(|path| load_durability(path));
    let runs: Vec<Outcome> = runs.collect::<Result<_, _>>().map_err(Failure::usage)?;
    for tested in runs.iter().flat_map(|run| &run.tested) {
        // The licence of an engine that this build lacks may forbid it.
        let engine = registry::find(&tested.engine).map_err(Failure::usage)?;
        if engine.forbids_publishing() {
            let (id, tier) = (&tested.engine, tested.durability);
            say!("left out: {id} {tier}: its licence forbids publishing figures");
        }
    }
    let text = Record::text(runs, may_be_published).map_err(Failure::runtime)?;
    output::write(&args.out, text)?;
    Ok(ExitCode::SUCCESS)
}

/// Whether an engine is known, and its licence allows publishing its figures.
pub fn may_be_published(id: &str) -> bool {
    registry::find(id).is_ok_and(|engine| !engine.forbids_publishing())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(engines: &[&str]) -> Outcome {
        let tested = |id: &&str| {
            serde_json::json!({
                "engine": id, "version": "1", "durability": "power", "experiment": "kill", "tried": 1,
                "verdicts": {"not-opened": 1},
                "examples": [{"verdict": "not-opened", "of": "kill 1", "acknowledged": 1, "kept": "/home/me"}],
            })
        };
        let library = |id: &&str| {
            (
                id.to_string(),
                serde_json::json!({"path": format!("/home/me/lib{id}.so"), "sha256": "0"}),
            )
        };
        let libraries: serde_json::Map<_, _> = engines.iter().map(library).collect();
        serde_json::from_value(serde_json::json!({
        "schema": "embermark-durability-1", "begun": "2026-01-01T00:00:00Z", "embermark": "0.1.0",
        "kernel": "Linux", "engines": engines, "durabilities": ["power"], "states": 0, "kills": 1,
        "file_system": "ext4", "seed": 1, "engine_libraries": libraries, "tested": engines.iter().map(tested).collect::<Vec<_>>(),
    }))
    .unwrap()
    }

    #[test]
    fn what_may_not_be_published_has_no_place_in_the_record_nor_has_a_path() {
        let text = Record::text(vec![run(&["zen", "null", "harperdb"])], may_be_published).unwrap();
        for secret in ["zen", "harperdb", "/home/me"] {
            assert!(!text.contains(secret), "{text}");
        }
        assert!(text.contains("\"null\"") && text.contains("\"libnull.so\""), "{text}");
    }

    #[test]
    fn the_record_of_this_build_has_nothing_that_may_not_be_published() {
        let record = Record::with(Vec::new());
        assert!(!record.engines().is_empty());
        for id in record.engines() {
            assert!(!["harperdb", "zen"].contains(&id), "{id}");
            let forbids = registry::find(id).is_ok_and(|engine| engine.forbids_publishing());
            assert!(!forbids, "{id}");
        }
    }
}
