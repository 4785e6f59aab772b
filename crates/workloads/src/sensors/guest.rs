//! The clients of one machine on a database that another machine has opened.

use embermark_contract::{EngineError, Result};
use embermark_meter::{Measured, Meter};
use embermark_model::answer::Answer;

use super::cell::PreparedCell;
use super::clients::Clients;
use super::phase::Phase;
use super::port::SensorLog;
use super::query_results::QueryResults;
use super::share::Done;
use crate::{Bench, CheckError, OpenedPhase};

/// A bench that does its share, and neither loads nor checks anything.
pub(super) struct GuestBench {
    /// Closed before the log is.
    clients: Option<Clients>,
    log: Box<dyn SensorLog>,
    cell: PreparedCell,
    phases: Vec<OpenedPhase>,
    done: Done,
    found: QueryResults,
}

impl GuestBench {
    pub(super) fn new(cell: PreparedCell, log: Box<dyn SensorLog>) -> Self {
        let phases = cell.phases(&*log);
        let (done, found) = (Done::first(0), QueryResults::default());
        Self { clients: None, log, cell, phases, done, found }
    }

    fn close_clients(&mut self) -> Result<()> {
        self.clients.take().map_or(Ok(()), Clients::end)
    }
}

impl Bench for GuestBench {
    fn phases(&self) -> &[OpenedPhase] {
        &self.phases
    }

    /// Anew before every run: the tables may be others than before.
    fn ready(&mut self, phase: usize) -> Result<()> {
        self.close_clients()?;
        self.found.empty(&self.cell.oracle);
        let mut clients = Clients::begin(&mut *self.log, &self.cell.shares)?;
        clients.ready(Phase::RUN_ORDER[phase], self.cell.variant)?;
        self.clients = Some(clients);
        Ok(())
    }

    fn run(&mut self, phase: usize, meter: &mut Meter) -> Result<Answer> {
        let step = Phase::RUN_ORDER[phase];
        let Self { clients, cell: PreparedCell { variant, load, .. }, found, .. } = self;
        let Some(clients) = clients else {
            return Err(EngineError::failed("a client machine", "run a phase", "it is not ready"));
        };
        self.done = clients.run(step, variant.strategy(), *load, meter, found)?;
        Ok(found.answer(step))
    }

    fn check(&mut self, _: usize, _: &Answer, _: Measured) -> std::result::Result<(), CheckError> {
        let what = "to check answers, which the machine that opened the database does";
        Err(EngineError::unsupported("a client machine", what).into())
    }

    fn done(&self) -> Vec<u64> {
        self.done.each().to_vec()
    }

    fn user_bytes(&self, _: usize, _: u64) -> Option<u64> {
        None
    }

    fn maintain_as_left(&mut self) -> Result<()> {
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.close_clients()?;
        self.log.close()
    }
}
