//! `machine`: a machine tool at 1 kHz. It has a sensor process that never waits, a queue of 16 KiB,
//! a writer that must keep up, and a reader that wants three working cycles per second. It measures
//! what the work costs, not its speed.

mod bench;
mod columns;
mod companions;
mod cycles;
mod document;
mod encoding;
mod kv;
mod machine_log;
mod oracle;
mod reader;
mod sample_sink;
mod schema;
mod series;
mod sql;
mod statements;

use std::error::Error;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use embermark_contract::{EngineError, Reopener, Store};
use embermark_data::DataError;
use embermark_data::machine::Signal;
use embermark_model::plan::{DataSource, Dataset};
use embermark_model::{Scale, choice};

use crate::arrivals::{self, Task};
use crate::{
    Bench, Info, PhaseInfo, Prepared, Protocol, Source, Spec, VariantInfo, Workload, WorkloadError,
};
use bench::MachineBench;
use machine_log::{Form, Layout, MachineLog};

/// The workload.
pub struct Machine;

const WRITE: &str = "write";
const READ: &str = "read_individual";
const READ_BULK: &str = "read_bulk";
const READ_BULK1: &str = "read_bulk1";
const LIVE: &str = "live";
const SUSTAINED: &str = "sustained";

/// Its phases in their order.
const PHASES: [&str; 6] = [WRITE, READ, READ_BULK, READ_BULK1, LIVE, SUSTAINED];

static DESCRIBED: [PhaseInfo; 6] = [
    PhaseInfo { name: WRITE, about: "stores every sample of a sensor that never waits" },
    PhaseInfo { name: READ, about: "reads three cycles per second, found by single queries" },
    PhaseInfo {
        name: READ_BULK,
        about: "reads three cycles per second: fetches two seconds and searches them",
    },
    PhaseInfo {
        name: READ_BULK1,
        about: "like read_bulk, but fetches the other channels only for the cycle",
    },
    PhaseInfo {
        name: LIVE,
        about: "writes and reads at the same time; the age of the newest sample",
    },
    PhaseInfo {
        name: SUSTAINED,
        about: "with `embermark rate`: the highest rate at which no sample is lost",
    },
];

static VARIANTS: [VariantInfo; 4] = [
    VariantInfo { name: "individual", about: "one commit per sample", changes: &PHASES },
    VariantInfo {
        name: "bulk",
        about: "one commit per second, with all its samples in one value",
        changes: &[WRITE, READ_BULK, LIVE, SUSTAINED],
    },
    VariantInfo {
        name: "individual-published",
        about: "`individual` with the published tables and documents; reads what `write` stored",
        changes: &PHASES,
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
            phases: &DESCRIBED,
            variants: &VARIANTS,
            overview: protocol(&[10_000], 100, 500),
            usual: protocol(&[60_000], 5_000, 30_000),
            windowed: &PHASES,
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
        let samples = staged(&spec.rows)?;
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

/// Samples of the scale `full`: as many as the workload's source has.
const PUBLISHED: u64 = 1_200_000;

/// Samples that a worker generates from the seed. Only their number is staged.
struct GeneratedSamples {
    seed: u64,
}

impl Source for GeneratedSamples {
    fn stage(&self, scale: Scale, file: &Path) -> Result<Dataset, WorkloadError> {
        let rows = if let Scale::Rows(rows) = scale { rows } else { PUBLISHED };
        fs::write(file, rows.to_string())
            .map_err(|cause| DataError::Unwritable { path: file.to_owned(), cause })?;
        let name = format!("synthetic machine (seed {})", self.seed);
        Ok(Dataset { name, rows, ..Dataset::default() })
    }
}

/// Reads what [`GeneratedSamples`] staged: the number of samples.
fn staged(file: &Path) -> Result<u64, WorkloadError> {
    let unreadable = |cause| DataError::Unreadable { path: file.to_owned(), cause };
    let text = fs::read_to_string(file).map_err(unreadable)?;
    Ok(text.parse::<u64>().map_err(|_| unreadable(ErrorKind::InvalidData.into()))?)
}

/// Everything that exists before the engine does.
struct PreparedCell {
    spec: Spec,
    layout: Layout,
    form: Form,
    samples: u64,
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
        (Store::Document(store), form) => {
            Box::new(document::DocumentLog::new(store, layout, form)?)
        }
        (Store::Series(_), Form::Published) if layout == Layout::Seconds => {
            let what = "bulk-published: the published layout writes points one by one. Use \
                        individual-published, whose points every phase reads";
            return Err(EngineError::unsupported("a series store", what));
        }
        (Store::Series(store), _) => Box::new(series::SeriesLog(store)),
    })
}
