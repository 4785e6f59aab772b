//! The workload on one database.

use embermark_contract::{EngineError, Reopener, Store};
use embermark_data::dogs::Dog;
use embermark_meter::{Measured, Meter};
use embermark_model::answer::{Answer, Expected};

use super::PHASES;
use super::document::DocumentDogs;
use super::kv::KvDogs;
use super::oracle;
use super::port::Dogs;
use super::series::SeriesDogs;
use super::sql::SqlDogs;
use super::variant::Variant;
use crate::reopenable::Reopenable;
use crate::{Bench, CheckError, OpenedPhase, Prepared, first};

/// Everything that exists before the engine does.
pub(super) struct PreparedCell {
    pub dogs: Vec<Dog>,
    pub variant: Variant,
}

impl Prepared for PreparedCell {
    fn open(
        self: Box<Self>,
        store: Store,
        reopener: Reopener,
    ) -> Result<Box<dyn Bench>, EngineError> {
        let indexes = self.variant.indexes;
        let store: Box<dyn Dogs> = match store {
            Store::Sql(store) => Box::new(SqlDogs::new(Reopenable::new(store, reopener), indexes)),
            Store::Kv(store) => Box::new(KvDogs::new(store, indexes)?),
            Store::Document(store) => Box::new(DocumentDogs::new(store, indexes)?),
            Store::Series(store) => Box::new(SeriesDogs::new(store, indexes)),
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
        self.store.ready(self.cell.variant.strategy)
    }

    fn run(&mut self, _: usize, meter: &mut Meter) -> Result<Answer, EngineError> {
        let Self { cell: PreparedCell { dogs, variant }, store, .. } = self;
        meter.start();
        let done = store.insert(dogs, variant.strategy, meter).and_then(|()| store.count());
        meter.stop();
        done.map(Answer::Count)
    }

    fn check(&mut self, _: usize, answer: &Answer, measured: Measured) -> Result<(), CheckError> {
        Expected::Count(measured.ops).check(answer)?;
        let Self { cell: PreparedCell { dogs, variant }, store, .. } = self;
        oracle::contents(&mut **store, dogs, measured.ops)?;
        oracle::indexes(&mut **store, variant.indexes, dogs, measured.ops)
    }

    fn user_bytes(&self, _: usize, ops: u64) -> Option<u64> {
        Some(first(&self.cell.dogs, ops).iter().map(Dog::value_bytes).sum())
    }

    fn maintain_as_left(&mut self) -> Result<(), EngineError> {
        self.store.store().maintain()
    }

    fn finish(mut self: Box<Self>) -> Result<(), EngineError> {
        self.store.store().maintain()?;
        self.store.close()
    }
}
