//! `embermark durability-record`: adds results to the record that is part of embermark.

use std::fs;
use std::path::{Path, PathBuf};
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

    /// The record to add them to, created if it is missing: crates/report/durability/record.json
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,

    /// Remove earlier results of the same engines, versions and tiers: the set-up was corrected
    #[arg(long)]
    replace: bool,

    /// A shared library of an engine in these results (docs/engine-library.md). Once for each; ID names its engine anew
    #[arg(long, value_name = "[ID=]PATH")]
    engine_library: Vec<PathBuf>,
}

/// Adds these results to the record, and names the engines that are left out.
pub fn record(args: RecordArgs) -> Result<ExitCode, Failure> {
    engine_libraries(&args.engine_library)?;
    let record = recorded(&args.out)?;
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
    let text = Record::text(record, runs, args.replace, may_be_published);
    output::write(&args.out, text.map_err(Failure::runtime)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the runs of the record at a path, which has none if there is no file.
fn recorded(path: &Path) -> Result<Vec<Outcome>, Failure> {
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(path).map_err(|error| error.to_string());
    let runs = text.and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()));
    runs.map_err(|error| {
        let path = path.display();
        usage!("{path} is not a record of durability ({error}): name another file with --out")
    })
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
        let runs = vec![run(&["zen", "null", "harperdb"])];
        let text = Record::text(Vec::new(), runs, false, may_be_published).unwrap();
        for secret in ["zen", "harperdb", "/home/me"] {
            assert!(!text.contains(secret), "{text}");
        }
        assert!(text.contains("\"null\"") && text.contains("\"libnull.so\""), "{text}");
    }

    #[test]
    fn what_a_record_has_stays_unless_it_is_the_same_run_or_is_to_be_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.json");
        // Adds a run of an engine in a tier that began in this second. Returns what the record has.
        let added = |engine: &str, second: u32, replaces: bool| {
            let mut new = run(&[engine]);
            new.head.begun = format!("2026-01-01T00:00:0{second}Z");
            let runs = recorded(&path).unwrap();
            // No engine of the record has to be one of this build.
            let text = Record::text(runs, vec![new], replaces, |id| id == engine).unwrap();
            fs::write(&path, text).unwrap();
            let has = |run: Outcome| run.tested[0].engine.clone() + &run.head.begun[18..19];
            recorded(&path).unwrap().into_iter().map(has).collect::<Vec<_>>()
        };
        assert_eq!(added("mine", 1, false), ["mine1"]);
        assert_eq!(added("another", 1, false), ["mine1", "another1"]);
        assert_eq!(added("mine", 2, false), ["mine1", "another1", "mine2"]);
        assert_eq!(added("mine", 1, false), ["another1", "mine2", "mine1"], "the same run");
        assert_eq!(added("mine", 3, true), ["another1", "mine3"]);
        fs::write(&path, "{}").unwrap();
        assert!(recorded(&path).unwrap_err().to_string().contains("not a record of durability"));
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
