//! Clients that work at the same time, each with its own connection or handle, on its own thread.
//! They connect before a run, start it together, and are closed after it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use embermark_contract::{ClientOpener, EngineError, Lifecycle, Result, Scope};
use embermark_language::Work;
use embermark_meter::{ArrivalSchedule, Meter};

use super::arena::Arena;
use super::cell::Cell;
use super::family;
use super::kind::{is_question, is_read_in_one_snapshot};
use super::port::{Database, Found, Shared};
use super::table_rows::Inserted;
use super::until_steady::Board;
use crate::strategy::Part;

/// The work of one client.
#[derive(Clone)]
pub(super) struct Duty {
    /// Its phases of the file.
    pub parts: Vec<DutyPart>,
    /// Part of each operation, repeated at its end. Empty: every operation is of the first part.
    pub order: Arc<[u8]>,
    /// Number of operations. `None`: until the time is over.
    pub ops: Option<u64>,
    /// Duration. `None`: until the operations are done, or the run's own limit.
    pub lasts: Option<Duration>,
    /// In a mix that ends when it is steady: its index on the board, operations of a round, and the
    /// board.
    pub rounds: Option<(usize, u64, Arc<Board>)>,
    /// Of each part's operations this client does every `clients`-th, from this number on.
    pub client: usize,
    /// See `client`.
    pub clients: usize,
    /// Whether clients share the operations of one phase, and not of a mix. Then an insert is of
    /// the loaded rows, and each client inserts its own.
    pub is_shared: bool,
}

/// A phase of which a client does operations.
#[derive(Clone, Copy)]
pub(super) struct DutyPart {
    pub phase: usize,
    /// Start times of its operations. `None`: one after the other.
    pub schedule: Option<ArrivalSchedule>,
}

/// What a client has done.
pub(super) struct Done {
    pub duty: Arc<Duty>,
    /// By part.
    pub meters: Vec<Meter>,
    /// By part.
    pub found: Vec<Found>,
}

/// Why a client stops early.
enum Stop {
    Engine(EngineError),
    /// No rows are left to insert.
    UsedUp,
}

impl From<EngineError> for Stop {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl Duty {
    /// Returns meters for its parts.
    pub(super) fn meters(&self, meter: &Meter) -> Vec<Meter> {
        let part = |part: &DutyPart| match self.lasts {
            Some(lasts) => meter.for_part(part.schedule, Some(lasts)),
            // It ends at the run's own limit.
            None => meter.for_client(part.schedule),
        };
        self.parts.iter().map(part).collect()
    }

    /// Does the work on a database. `all` tells whether any client has used up the rows.
    pub(super) fn perform(
        self: &Arc<Self>,
        database: &mut dyn Database,
        cell: &Cell,
        mut meters: Vec<Meter>,
        used_up: &AtomicBool,
    ) -> Result<Done> {
        let mut found = vec![Found::default(); self.parts.len()];
        meters.iter_mut().for_each(Meter::start);
        let done = self.operations(database, cell, &mut meters, &mut found, used_up);
        meters.iter_mut().for_each(Meter::stop);
        // What was written is read afterwards.
        database.flush()?;
        match done {
            Ok(()) | Err(Stop::UsedUp) => Ok(Done { duty: Arc::clone(self), meters, found }),
            Err(Stop::Engine(error)) => Err(error),
        }
    }

    fn operations(
        &self,
        database: &mut dyn Database,
        cell: &Cell,
        meters: &mut [Meter],
        found: &mut [Found],
        used_up: &AtomicBool,
    ) -> std::result::Result<(), Stop> {
        let mut counts = vec![0_u64; self.parts.len()];
        let most = self.ops.unwrap_or(u64::MAX);
        if let [DutyPart { phase, .. }] = self.parts[..]
            && self.order.is_empty()
            && self.rounds.is_none()
            && is_read_in_one_snapshot(cell.work(phase))
        {
            let (Self { client, clients, .. }, mut part) = (self, Some(&mut meters[0]));
            return Ok(database.within(phase, Scope::Snapshot, &mut |session| {
                let Some(meter) = part.take() else { return Ok(()) };
                let part = Part::new(meter, 0..most);
                let part = Shared { part, client: *client, clients: *clients };
                session.each(phase, part, &mut found[0]).map(drop)
            })?);
        }
        if let [DutyPart { phase, schedule: Some(_) }] = self.parts[..] {
            let round = self.rounds.as_ref().map_or(most, |(_, ops, _)| *ops);
            let mut from = 0;
            while from < most {
                let (to, before) = (from.saturating_add(round).min(most), meters[0].responded());
                let done = meters[0].part(from..to, |i| {
                    self.one(database, cell, phase, i, &mut found[0], used_up)
                })?;
                let after = meters[0].responded();
                let mean = (after.1 - before.1) / (after.0 - before.0).max(1) as f64;
                let all_steady =
                    |(place, _, board): &(usize, u64, Arc<Board>)| board.report(*place, mean);
                // A mix that others have ended stops after the round in progress.
                if done < to - from || self.rounds.as_ref().is_some_and(all_steady) {
                    break;
                }
                from = to;
            }
            return Ok(());
        }
        for n in 0..most {
            // Reading the clock costs as much as a read of a fast engine.
            if n % 16 == 0 && n > 0 && (meters[0].expired() || used_up.load(Ordering::Relaxed)) {
                break;
            }
            let part = match self.order.len() as u64 {
                0 => 0,
                length => usize::from(self.order[(n % length) as usize]),
            };
            let (count, phase) = (counts[part], self.parts[part].phase);
            counts[part] += 1;
            meters[part].part(count..count + 1, |i| {
                self.one(database, cell, phase, i, &mut found[part], used_up)
            })?;
        }
        Ok(())
    }

    /// Does this client's `i`th operation of a phase, with its own commit.
    #[inline]
    fn one(
        &self,
        database: &mut dyn Database,
        cell: &Cell,
        phase: usize,
        i: usize,
        found: &mut Found,
        used_up: &AtomicBool,
    ) -> std::result::Result<(), Stop> {
        let mut i = self.client + i * self.clients;
        let work = cell.work(phase);
        let inserted = match work {
            Work::Insert { table, .. } if !self.is_shared => {
                let Some(inserted) = Inserted::next(&cell.tables[*table]) else {
                    used_up.store(true, Ordering::Relaxed);
                    return Err(Stop::UsedUp);
                };
                i = inserted.place;
                Some(inserted)
            }
            _ => None,
        };
        if is_question(work) {
            found.empty();
        }
        let scope = match work {
            Work::ReadModifyWrite { .. } => Scope::Batch,
            _ => Scope::PerOperation,
        };
        let done = database.within(phase, scope, &mut |session| session.perform(phase, i, found));
        match work {
            Work::Sql(_) => done.map_err(EngineError::of_query)?,
            _ => done?,
        }
        if let Some(inserted) = inserted {
            inserted.acknowledged();
        }
        Ok(())
    }
}

/// Clients that wait for a run.
pub(super) struct Crew {
    members: Vec<Member>,
}

struct Member {
    start: Sender<Vec<Meter>>,
    reports: Receiver<Result<Option<Done>>>,
    thread: Option<JoinHandle<()>>,
    duty: Arc<Duty>,
}

impl Crew {
    /// Connects one client for each duty and lets it prepare its phases.
    ///
    /// # Errors
    /// Fails when the engine has only one client at a time, or refuses.
    pub(super) fn begin(
        lifecycle: &mut dyn Lifecycle,
        cell: &Arc<Cell>,
        arena: &Arc<Arena>,
        duties: Vec<Duty>,
    ) -> Result<Self> {
        let together = Arc::new((Barrier::new(duties.len()), AtomicBool::new(false)));
        let mut crew = Self { members: Vec::with_capacity(duties.len()) };
        for duty in duties {
            let (opener, cell, duty) = (lifecycle.open_client()?, Arc::clone(cell), Arc::new(duty));
            let together = Arc::clone(&together);
            let ((start, started), (reported, reports)) = (channel(), channel());
            let (own, arena) = (Arc::clone(&duty), Arc::clone(arena));
            let work = move || serve(opener, &cell, arena, &own, &together, &started, &reported);
            let thread = Builder::new().name("client".to_owned()).spawn(work);
            let thread =
                thread.map_err(|e| EngineError::failed("a client", "start a thread", e))?;
            crew.members.push(Member { start, reports, thread: Some(thread), duty });
        }
        // Each reports that it is connected.
        crew.reports()?;
        Ok(crew)
    }

    /// Lets all clients work at the same time, and closes them.
    ///
    /// # Errors
    /// Returns the error of the first client that has one.
    pub(super) fn run(mut self, meter: &Meter) -> Result<Vec<Done>> {
        for member in &self.members {
            // A client that is gone reports why below.
            let _ = member.start.send(member.duty.meters(meter));
        }
        self.reports()
    }

    /// Waits for every client, even after the first error.
    fn reports(&mut self) -> Result<Vec<Done>> {
        let lost = |member: &mut Member| {
            let panicked = member.thread.take().is_some_and(|thread| thread.join().is_err());
            let why = if panicked { "its thread panicked" } else { "its thread ended" };
            Err(EngineError::failed("a client", "go on", why))
        };
        let reports = self.members.iter_mut();
        let reports = reports.map(|member| member.reports.recv().unwrap_or_else(|_| lost(member)));
        let reports: Vec<Result<Option<Done>>> = reports.collect();
        let done: Result<Vec<Option<Done>>> = reports.into_iter().collect();
        Ok(done?.into_iter().flatten().collect())
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for Member { start, thread, .. } in self.members.drain(..) {
            drop(start);
            if let Some(thread) = thread {
                // A panic is reported on standard error, and by the missing report.
                let _ = thread.join();
            }
        }
    }
}

/// Runs a client's thread.
fn serve(
    opener: ClientOpener,
    cell: &Arc<Cell>,
    arena: Arc<Arena>,
    duty: &Arc<Duty>,
    together: &(Barrier, AtomicBool),
    start: &Receiver<Vec<Meter>>,
    reports: &Sender<Result<Option<Done>>>,
) {
    let (barrier, used_up) = together;
    let opened = opener.open().and_then(|store| family::attach(store, Arc::clone(cell)));
    let ready = opened.and_then(|mut database| {
        database.take(arena);
        duty.parts
            .iter()
            .try_for_each(|part| database.ready(part.phase, part.phase))
            .map(|()| database)
    });
    // If a report cannot be sent, nobody listens and no orders come.
    let mut database = match ready {
        Ok(database) => {
            let _ = reports.send(Ok(None));
            database
        }
        Err(error) => {
            let _ = reports.send(Err(error));
            return;
        }
    };
    let Ok(meters) = start.recv() else {
        let _ = database.close();
        return;
    };
    barrier.wait();
    let done = duty.perform(&mut *database, cell, meters, used_up);
    let closed = database.close();
    let _ = reports.send(done.and_then(|done| closed.map(|()| Some(done))));
}
