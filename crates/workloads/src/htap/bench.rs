//! The workload on one database.

use std::rc::Rc;

use embermark_contract::{EngineError, NodeClient, Reopener, Store};
use embermark_data::dogs::Dog;
use embermark_meter::{Measured, Meter};
use embermark_model::answer::{Answer, Expected};
use embermark_model::result::Execution;

use super::PHASES;
use super::document::DocumentDogs;
use super::kv::KvDogs;
use super::node::{self, Done, NodeProcess};
use super::oracle;
use super::port::Dogs;
use super::series::SeriesDogs;
use super::sql::SqlDogs;
use super::variant::{Client, Indexes, Variant};
use crate::reopenable::Reopenable;
use crate::{
    Bench, CheckError, Companions, NoopObserver, OpenedPhase, PhaseObserver, Prepared, Repeat,
    Strategy, first,
};

/// Everything that exists before the engine does.
pub(super) struct PreparedCell {
    pub dogs: Vec<Dog>,
    pub variant: Variant,
    /// Starts processes, where somebody can.
    pub companions: Option<Rc<dyn Companions>>,
}

impl Prepared for PreparedCell {
    fn open(
        self: Box<Self>,
        store: Store,
        reopener: Reopener,
    ) -> Result<Box<dyn Bench>, EngineError> {
        // HarperDB's own table, which no one tells what to index, is what the source had.
        let documents = match self.variant.client {
            Client::Own => self.variant.indexes,
            Client::Node => Indexes::Every,
        };
        let indexes = self.variant.indexes;
        let mut store: Box<dyn Dogs> = match store {
            Store::Sql(store) => Box::new(SqlDogs::new(Reopenable::new(store, reopener), indexes)),
            Store::Kv(store) => Box::new(KvDogs::new(store, indexes)?),
            Store::Document(store) => Box::new(DocumentDogs::new(store, documents)?),
            Store::Series(store) => Box::new(SeriesDogs::new(store, indexes)),
        };
        let node = match self.variant.client {
            Client::Own => None,
            Client::Node => Some(store.store().node_client()?),
        };
        let (name, ops, execution) = (PHASES[0].name, self.dogs.len() as u64, store.counts());
        Ok(Box::new(HtapBench {
            phases: [OpenedPhase { name, ops, execution }],
            cell: *self,
            store,
            node,
            timed_by: None,
        }))
    }
}

struct HtapBench {
    phases: [OpenedPhase; 1],
    cell: PreparedCell,
    store: Box<dyn Dogs>,
    /// The engine's client for Node.js, where that inserts and counts.
    node: Option<NodeClient>,
    /// What took the time of the last run, where that was not this program.
    timed_by: Option<String>,
}

impl HtapBench {
    /// Has the Node.js program insert and count while the database is closed here, where it has to be.
    fn by_node(
        &mut self,
        meter: &mut Meter,
        observer: &mut dyn PhaseObserver,
    ) -> Result<Answer, EngineError> {
        let Self {
            cell: PreparedCell { dogs, variant, companions }, store, node, timed_by, ..
        } = self;
        let (Some(client), Some(companions)) = (&*node, companions) else {
            let what = "starting processes that take part in a phase";
            return Err(EngineError::unsupported("this program", what));
        };
        let together = variant.strategy == Strategy::OneTransaction;
        let most = meter.cap();
        let mut done = None;
        store.while_closed(&mut || {
            let mut process = NodeProcess::start(&**companions, client, dogs, together, most)?;
            observer.process(node::ROLE, process.pid());
            observer.open();
            done = Some(process.go()?);
            observer.close();
            *timed_by = Some(process.version.clone());
            process.end()
        })?;
        let Some(Done { inserted, counted, ns }) = done else {
            return Err(EngineError::failed("the store", "be closed for a while", "it was not"));
        };
        let capped = inserted < dogs.len() as u64;
        meter.lasted(Measured { elapsed_ns: ns, ops: inserted, capped });
        Ok(Answer::Count(counted))
    }
}

impl Bench for HtapBench {
    fn phases(&self) -> &[OpenedPhase] {
        &self.phases
    }

    fn ready(&mut self, _: usize) -> Result<(), EngineError> {
        self.store.clear()?;
        self.store.ready(self.cell.variant.strategy)
    }

    fn repeat(&self, _: usize) -> Repeat {
        match self.cell.variant.client {
            Client::Own => Repeat::Restored,
            Client::Node => Repeat::Never,
        }
    }

    fn run(&mut self, phase: usize, meter: &mut Meter) -> Result<Answer, EngineError> {
        self.observe(phase, meter, &mut NoopObserver)
    }

    fn observe(
        &mut self,
        _: usize,
        meter: &mut Meter,
        observer: &mut dyn PhaseObserver,
    ) -> Result<Answer, EngineError> {
        if self.cell.variant.client == Client::Node {
            return self.by_node(meter, observer);
        }
        let Self { cell: PreparedCell { dogs, variant, .. }, store, .. } = self;
        meter.start();
        let done = store.insert(dogs, variant.strategy, meter).and_then(|()| store.count());
        meter.stop();
        done.map(Answer::Count)
    }

    fn check(&mut self, _: usize, answer: &Answer, measured: Measured) -> Result<(), CheckError> {
        Expected::Count(measured.ops).check(answer)?;
        let Self { cell: PreparedCell { dogs, variant, .. }, store, .. } = self;
        oracle::contents(&mut **store, dogs, measured.ops)?;
        oracle::indexes(&mut **store, variant.indexes, dogs, measured.ops)
    }

    fn execution(&self, _: usize) -> Option<Execution> {
        self.store.answered_by()
    }

    fn timed_by(&self, _: usize) -> Option<String> {
        self.timed_by.clone()
    }

    fn user_bytes(&self, _: usize, ops: u64) -> Option<u64> {
        Some(first(&self.cell.dogs, ops).iter().map(Dog::value_bytes).sum())
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>, EngineError> {
        self.store.store().tier_settings()
    }

    fn maintain_as_left(&mut self) -> Result<(), EngineError> {
        self.store.store().maintain()
    }

    fn finish(mut self: Box<Self>) -> Result<(), EngineError> {
        self.store.store().maintain()?;
        self.store.close()
    }
}
