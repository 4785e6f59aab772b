//! Workload files: a user's own tables and the work on them, as a [`Definition`]. Each family of
//! stores implements every kind of work once.

mod access;
mod aggregate;
mod arena;
mod arrive;
mod bench;
mod cell;
mod client_checks;
mod client_task;
mod client_threads;
mod codec;
mod correlate;
mod csv;
mod document;
mod documents;
mod family;
mod info;
mod keep;
mod kind;
mod kv;
mod limits;
mod mix;
mod month;
mod operation_keys;
mod oracle;
mod outliers;
mod phases;
mod port;
mod posted;
mod prepared;
mod referees;
mod row;
mod rows;
mod series;
mod source;
mod sql;
mod statements;
mod steady_state;
mod table_rows;
#[cfg(test)]
mod tables;
mod update_values;

use std::error::Error;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use embermark_contract::Store;
use embermark_data::lab;
use embermark_language::{Definition, Phase, Work};
use embermark_meter::Recorder;
use embermark_model::plan::DataSource;
use embermark_model::table::RowsFrom;

use crate::arrivals::{self, SENSOR};
use crate::{Info, Prepared, Source, Spec, Workload, WorkloadError, http};
// Most of these are for the modules of the executor, which import them from here.
use access::{Access, Filter, Filters, filters};
use arena::Arena;
use cell::{Cell, Op};
use codec::Codec;
use documents::Stored;
use phases::{csv_files, parts};
use port::{
    Database, Found, Question, Session, SessionWork, Shared, Steps, TimeStep, VisitRow, fingerprint,
};
use prepared::PreparedCell;
use row::OwnedKey;
use table_rows::Rows;

/// Result of preparing a workload file.
type Result<T, E = WorkloadError> = std::result::Result<T, E>;

/// A workload that a file describes.
pub struct Defined {
    info: Info,
    definition: &'static Definition,
    folder: PathBuf,
    lenient: f64,
}

impl Workload for Defined {
    fn info(&self) -> Info {
        self.info
    }

    fn source(&self, data: &DataSource, seed: u64) -> Result<Box<dyn Source>> {
        let (definition, folder) = (self.definition, self.folder.clone());
        let log = match (&definition.tables[0].rows, data) {
            (RowsFrom::Log(_), DataSource::File(path)) => Some(lab::read(path)?),
            _ => None,
        };
        Ok(Box::new(source::FileRows { definition, folder, seed, lenient: self.lenient, log }))
    }

    fn questions(&self) -> Vec<&'static str> {
        let asked = |phase: &&'static Phase| match &phase.work {
            Work::Sql(sql) => phase.alone && sql.answer.is_none(),
            _ => false,
        };
        self.definition.phases.iter().filter(asked).map(|phase| &*phase.name).collect()
    }

    fn prepare(&self, spec: &Spec) -> Result<Box<dyn Prepared>> {
        let (definition, commit) = self.variant(&spec.variant)?;
        let tables = source::open(definition, &spec.rows)?;
        let cell = Cell {
            engine: spec.engine.clone(),
            appends_only: spec.appends_only,
            commit,
            ..phases::cell(definition, tables, spec.seed)?
        };
        let right = referees::right(definition, &self.folder, spec)?;
        let csv = csv_files(definition, &cell.tables, &spec.rows)?;
        let mut prepared = PreparedCell {
            cell: Arc::new(cell),
            names: self.definition.phases.iter().map(|phase| &*phase.name).collect(),
            kinds: self.kinds(definition, commit),
            spec: Spec { window: spec.window.max(Duration::from_millis(1)), ..spec.clone() },
            is_guest: false,
            csv,
            parts: parts(definition),
            right,
            recorder: definition.keep().map(|_| Recorder::default()),
            arena: Arena::default(),
        };
        prepared.arena = Arena::with_room(prepared.room());
        Ok(Box::new(prepared))
    }

    fn companion(
        &self,
        role: &str,
        task: &str,
        store: Option<Store>,
        out: File,
    ) -> Result<(), Box<dyn Error>> {
        match store {
            None => companion(role, task, out),
            Some(_) => Err("a workload file has no process with the database".into()),
        }
    }
}

/// Runs a companion process of a workload file in `role`, as [`Workload::companion`] describes.
///
/// # Errors
/// Fails when its task cannot be done.
pub fn companion(role: &str, task: &str, out: File) -> Result<(), Box<dyn Error>> {
    match role {
        bench::ROLE => Err(embermark_clients::become_program(task, out).into()),
        http::CLIENT => http::client(task, out),
        SENSOR => {
            let (task, shape) = serde_json::from_str(task)?;
            arrivals::run_sensor(task, shape, |_, _| (), out)
        }
        _ => Err(format!("a workload file has no process in the role of '{role}'").into()),
    }
}
