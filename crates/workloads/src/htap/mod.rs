//! `htap`: write, then count at once. N rows go into a fresh table and are counted by a query as
//! soon as the last is in: what an application does that shows what it has just taken.

mod document;
mod kv;
mod port;
mod series;
mod sql;

use std::collections::HashMap;

use embermark_contract::{EngineError, Reopener, Store};
use embermark_data::dogs::{self, Dog};
use embermark_meter::{Measured, Meter};
use embermark_model::answer::{Answer, Difference, Expected};
use embermark_model::plan::DataSource;

use crate::generated::{self, GeneratedRows};
use crate::{
    Bench, CheckError, Info, OpenedPhase, PhaseInfo, Prepared, Protocol, Source, Spec, Strategy,
    VariantInfo, Workload, WorkloadError, first,
};
use port::{Dogs, Stored};

/// The workload.
pub struct Htap;

static PHASES: [PhaseInfo; 1] =
    [PhaseInfo { name: "insert_count", about: "inserts N rows, then counts them by a query" }];

static VARIANTS: [VariantInfo; 3] = [
    VariantInfo {
        name: "commit-each",
        about: "one commit a row, as published",
        changes: &["insert_count"],
    },
    VariantInfo {
        name: "single",
        about: "row by row in one transaction, from 100,000 on in transactions of 10,000",
        changes: &["insert_count"],
    },
    VariantInfo {
        name: "bulk",
        about: "all rows in one batch, by the engine's fastest path",
        changes: &["insert_count"],
    },
];

impl Workload for Htap {
    fn info(&self) -> Info {
        const SCALES: &[u64] = &[1, 10, 100, 500, 1_000, 2_500, 5_000];
        Info {
            id: "htap",
            about: "write, then count at once",
            phases: &PHASES,
            variants: &VARIANTS,
            overview: Protocol::of(&[1, 100, 1_000], &["commit-each", "bulk"]),
            usual: Protocol::of(&[1, 100, 1_000], &["commit-each", "bulk"]),
            published: Protocol::of(SCALES, &["commit-each"]),
            reads_files: false,
            whole: false,
            timed: &[],
            clients: 1,
            lasts: false,
            cold: false,
            searches: &[],
            apart: &[],
            points: &[],
        }
    }

    fn source(&self, _: &DataSource, seed: u64) -> Result<Box<dyn Source>, WorkloadError> {
        Ok(Box::new(GeneratedRows { name: "synthetic dogs", seed, published: 5_000 }))
    }

    fn prepare(&self, spec: &Spec) -> Result<Box<dyn Prepared>, WorkloadError> {
        let strategy = Strategy::named(&spec.variant, &VARIANTS)?;
        let (rows, seed) = generated::read(&spec.rows)?;
        Ok(Box::new(PreparedCell { dogs: dogs::generate(rows, seed).collect(), strategy }))
    }
}

/// Everything that exists before the engine does.
struct PreparedCell {
    dogs: Vec<Dog>,
    strategy: Strategy,
}

impl Prepared for PreparedCell {
    fn open(self: Box<Self>, store: Store, _: Reopener) -> Result<Box<dyn Bench>, EngineError> {
        let store: Box<dyn Dogs> = match store {
            Store::Sql(store) => Box::new(sql::SqlDogs::new(store)?),
            Store::Kv(store) => Box::new(kv::KvDogs::new(store)?),
            Store::Document(store) => Box::new(document::DocumentDogs::new(store)?),
            Store::Series(store) => Box::new(series::SeriesDogs::new(store)),
        };
        let (name, ops, execution) = (PHASES[0].name, self.dogs.len() as u64, store.counts());
        Ok(Box::new(HtapBench {
            phases: [OpenedPhase { name, ops, execution }],
            cell: *self,
            store,
        }))
    }
}

struct HtapBench {
    phases: [OpenedPhase; 1],
    cell: PreparedCell,
    store: Box<dyn Dogs>,
}

impl Bench for HtapBench {
    fn phases(&self) -> &[OpenedPhase] {
        &self.phases
    }

    fn ready(&mut self, _: usize) -> Result<(), EngineError> {
        self.store.clear()?;
        self.store.ready(self.cell.strategy)
    }

    fn run(&mut self, _: usize, meter: &mut Meter) -> Result<Answer, EngineError> {
        let Self { cell: PreparedCell { dogs, strategy }, store, .. } = self;
        meter.start();
        let done = store.insert(dogs, *strategy, meter).and_then(|()| store.count());
        meter.stop();
        done.map(Answer::Count)
    }

    fn check(&mut self, _: usize, answer: &Answer, measured: Measured) -> Result<(), CheckError> {
        Expected::Count(measured.ops).check(answer)?;
        let dogs = &self.cell.dogs;
        let mut missing: HashMap<&str, &Dog> = dogs.iter().map(|dog| (&*dog.id, dog)).collect();
        let (mut stored, mut difference) = (0, None);
        self.store.contents(&mut |got| {
            stored += 1;
            if difference.is_none() {
                let known = missing.remove(got.id);
                difference = (known.map(Stored::of).as_ref() != Some(got))
                    .then(|| format!("found {got:?}, expected {known:?}"));
            }
        })?;
        match difference {
            Some(text) => Err(Difference(text).into()),
            None if stored == measured.ops => Ok(()),
            None => {
                let text = format!("expected {} rows in the store, found {stored}", measured.ops);
                Err(Difference(text).into())
            }
        }
    }

    fn user_bytes(&self, _: usize, ops: u64) -> Option<u64> {
        Some(first(&self.cell.dogs, ops).iter().map(Dog::value_bytes).sum())
    }

    fn maintain_as_left(&mut self) -> Result<(), EngineError> {
        self.store.maintain()
    }

    fn finish(mut self: Box<Self>) -> Result<(), EngineError> {
        self.store.maintain()?;
        self.store.close()
    }
}
