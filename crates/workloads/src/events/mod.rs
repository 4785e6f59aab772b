//! `events`: a year of telemetry as JSON documents, three questions asked of it again and again, and
//! the time it takes to write it row by row, in batches, and to open it.

mod bench;
mod columns;
mod document;
mod json;
mod kv;
mod large_log;
mod oracle;
mod pair;
mod phase;
mod pipelines;
mod port;
mod posted;
mod queries;
mod query_results;
mod series;
mod sql;
mod variant;

use std::error::Error;
use std::fs::File;
use std::rc::Rc;
use std::time::Duration;

use embermark_contract::{EngineError, Reopener, Store};
use embermark_data::events::{self, PUBLISHED_ROWS};
use embermark_model::plan::DataSource;

use crate::generated::{self, GeneratedRows};
use crate::http;
use crate::reopenable::Reopenable;
use crate::{Bench, Companions, Info, Prepared, Protocol, Source, Spec, Workload, WorkloadError};
use bench::EventsBench;
use oracle::Oracle;
use phase::{APART, PHASES};
use port::{Record, Telemetry};
use variant::{VARIANTS, Variant};

/// The workload.
pub struct Events;

impl Workload for Events {
    fn info(&self) -> Info {
        Info {
            id: "events",
            about: "JSON telemetry",
            phases: &PHASES,
            variants: &VARIANTS,
            overview: Protocol::of(&[1_000], &["none"]),
            usual: Protocol::of(&[2_000], &["none"]),
            reads_files: false,
            whole: false,
            timed: &[],
            windowed: &["gps", "co2", "logs"],
            clients: 1,
            lasts: false,
            until_steady: false,
            cold: true,
            searches: &[],
            apart: APART,
            joins: false,
            points: &[],
        }
    }

    fn source(&self, _: &DataSource, seed: u64) -> Result<Box<dyn Source>, WorkloadError> {
        Ok(Box::new(GeneratedRows { name: "synthetic telemetry", seed, published: PUBLISHED_ROWS }))
    }

    fn prepare(&self, spec: &Spec) -> Result<Box<dyn Prepared>, WorkloadError> {
        let variant = Variant::named(&spec.variant)?;
        let (rows, seed) = generated::read(&spec.rows)?;
        let records: Vec<Record> =
            events::generate(rows, seed).into_iter().map(Record::of).collect();
        let oracle = Oracle::new(&records);
        Ok(Box::new(PreparedCell {
            records,
            oracle,
            variant,
            window: spec.window,
            cold: spec.cold,
            companions: spec.companions.clone(),
        }))
    }

    fn companion(
        &self,
        role: &str,
        task: &str,
        store: Option<Store>,
        out: File,
    ) -> Result<(), Box<dyn Error>> {
        match (role, store) {
            (http::CLIENT, None) => http::client(task, out),
            _ => Err(format!("the events have no process in the role of '{role}'").into()),
        }
    }
}

/// Everything that exists before the engine does.
struct PreparedCell {
    records: Vec<Record>,
    oracle: Oracle,
    variant: Variant,
    window: Duration,
    cold: bool,
    companions: Option<Rc<dyn Companions>>,
}

impl Prepared for PreparedCell {
    fn open(
        self: Box<Self>,
        store: Store,
        reopener: Reopener,
    ) -> Result<Box<dyn Bench>, EngineError> {
        let variant = self.variant;
        let store: Box<dyn Telemetry> = match store {
            Store::Sql(store) => {
                Box::new(sql::SqlEvents::new(Reopenable::new(store, reopener), variant)?)
            }
            Store::Kv(store) => Box::new(kv::KvEvents::new(store, reopener, variant)?),
            Store::Document(store) => {
                Box::new(document::DocumentEvents::new(Reopenable::new(store, reopener), variant)?)
            }
            Store::Series(store) => {
                Box::new(series::SeriesEvents::new(Reopenable::new(store, reopener), variant)?)
            }
        };
        Ok(Box::new(EventsBench::new(*self, store)))
    }
}
