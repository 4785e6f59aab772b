//! `sensors`: ingest, point access and analytics over the readings of room sensors.
//!
//! [`port`] is what the workload asks of a store; [`sql`], [`kv`], [`document`] and [`series`]
//! answer it, once for each data model. The [`oracle`] knows the right answers from the rows alone.

mod answers;
mod bench;
mod cell;
mod clients;
mod codec;
mod columns;
mod csv_file;
mod document;
mod family;
mod guest;
mod influxql;
mod kv;
mod oracle;
mod phase;
mod pipelines;
mod port;
mod queries;
mod query_results;
mod range;
mod row_source;
mod scan;
mod sequence;
mod series;
mod share;
mod source;
mod sql;
mod variant;

use embermark_data::staged::StagedRows;
use embermark_model::MemoryLimit;
use embermark_model::plan::DataSource;

use crate::{Info, Prepared, Protocol, Source, Spec, Workload, WorkloadError};
use cell::{Load, PreparedCell};
use csv_file::CsvRows;
use oracle::Oracle;
use range::Ranges;
use sequence::{Draw, Sequences};
use source::Rows;
use variant::{VARIANTS, Variant};

/// The workload.
pub struct Sensors;

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
            reads_files: true,
            whole: false,
            timed: &[],
            windowed: &[],
            clients: 1,
            lasts: false,
            until_steady: false,
            cold: true,
            searches: &[],
            apart: &[],
            // In transactions of many rows, as `single` changes them, there is one client.
            joins: true,
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
        let variant = Variant::named(&spec.variant)?;
        let rows = StagedRows::open(&spec.rows)?;
        let oracle = Oracle::new(&rows);
        let sequences = Sequences::draw(&rows, &oracle, spec.seed);
        let clients = spec.clients.max(1);
        let own = spec.own_clients.clone();
        let first = own.as_ref().map_or(0, |own| own.start);
        let load = Load { clients, first, target_rate: spec.target_rate };
        let shares = if clients > 1 {
            share::deal(&rows, &sequences, clients, own.unwrap_or(0..clients))
        } else {
            Vec::new()
        };
        let ranges = match variant {
            Variant::ByRange => Ranges::draw(&rows, &oracle, Draw::of(spec.seed, 4)),
            _ => Ranges::default(),
        };
        let csv = match variant {
            Variant::Csv => Some(CsvRows::write(&rows, &spec.rows)?),
            _ => None,
        };
        Ok(Box::new(PreparedCell {
            rows,
            oracle,
            sequences,
            ranges,
            csv,
            variant,
            load,
            cold: spec.cold,
            shares,
        }))
    }
}
