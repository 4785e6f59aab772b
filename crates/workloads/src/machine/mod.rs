//! `machine`: a machine tool at 1 kHz. It has a sensor process that never waits, a queue of 16 KiB,
//! a writer that must keep up, and a reader that wants three working cycles per second. It measures
//! not speed but what the work costs.

mod bench;
mod cell;
mod columns;
mod companions;
mod cycles;
mod dated;
mod document;
mod kv;
mod packed;
mod phases;
mod port;
mod questions;
mod reader;
mod schema;
mod series;
mod sql;
mod storing;
mod truth;

use std::error::Error;
use std::fs::File;
use std::time::Duration;

use embermark_contract::{EngineError, Reopener, Store};
use embermark_data::machine::Signal;
use embermark_model::choice;
use embermark_model::plan::DataSource;

use crate::arrivals::{self, Task};
use crate::generated::{self, GeneratedRows};
use crate::{Bench, Info, Prepared, Protocol, Source, Spec, VariantInfo, Workload, WorkloadError};
use bench::MachineBench;
use cell::PreparedCell;
use phases::{LIVE, PHASES, READ, READ_BULK, READ_BULK1, SUSTAINED, WRITE};
use port::{Form, Layout, MachineLog};

/// The workload.
pub struct Machine;

static VARIANTS: [VariantInfo; 4] = [
    VariantInfo {
        name: "individual",
        about: "one commit a sample",
        changes: &[WRITE, READ, READ_BULK, READ_BULK1, LIVE, SUSTAINED],
    },
    VariantInfo {
        name: "bulk",
        about: "one commit a second, of all its samples in one value",
        changes: &[WRITE, READ_BULK, LIVE, SUSTAINED],
    },
    VariantInfo {
        name: "individual-published",
        about: "individual in the source's own tables and documents; what is written is read",
        changes: &[WRITE, READ, READ_BULK, READ_BULK1, LIVE, SUSTAINED],
    },
    VariantInfo {
        name: "bulk-published",
        about: "bulk in the source's own tables and documents; what is written is read",
        changes: &[WRITE, READ_BULK, LIVE, SUSTAINED],
    },
];

impl Workload for Machine {
    fn info(&self) -> Info {
        const BOTH: &[&str] = &["individual", "bulk"];
        let protocol = |scales, warm_up, window| Protocol {
            scales,
            variants: BOTH,
            warm_up: Duration::from_millis(warm_up),
            window: Duration::from_millis(window),
            memory_limit: None,
            trials: Some(1),
        };
        Info {
            id: "machine",
            about: "a machine tool at 1 kHz: writers, readers, and what they cost",
            phases: &PHASES,
            variants: &VARIANTS,
            overview: protocol(&[10_000], 100, 500),
            usual: protocol(&[60_000], 5_000, 30_000),
            reads_files: false,
            whole: false,
            timed: &[],
            windowed: &[WRITE, READ, READ_BULK, READ_BULK1, LIVE, SUSTAINED],
            clients: 1,
            gets: None,
            lasts: true,
            until_steady: false,
            cold: false,
            searches: &[SUSTAINED],
            arrivals: &[],
            apart: &[],
            joins: false,
            points: &[],
        }
    }

    fn source(&self, _: &DataSource, seed: u64) -> Result<Box<dyn Source>, WorkloadError> {
        Ok(Box::new(GeneratedRows { name: "synthetic machine", seed, published: 1_200_000 }))
    }

    fn prepare(&self, spec: &Spec) -> Result<Box<dyn Prepared>, WorkloadError> {
        let (layout, form) = match spec.variant.as_str() {
            "individual" => (Layout::Samples, Form::Own),
            "bulk" => (Layout::Seconds, Form::Own),
            "individual-published" => (Layout::Samples, Form::Published),
            "bulk-published" => (Layout::Seconds, Form::Published),
            other => {
                let valid = VARIANTS.iter().map(|variant| variant.name);
                return Err(choice::unknown("variant", other, valid).into());
            }
        };
        let (samples, seed) = generated::read(&spec.rows)?;
        Ok(Box::new(PreparedCell { spec: spec.clone(), layout, form, samples, seed }))
    }

    fn companion(
        &self,
        role: &str,
        task: &str,
        store: Option<Store>,
        mut out: File,
    ) -> Result<(), Box<dyn Error>> {
        match (role, store) {
            (arrivals::SENSOR, None) => {
                let (task, seed): (Task, u64) = serde_json::from_str(task)?;
                let signal = Signal::new(seed, task.rate);
                let make =
                    |number, payload: &mut [u8]| storing::pack(&signal.values(number), payload);
                arrivals::run_sensor(task, storing::QUEUE, make, out)
            }
            ("reader", Some(store)) => {
                let task: reader::Task = serde_json::from_str(task)?;
                reader::serve(task, log(store, task.layout, task.form), &mut out)
            }
            _ => Err(format!("the machine has no process in the role of '{role}'").into()),
        }
    }
}

impl Prepared for PreparedCell {
    fn open(self: Box<Self>, mut store: Store, _: Reopener) -> Result<Box<dyn Bench>, EngineError> {
        let join = store.lifecycle().join();
        let log = log(store, self.layout, self.form)?;
        Ok(Box::new(MachineBench::new(*self, log, join)))
    }
}

fn log(store: Store, layout: Layout, form: Form) -> Result<Box<dyn MachineLog>, EngineError> {
    Ok(match (store, form) {
        (Store::Sql(store), form) => Box::new(sql::SqlLog::new(store, layout, form)),
        (Store::Kv(store), Form::Own) => Box::new(kv::KvLog::new(store, layout)?),
        (Store::Kv(_), Form::Published) => {
            let what = "records as the source has them: it has no key-value store";
            return Err(EngineError::unsupported("a key-value store", what));
        }
        (Store::Document(store), Form::Own) => Box::new(document::DocumentLog::new(store, layout)),
        (Store::Document(store), Form::Published) => Box::new(dated::DatedLog::new(store, layout)?),
        (Store::Series(_), Form::Published) if layout == Layout::Seconds => {
            let what = "a second way of writing as the source has them: it writes points one by one \
                        (individual-published), which it is read from in each of its ways";
            return Err(EngineError::unsupported("a series store", what));
        }
        (Store::Series(store), _) => Box::new(series::SeriesLog(store)),
    })
}
