//! What one client does in a run: operations of one phase or of the parts of a mix.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use embermark_contract::{EngineError, Result, Scope, retry_if};
use embermark_language::Work;
use embermark_meter::{ArrivalSchedule, Meter};

use super::kind::{is_question, is_read_in_one_snapshot};
use super::steady_state::SteadyStateMonitor;
use super::{Cell, Database, Found, Shared};
use crate::strategy::Part;

/// The work of one client.
#[derive(Clone, Default)]
pub(super) struct ClientTask {
    /// The phases of the file that it does.
    pub parts: Vec<ClientTaskPart>,
    /// Part that each operation belongs to. The order repeats at its end. Empty: every operation is
    /// of the first part.
    pub order: Arc<[u8]>,
    /// Number of operations. `None`: until the time is over.
    pub ops: Option<u64>,
    /// Duration. `None`: until the operations are done, or the run's own limit.
    pub lasts: Option<Duration>,
    /// In a mix that ends when it is steady: its index in the monitor, operations per round, and the
    /// monitor.
    pub rounds: Option<(usize, u64, Arc<SteadyStateMonitor>)>,
    /// Number of the first operation of each part that this client does. It does every
    /// `clients`-th from there on.
    pub client: usize,
    /// See `client`.
    pub clients: usize,
    /// Whether clients share the operations of one phase, which is not a mix. Then inserts use the
    /// loaded rows, and each client inserts its share.
    pub is_shared: bool,
}

/// A phase that a client does operations of.
#[derive(Clone, Copy)]
pub(super) struct ClientTaskPart {
    pub phase: usize,
    /// Start times of its operations. `None`: each starts when the last one has ended.
    pub schedule: Option<ArrivalSchedule>,
}

/// Result of a client.
pub(super) struct ClientResult {
    pub task: Arc<ClientTask>,
    /// Meter of each part.
    pub meters: Vec<Meter>,
    /// Results of each part.
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

impl ClientTask {
    /// Returns meters for its parts.
    pub(super) fn meters(&self, meter: &Meter) -> Vec<Meter> {
        let part = |part: &ClientTaskPart| match self.lasts {
            Some(lasts) => meter.for_part(part.schedule, Some(lasts)),
            // It ends at the run's own limit. Each part of a mix has its own speed.
            None if self.parts.len() > 1 => meter.for_part(part.schedule, meter.cap()),
            None => meter.for_client(part.schedule),
        };
        self.parts.iter().map(part).collect()
    }

    /// Does the work on a database. `used_up` becomes true when any client has used up the rows.
    pub(super) fn perform(
        self: &Arc<Self>,
        database: &mut dyn Database,
        cell: &Cell,
        mut meters: Vec<Meter>,
        used_up: &AtomicBool,
    ) -> Result<ClientResult> {
        let mut found = vec![Found::default(); self.parts.len()];
        meters.iter_mut().for_each(Meter::start);
        let done = self.operations(database, cell, &mut meters, &mut found, used_up);
        meters.iter_mut().for_each(Meter::stop);
        // What was written is read afterwards.
        database.flush()?;
        if let Err(Stop::Engine(error)) = done {
            return Err(error);
        }
        Ok(ClientResult { task: Arc::clone(self), meters, found })
    }

    fn operations(
        &self,
        database: &mut dyn Database,
        cell: &Cell,
        meters: &mut [Meter],
        found: &mut [Found],
        used_up: &AtomicBool,
    ) -> std::result::Result<(), Stop> {
        let most = self.ops.unwrap_or(u64::MAX);
        // In a mix each read has its own snapshot.
        if let [ClientTaskPart { phase, .. }] = self.parts[..]
            && self.is_shared
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
        if let [ClientTaskPart { phase, schedule: Some(_) }] = self.parts[..] {
            let one = |i| self.one(database, cell, phase, i, &mut found[0], used_up);
            return self.paced(&mut meters[0], most, one);
        }
        let mut counts = vec![0_u64; self.parts.len()];
        for n in 0..most {
            // Reading the clock costs as much as a read of a fast engine.
            if n % 16 == 0 && n > 0 && meters[0].expired() {
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

    /// Does operations at their start times. A mix that ends when it is steady does them in rounds.
    fn paced(
        &self,
        meter: &mut Meter,
        most: u64,
        mut one: impl FnMut(usize) -> std::result::Result<(), Stop>,
    ) -> std::result::Result<(), Stop> {
        let round = self.rounds.as_ref().map_or(most, |(_, ops, _)| *ops);
        let mut from = 0;
        while from < most {
            let (to, before) = (from.saturating_add(round).min(most), meter.responded());
            let done = meter.part(from..to, &mut one)?;
            let after = meter.responded();
            let mean = (after.1 - before.1) / (after.0 - before.0).max(1) as f64;
            let all_steady = |(place, _, monitor): &(usize, u64, Arc<SteadyStateMonitor>)| {
                monitor.report(*place, mean)
            };
            // A mix that others have ended stops after the round in progress.
            if done < to - from || self.rounds.as_ref().is_some_and(all_steady) {
                break;
            }
            from = to;
        }
        Ok(())
    }

    /// Does this client's `i`th operation of a phase, with its own commit. A mix ends for all its
    /// clients when one has used up the rows.
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
        if !self.is_shared && used_up.load(Ordering::Relaxed) {
            return Err(Stop::UsedUp);
        }
        let mut i = self.client + i * self.clients;
        let work = cell.work(phase);
        let inserted = match work {
            Work::Insert { table, .. } if !self.is_shared => {
                let rows = &cell.tables[*table];
                i = rows.taken.fetch_add(1, Ordering::Relaxed);
                if i >= rows.staged.rows() {
                    used_up.store(true, Ordering::Relaxed);
                    return Err(Stop::UsedUp);
                }
                Some(rows)
            }
            _ => None,
        };
        if is_question(work) {
            found.empty();
        }
        let done = match work {
            // Reading and writing are one transaction, which another client can make impossible.
            Work::ReadModifyWrite { .. } => {
                let before = (found.rows, found.changed);
                retry_if(EngineError::is_conflict, || {
                    (found.rows, found.changed) = before;
                    database.within(phase, Scope::Batch, &mut |both| both.perform(phase, i, found))
                })
            }
            _ => database.within(phase, Scope::PerOperation, &mut |session| {
                session.perform(phase, i, found)
            }),
        };
        match work {
            Work::Sql(_) => done.map_err(EngineError::into_query_error)?,
            _ => done?,
        }
        if let Some(rows) = inserted {
            rows.there.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}
