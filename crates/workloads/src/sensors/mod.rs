//! `sensors`: ingest, point access and analytics over the readings of room sensors.
//!
//! [`port`] is what the workload asks of a store; [`sql`] and [`kv`] answer it, once for each
//! family. The [`oracle`] knows the right answers from the rows alone.

mod bench;
mod codec;
mod feed;
mod found;
mod kv;
mod oracle;
mod port;
mod queries;
mod scan;
mod sequence;
mod source;
mod sql;
mod step;

use embermark_data::staged::StagedRows;
use embermark_model::choice;
use embermark_model::plan::DataSource;

use crate::{Info, Prepared, Source, Spec, VariantInfo, Workload, WorkloadError};
use bench::Cell;
use oracle::Oracle;
use port::Strategy;
use sequence::Sequences;
use source::Rows;

/// The workload.
pub struct Sensors;

static VARIANTS: [VariantInfo; 3] = [
    VariantInfo {
        name: "single",
        about: "rows inserted one by one in one transaction, as published",
        changes: &["load"],
    },
    VariantInfo {
        name: "commit-each",
        about: "one commit a row",
        changes: &["load", "update", "delete"],
    },
    VariantInfo {
        name: "bulk",
        about: "rows loaded by the engine's fastest path",
        changes: &["load"],
    },
];

/// What each of [`VARIANTS`] stands for.
const STRATEGIES: [Strategy; 3] = [Strategy::Single, Strategy::CommitEach, Strategy::Bulk];

impl Workload for Sensors {
    fn info(&self) -> Info {
        Info {
            id: "sensors",
            about: "room sensors: ingest, point access, analytics",
            phases: &step::PHASES,
            variants: &VARIANTS,
        }
    }

    fn source(&self, data: &DataSource, seed: u64) -> Result<Box<dyn Source>, WorkloadError> {
        Ok(Box::new(Rows::open(data, seed)?))
    }

    fn prepare(&self, spec: &Spec) -> Result<Box<dyn Prepared>, WorkloadError> {
        let strategy = strategy(&spec.variant)?;
        let rows = StagedRows::open(&spec.rows)?;
        let oracle = Oracle::new(&rows);
        let sequences = Sequences::draw(&rows, &oracle, spec.seed);
        Ok(Box::new(Cell { rows, oracle, sequences, strategy }))
    }
}

fn strategy(variant: &str) -> Result<Strategy, WorkloadError> {
    let mut known = VARIANTS.iter().zip(STRATEGIES);
    let found = known.find(|(info, _)| info.name == variant).map(|(_, strategy)| strategy);
    found.ok_or_else(|| {
        choice::unknown("variant", variant, VARIANTS.iter().map(|info| info.name)).into()
    })
}
