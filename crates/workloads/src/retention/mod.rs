//! `retention`: sensor rows come in without end, those older than a day go, and questions about the newest
//! are asked all the while, until what it costs is steady: what a database is like that has aged.
//!
//! Times are the sensors': a window of so many rows is a day of theirs, however long it takes to play it. The
//! layout is the same for every engine: found by time first, then sensor, so that what goes lies together. Old
//! rows go an hour at a time, by what each engine's manual has for that (`docs/retention.md`).

mod bench;
mod content;
mod document;
mod kv;
mod player;
mod port;
mod questions;
mod rows;
mod series;
mod sql;

use std::time::Duration;

use embermark_contract::{EngineError, Reopener, Store};
use embermark_meter::Recorder;
use embermark_model::choice;
use embermark_model::plan::DataSource;

use crate::generated::{self, GeneratedRows};
use crate::{
    Bench, Info, PhaseInfo, Prepared, Protocol, Source, Spec, VariantInfo, Workload, WorkloadError,
};
use port::{Commit, RetentionLog};
use rows::Rows;

/// The workload.
pub struct Retention;

/// Its only phase.
const KEEP: &str = "keep";

const EACH: &str = "commit-each";
const BATCH: &str = "batch";

static PHASES: [PhaseInfo; 1] = [PhaseInfo {
    name: KEEP,
    about: "rows come in, old ones go, the newest are asked for, until it is steady",
}];

static VARIANTS: [VariantInfo; 2] = [
    VariantInfo { name: BATCH, about: "a commit for 100 rows", changes: &[KEEP] },
    VariantInfo { name: EACH, about: "a commit for each row", changes: &[KEEP] },
];

impl Workload for Retention {
    fn info(&self) -> Info {
        let protocol = |scales, window| Protocol {
            scales,
            variants: &[BATCH],
            warm_up: Duration::ZERO,
            window,
            memory_limit: None,
            trials: Some(1),
        };
        Info {
            id: "retention",
            about: "ageing: a day of rows is kept, until what it costs is steady",
            phases: &PHASES,
            variants: &VARIANTS,
            overview: protocol(&[1_000], Duration::from_secs(1)),
            usual: protocol(&[100_000], Duration::from_mins(10)),
            reads_files: false,
            whole: false,
            timed: &[KEEP],
            windowed: &[KEEP],
            clients: 1,
            lasts: false,
            until_steady: true,
            cold: false,
            searches: &[],
            apart: &[],
            joins: false,
            points: &[],
        }
    }

    fn source(&self, _: &DataSource, seed: u64) -> Result<Box<dyn Source>, WorkloadError> {
        Ok(Box::new(GeneratedRows { name: "synthetic retention", seed, published: 1_000_000 }))
    }

    fn prepare(&self, spec: &Spec) -> Result<Box<dyn Prepared>, WorkloadError> {
        let commit = match spec.variant.as_str() {
            EACH => Commit::Each,
            BATCH => Commit::Batch,
            other => {
                let valid = VARIANTS.iter().map(|variant| variant.name);
                return Err(choice::unknown("variant", other, valid).into());
            }
        };
        let (kept, seed) = generated::read(&spec.rows)?;
        let rows = Rows::new(seed, kept).ok_or_else(|| {
            WorkloadError::Unfit(format!(
                "retention: {kept} rows in a day are more than one a millisecond of each sensor: keep \
                 {} at most",
                Rows::MOST
            ))
        })?;
        let spec = spec.clone();
        Ok(Box::new(PreparedCell { spec, rows, commit, recorder: Some(Recorder::new()) }))
    }
}

/// Everything that exists before the engine does.
struct PreparedCell {
    spec: Spec,
    rows: Rows,
    commit: Commit,
    /// For the first run: its memory is taken before the engine is there.
    recorder: Option<Recorder>,
}

impl Prepared for PreparedCell {
    fn open(self: Box<Self>, store: Store, _: Reopener) -> Result<Box<dyn Bench>, EngineError> {
        let log: Box<dyn RetentionLog> = match store {
            Store::Sql(store) => Box::new(sql::SqlLog::new(store)),
            Store::Kv(store) => Box::new(kv::KvLog::new(store)?),
            Store::Document(store) => Box::new(document::DocumentLog::new(store)),
            Store::Series(store) => Box::new(series::SeriesLog::new(store)),
        };
        Ok(Box::new(bench::RetentionBench::new(*self, log)))
    }
}
