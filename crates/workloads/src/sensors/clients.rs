//! Several clients of one database at the same time, each with a connection or handle of its own on a
//! thread of its own. They are made before a run and start it together.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};
use std::thread::{Builder, JoinHandle};

use embermark_contract::{ClientOpener, EngineError, Result};
use embermark_meter::{ArrivalSchedule, Meter};
use embermark_model::fingerprint::Checksum;

use super::cell::Load;
use super::phase::Phase;
use super::port::SensorLog;
use super::query_results::QueryResults;
use super::share::{Done, Share};
use super::variant::Variant;
use crate::Strategy;

/// The clients of a database, at work or waiting for it.
pub(super) struct Clients {
    clients: Vec<Client>,
}

struct Client {
    orders: Sender<Order>,
    reports: Receiver<Report>,
    thread: Option<JoinHandle<Result<()>>>,
}

enum Order {
    Ready(Phase, Variant),
    Run(Phase, Strategy, Box<Meter>),
}

/// What a client has to say when it has carried an order out.
struct Report {
    done: Result<()>,
    meter: Option<Box<Meter>>,
    changed: u64,
    checksum: Checksum,
}

impl Clients {
    /// Lets one client in for each share.
    ///
    /// # Errors
    /// When the engine has one client at a time, or refuses.
    pub(super) fn begin(log: &mut dyn SensorLog, shares: &[Arc<Share>]) -> Result<Self> {
        let start = Arc::new(Barrier::new(shares.len()));
        let mut all = Self { clients: Vec::with_capacity(shares.len()) };
        for share in shares {
            let (opener, share, start) =
                (log.lifecycle().open_client()?, Arc::clone(share), Arc::clone(&start));
            let (orders, taken) = channel();
            let (reported, reports) = channel();
            let work = move || serve(opener, &share, &start, &taken, &reported);
            let thread = Builder::new().name("client".to_owned()).spawn(work);
            let thread =
                thread.map_err(|e| EngineError::failed("a client", "start a thread", e))?;
            all.clients.push(Client { orders, reports, thread: Some(thread) });
        }
        // Each says that it is in.
        all.reports().map(|_| all)
    }

    /// Has every client prepare for a step.
    ///
    /// # Errors
    /// The first client's that has one.
    pub(super) fn ready(&mut self, step: Phase, of: Variant) -> Result<()> {
        self.order(|_| Order::Ready(step, of))?;
        self.reports().map(drop)
    }

    /// Runs a step, started by all at the same time, and puts together what they found and measured;
    /// what was done of the sequence.
    ///
    /// # Errors
    /// The first client's that has one.
    pub(super) fn run(
        &mut self,
        step: Phase,
        by: Strategy,
        load: Load,
        meter: &mut Meter,
        found: &mut QueryResults,
    ) -> Result<Done> {
        let pace = |client| {
            let number = load.first + client;
            load.target_rate.map(|rate| ArrivalSchedule::of(rate as f64, load.clients, number))
        };
        self.order(|client| Order::Run(step, by, Box::new(meter.for_client(pace(client)))))?;
        let mut meters = Vec::with_capacity(self.clients.len());
        (found.changed, found.checksum) = (0, Checksum::default());
        for report in self.reports()? {
            found.changed += report.changed;
            found.checksum += report.checksum;
            meters.extend(report.meter.map(|meter| *meter));
        }
        meter.gather(&meters);
        Ok(Done::by_clients(meters.iter().map(|meter| meter.measured().ops)))
    }

    /// Closes every client.
    ///
    /// # Errors
    /// The first client's that has one.
    pub(super) fn end(mut self) -> Result<()> {
        self.clients.drain(..).map(Client::end).fold(Ok(()), Result::and)
    }

    fn order(&mut self, order: impl Fn(u32) -> Order) -> Result<()> {
        let lost = self.clients.iter().zip(0..).any(|(client, number)| {
            // One that is gone takes none.
            client.orders.send(order(number)).is_err()
        });
        if lost { Err(self.lost()) } else { Ok(()) }
    }

    /// Waits for every client, also after the first error.
    fn reports(&mut self) -> Result<Vec<Report>> {
        let reports: Vec<_> =
            self.clients.iter().map(|client| client.reports.recv().ok()).collect();
        let mut all = Vec::with_capacity(reports.len());
        for report in reports {
            let mut report = report.ok_or_else(|| self.lost())?;
            std::mem::replace(&mut report.done, Ok(()))?;
            all.push(report);
        }
        Ok(all)
    }

    /// Why a client went away: its error, or that it panicked, of which standard error tells.
    fn lost(&mut self) -> EngineError {
        let gone = self.clients.drain(..).map(Client::end).fold(Ok(()), Result::and);
        let panicked = || EngineError::failed("a client", "go on", "its thread ended");
        gone.err().unwrap_or_else(panicked)
    }
}

impl Client {
    fn end(self) -> Result<()> {
        let Self { orders, thread, .. } = self;
        drop(orders);
        let panicked = |_| EngineError::failed("a client", "go on", "its thread panicked");
        thread.map_or(Ok(()), |thread| thread.join().map_err(panicked)?)
    }
}

impl Drop for Clients {
    fn drop(&mut self) {
        // The error that led here is the one to tell.
        self.clients.drain(..).for_each(|client| drop(client.end()));
    }
}

/// A client's thread: takes orders until there are no more.
fn serve(
    opener: ClientOpener,
    share: &Share,
    start: &Barrier,
    orders: &Receiver<Order>,
    reports: &Sender<Report>,
) -> Result<()> {
    let mut log = match opener.open().and_then(super::family::attach) {
        Ok(log) => {
            // Nobody listens any more where this fails, here and below: then there are no orders.
            let _ = reports.send(Report::of(Ok(())));
            log
        }
        Err(error) => {
            let _ = reports.send(Report::of(Err(error)));
            return Ok(());
        }
    };
    while let Ok(order) = orders.recv() {
        let report = match order {
            Order::Ready(step, of) => Report::of(log.ready(step, of)),
            Order::Run(step, by, mut meter) => {
                start.wait();
                run(&mut *log, step, by, share, &mut meter).with(meter)
            }
        };
        let _ = reports.send(report);
    }
    log.close()
}

fn run(
    log: &mut dyn SensorLog,
    step: Phase,
    by: Strategy,
    share: &Share,
    meter: &mut Meter,
) -> Report {
    let mut report = Report::of(Ok(()));
    meter.start();
    report.done = match step {
        Phase::Load => log.load(&share.rows, by, meter).map(|n| report.changed = n),
        Phase::Read => log.read(&share.reads, meter).map(|sum| report.checksum = sum),
        Phase::Update => log.update(&share.changes, by, meter).map(|n| report.changed = n),
        Phase::Delete => log.delete(&share.deletes, by, meter).map(|n| report.changed = n),
        other => {
            let what = format!("several clients in {}", other.name());
            Err(EngineError::unsupported("this workload", what))
        }
    };
    meter.stop();
    report
}

impl Report {
    fn of(done: Result<()>) -> Self {
        Self { done, meter: None, changed: 0, checksum: Checksum::default() }
    }

    fn with(self, meter: Box<Meter>) -> Self {
        Self { meter: Some(meter), ..self }
    }
}
