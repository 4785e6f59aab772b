//! `sensors`: ingest, point access and analytics over the readings of room sensors.
//!
//! [`port`] is what the workload asks of a store; [`sql`], [`kv`], [`document`] and [`series`]
//! answer it, once for each data model. The [`oracle`] knows the right answers from the rows alone.

mod answers;
mod bench;
mod cell;
mod clients;
mod codec;
mod document;
mod family;
mod influxql;
mod kv;
mod oracle;
mod phase;
mod pipelines;
mod port;
mod queries;
mod query_results;
mod row_source;
mod scan;
mod sequence;
mod series;
mod share;
mod source;
mod sql;

use embermark_data::staged::StagedRows;
use embermark_model::MemoryLimit;
use embermark_model::plan::DataSource;

use crate::{
    Info, Prepared, Protocol, Source, Spec, Strategy, VariantInfo, Workload, WorkloadError,
};
use cell::{Load, PreparedCell};
use oracle::Oracle;
use sequence::Sequences;
use source::Rows;

/// The workload.
pub struct Sensors;

static VARIANTS: [VariantInfo; 4] = [
    VariantInfo {
        name: "single",
        about: "rows inserted one by one in one transaction, from 100,000 on in transactions of 10,000",
        changes: &["load"],
    },
    VariantInfo {
        name: "one-transaction",
        about: "rows inserted, updated and deleted one by one in one transaction, however many, as \
                published",
        changes: &["load", "update", "delete"],
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

impl Workload for Sensors {
    fn info(&self) -> Info {
        Info {
            id: "sensors",
            about: "room sensors: ingest, point access, analytics",
            phases: &phase::PHASES,
            variants: &VARIANTS,
            overview: Protocol {
                memory_limit: Some(MemoryLimit(256 << 20)),
                ..Protocol::of(&[10_000, 100_000], &["single", "bulk"])
            },
            usual: Protocol::of(&[1_000, 10_000, 100_000], &["single", "bulk"]),
            published: Protocol::of(&[1_000, 10_000, 100_000, 1_000_000], &["one-transaction"]),
            reads_files: true,
            whole: false,
            timed: &[],
            clients: 1,
            lasts: false,
            cold: true,
            searches: &[],
            apart: &[],
            // In transactions of many rows, as `single` changes them, there is one client.
            points: &[
                ("commit-each", &["load", "read", "update", "delete"]),
                ("single", &["read"]),
                ("bulk", &["read"]),
            ],
        }
    }

    fn source(&self, data: &DataSource, seed: u64) -> Result<Box<dyn Source>, WorkloadError> {
        Ok(Box::new(Rows::open(data, seed)?))
    }

    fn prepare(&self, spec: &Spec) -> Result<Box<dyn Prepared>, WorkloadError> {
        let strategy = Strategy::named(&spec.variant, &VARIANTS)?;
        let rows = StagedRows::open(&spec.rows)?;
        let oracle = Oracle::new(&rows);
        let sequences = Sequences::draw(&rows, &oracle, spec.seed);
        let load = Load { clients: spec.clients.max(1), target_rate: spec.target_rate };
        let shares = if load.clients > 1 {
            share::deal(&rows, &sequences, load.clients)
        } else {
            Vec::new()
        };
        Ok(Box::new(PreparedCell {
            rows,
            oracle,
            sequences,
            strategy,
            load,
            cold: spec.cold,
            shares,
        }))
    }
}
