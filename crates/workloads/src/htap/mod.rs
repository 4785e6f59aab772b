//! `htap`: write, then count at once. N rows go into a fresh table and are counted by a query as
//! soon as the last is in: what an application does that shows what it has just taken.

mod bench;
mod columns;
mod document;
mod kv;
mod node;
mod oracle;
mod port;
mod record;
mod series;
mod sql;
mod variant;

use std::error::Error;
use std::fs::File;

use embermark_contract::Store;
use embermark_data::dogs;
use embermark_model::plan::DataSource;

use crate::generated::{self, GeneratedRows};
use crate::{Info, PhaseInfo, Prepared, Protocol, Source, Spec, Workload, WorkloadError};
use bench::PreparedCell;
use variant::{VARIANTS, Variant};

/// The workload.
pub struct Htap;

static PHASES: [PhaseInfo; 1] =
    [PhaseInfo { name: "insert_count", about: "inserts N rows, then counts them by a query" }];

impl Workload for Htap {
    fn info(&self) -> Info {
        Info {
            id: "htap",
            about: "write, then count at once",
            phases: &PHASES,
            variants: &VARIANTS,
            overview: Protocol::of(&[1, 100, 1_000], &["commit-each", "bulk"]),
            usual: Protocol::of(&[1, 100, 1_000], &["commit-each", "bulk"]),
            reads_files: false,
            whole: false,
            timed: &[],
            windowed: &[],
            clients: 1,
            lasts: false,
            until_steady: false,
            cold: false,
            searches: &[],
            apart: &[],
            joins: false,
            points: &[],
        }
    }

    fn source(&self, _: &DataSource, seed: u64) -> Result<Box<dyn Source>, WorkloadError> {
        Ok(Box::new(GeneratedRows { name: "synthetic dogs", seed, published: 5_000 }))
    }

    fn prepare(&self, spec: &Spec) -> Result<Box<dyn Prepared>, WorkloadError> {
        let variant = Variant::named(&spec.variant)?;
        let (rows, seed) = generated::read(&spec.rows)?;
        let dogs = dogs::generate(rows, seed).collect();
        Ok(Box::new(PreparedCell { dogs, variant, companions: spec.companions.clone() }))
    }

    fn companion(
        &self,
        role: &str,
        task: &str,
        store: Option<Store>,
        out: File,
    ) -> Result<(), Box<dyn Error>> {
        match (role, store) {
            (node::ROLE, None) => Err(node::become_program(task, out).into()),
            _ => Err(format!("this workload has no process in the role of '{role}'").into()),
        }
    }
}
