//! `contacts`: the application database of the McKnight comparison. A table of contacts with an
//! index on the state and none on the zip code: opened and closed, filled, and then read, changed
//! and emptied in part by either column.
//!
//! [`port`] is what the workload asks of a store; [`sql`], [`kv`], [`document`] and [`series`]
//! answer it, once for each data model. The [`oracle`] knows the right answers from the rows alone.

mod bench;
mod columns;
mod document;
mod kv;
mod oracle;
mod phase;
mod points;
mod port;
mod record;
mod series;
mod sql;

use embermark_data::contacts::{self, PUBLISHED_ROWS};
use embermark_data::draw::Draw;
use embermark_model::plan::DataSource;

use crate::generated::{self, GeneratedRows};
use crate::{
    Info, Prepared, Protocol, Source, Spec, Strategy, VariantInfo, Workload, WorkloadError,
};
use bench::PreparedCell;
use oracle::Oracle;
use port::Changes;

/// The workload.
pub struct Contacts;

/// Times that `open_close` opens the database: as published.
const OPENINGS: usize = 250;

/// The variant whose `open_close` reads no row.
const NO_READ: &str = "no-read";

/// The variant that changes rows one by one.
const ROW_BY_ROW: &str = "row-by-row";

static VARIANTS: [VariantInfo; 5] = [
    VariantInfo {
        name: "single",
        about: "rows inserted one by one in one transaction, from 100,000 on in transactions of 10,000",
        changes: &["insert"],
    },
    VariantInfo {
        name: "commit-each",
        about: "rows inserted one by one, one commit a row, as published",
        changes: &["insert"],
    },
    VariantInfo {
        name: "bulk",
        about: "rows inserted by the engine's fastest path",
        changes: &["insert"],
    },
    VariantInfo {
        name: NO_READ,
        about: "opened and closed without reading a row, as published; an engine that opens lazily then \
                reads little of its file",
        changes: &["open_close"],
    },
    VariantInfo {
        name: ROW_BY_ROW,
        about: "the rows to be changed are found first, then changed one by one by their ids, one commit \
                a row",
        changes: &["update_indexed", "update_scan", "delete_indexed", "delete_scan"],
    },
];

impl Workload for Contacts {
    fn info(&self) -> Info {
        Info {
            id: "contacts",
            about: "an application's address book, by an index and without",
            phases: &phase::PHASES,
            variants: &VARIANTS,
            overview: Protocol::of(&[1_000], &["single", "commit-each"]),
            usual: Protocol::of(&[1_000], &["single", "commit-each"]),
            reads_files: false,
            whole: false,
            timed: &[],
            clients: 1,
            lasts: false,
            until_steady: false,
            cold: true,
            searches: &[],
            apart: &[],
            points: &[],
        }
    }

    fn source(&self, _: &DataSource, seed: u64) -> Result<Box<dyn Source>, WorkloadError> {
        Ok(Box::new(GeneratedRows { name: "synthetic contacts", seed, published: PUBLISHED_ROWS }))
    }

    fn prepare(&self, spec: &Spec) -> Result<Box<dyn Prepared>, WorkloadError> {
        let reads = spec.variant != NO_READ;
        let (strategy, changes) = match spec.variant.as_str() {
            NO_READ => (Strategy::Single, Changes::Together),
            ROW_BY_ROW => (Strategy::Single, Changes::RowByRow),
            other => (Strategy::named(other, &VARIANTS)?, Changes::Together),
        };
        let (rows, seed) = generated::read(&spec.rows)?;
        let contacts = contacts::generate(rows, seed).collect();
        let mut draw = Draw::new(spec.seed, 2);
        let drawn = (0..OPENINGS).map(|_| draw.below(rows as usize) as i64 + 1).collect();
        Ok(Box::new(PreparedCell {
            oracle: Oracle { contacts, drawn, reads },
            strategy,
            changes,
            cold: spec.cold,
        }))
    }
}
