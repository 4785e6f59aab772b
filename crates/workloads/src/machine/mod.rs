//! `machine`: a machine tool at 1 kHz. It has a sensor process that never waits, a queue of 16 KiB,
//! a writer that must keep up, and a reader that wants three working cycles per second. It measures
//! what the work costs, not its speed.

mod bench;
mod cell;
mod columns;
mod companions;
mod cycles;
mod document;
mod encoding;
mod kv;
mod machine_log;
mod oracle;
mod phases;
mod published_documents;
mod reader;
mod sample_sink;
mod schema;
mod series;
mod sql;
mod statements;

use std::error::Error;
use std::fs::File;
use std::time::Duration;

use embermark_contract::{EngineError, Reopener, Store};
use embermark_data::machine::Signal;
use embermark_model::choice;
use embermark_model::plan::DataSource;

use crate::arrivals::{self, Task};
use crate::{Bench, Info, Prepared, Protocol, Source, Spec, VariantInfo, Workload, WorkloadError};
use bench::MachineBench;
use cell::{GeneratedSamples, PreparedCell};
use machine_log::{Form, Layout, MachineLog};
use phases::{LIVE, PHASES, READ, READ_BULK, READ_BULK1, SUSTAINED, WRITE};

/// The workload.
pub struct Machine;

static VARIANTS: [VariantInfo; 4] = [
    VariantInfo {
        name: "individual",
        about: "one commit per sample",
        changes: &[WRITE, READ, READ_BULK, READ_BULK1, LIVE, SUSTAINED],
    },
    VariantInfo {
        name: "bulk",
        about: "one commit per second, with all its samples in one value",
        changes: &[WRITE, READ_BULK, LIVE, SUSTAINED],
    },
    VariantInfo {
        name: "individual-published",
        about: "`individual` with the published tables and documents; reads what `write` stored",
        changes: &[WRITE, READ, READ_BULK, READ_BULK1, LIVE, SUSTAINED],
    },
    VariantInfo {
        name: "bulk-published",
        about: "`bulk` with the published tables and documents; reads what `write` stored",
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
            trials: Some(1),
            ..Protocol::default()
        };
        Info {
            id: "machine",
            about: "a machine tool at 1 kHz: writers and readers, and their cost",
            phases: &PHASES,
            variants: &VARIANTS,
            overview: protocol(&[10_000], 100, 500),
            usual: protocol(&[60_000], 5_000, 30_000),
            windowed: &[WRITE, READ, READ_BULK, READ_BULK1, LIVE, SUSTAINED],
            clients: 1,
            lasts: true,
            searches: &[SUSTAINED],
            ..Info::default()
        }
    }

    fn source(&self, _: &DataSource, seed: u64) -> Result<Box<dyn Source>, WorkloadError> {
        Ok(Box::new(GeneratedSamples { seed }))
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
        let samples = cell::staged(&spec.rows)?;
        Ok(Box::new(PreparedCell { spec: spec.clone(), layout, form, samples }))
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
                let make = |number, payload: &mut [u8]| {
                    payload.copy_from_slice(&encoding::values_bytes(&signal.values(number)));
                };
                arrivals::run_sensor(task, sample_sink::QUEUE, make, out)
            }
            ("reader", Some(store)) => {
                let task: reader::Task = serde_json::from_str(task)?;
                reader::serve(task, log(store, task.layout, task.form), &mut out)
            }
            _ => Err(format!("the workload machine has no process in the role '{role}'").into()),
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
            let what = "the published layout, which has no form for key-value stores";
            return Err(EngineError::unsupported("a key-value store", what));
        }
        (Store::Document(store), Form::Own) => Box::new(document::DocumentLog::new(store, layout)),
        (Store::Document(store), Form::Published) => {
            Box::new(published_documents::PublishedDocumentLog::new(store, layout)?)
        }
        (Store::Series(_), Form::Published) if layout == Layout::Seconds => {
            let what = "bulk-published: the published layout writes points one by one. Use \
                        individual-published, whose points every phase reads";
            return Err(EngineError::unsupported("a series store", what));
        }
        (Store::Series(store), _) => Box::new(series::SeriesLog(store)),
    })
}
