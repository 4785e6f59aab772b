//! Threads of clients that work at the same time, each with its own connection or handle.
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
use super::port::{Database, OperationResults, Shared};
use super::steady_state::SteadyStateMonitor;
use super::table_rows::Inserted;
use crate::strategy::Part;

/// The work of one client.
#[derive(Clone)]
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
    pub found: Vec<OperationResults>,
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
            // It ends at the run's own limit.
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
        let mut found = vec![OperationResults::default(); self.parts.len()];
        meters.iter_mut().for_each(Meter::start);
        let done = self.operations(database, cell, &mut meters, &mut found, used_up);
        meters.iter_mut().for_each(Meter::stop);
        // What was written is read afterwards.
        database.flush()?;
        match done {
            Ok(()) | Err(Stop::UsedUp) => {
                Ok(ClientResult { task: Arc::clone(self), meters, found })
            }
            Err(Stop::Engine(error)) => Err(error),
        }
    }

    fn operations(
        &self,
        database: &mut dyn Database,
        cell: &Cell,
        meters: &mut [Meter],
        found: &mut [OperationResults],
        used_up: &AtomicBool,
    ) -> std::result::Result<(), Stop> {
        let mut counts = vec![0_u64; self.parts.len()];
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
            let round = self.rounds.as_ref().map_or(most, |(_, ops, _)| *ops);
            let mut from = 0;
            while from < most {
                let (to, before) = (from.saturating_add(round).min(most), meters[0].responded());
                let done = meters[0].part(from..to, |i| {
                    self.one(database, cell, phase, i, &mut found[0], used_up)
                })?;
                let after = meters[0].responded();
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
            return Ok(());
        }
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

    /// Does this client's `i`th operation of a phase, with its own commit. A mix ends for all its
    /// clients when one has used up the rows.
    #[inline]
    fn one(
        &self,
        database: &mut dyn Database,
        cell: &Cell,
        phase: usize,
        i: usize,
        found: &mut OperationResults,
        used_up: &AtomicBool,
    ) -> std::result::Result<(), Stop> {
        if !self.is_shared && used_up.load(Ordering::Relaxed) {
            return Err(Stop::UsedUp);
        }
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
            Work::Sql(_) => done.map_err(EngineError::into_query_error)?,
            _ => done?,
        }
        if let Some(inserted) = inserted {
            inserted.acknowledged();
        }
        Ok(())
    }
}

/// Checks that as many rows are held back as a mix by rates inserts in its time. One that ends when
/// it is steady can end before it has used them up.
fn check_rows(cell: &Cell, tasks: &[ClientTask]) -> Result<()> {
    let mut inserted = vec![0_u64; cell.tables.len()];
    let mut lasts = Duration::ZERO;
    for task in tasks.iter().filter(|task| !task.is_shared && task.rounds.is_none()) {
        if let [ClientTaskPart { phase, schedule: Some(_) }] = task.parts[..]
            && let Work::Insert { table, .. } = cell.work(phase)
        {
            inserted[*table] = inserted[*table].saturating_add(task.ops.unwrap_or_default());
            lasts = lasts.max(task.lasts.unwrap_or_default());
        }
    }
    for (rows, inserted) in cell.tables.iter().zip(inserted) {
        let held = (rows.staged.rows() - rows.loaded) as u64;
        if inserted <= held {
            continue;
        }
        let fits = lasts.as_millis() * u128::from(held) / u128::from(inserted);
        let shorter = match fits {
            0 => String::new(),
            1..1_000 => format!("for = \"{fits}ms\", "),
            _ => format!("for = \"{}s\", ", fits / 1_000),
        };
        // At most half of the rows are held back, and one more than is inserted.
        let twice = inserted.saturating_add(1).saturating_mul(2);
        let least = twice.max(inserted.saturating_add(rows.loaded as u64));
        return Err(EngineError::impossible(format!(
            "the mix inserts {inserted} rows of '{}', and {held} are held back for it: write \
             {shorter}a lower rate, or give the table {least} rows",
            rows.table.name
        )));
    }
    Ok(())
}

/// Threads of clients that wait for a run.
pub(super) struct ClientThreads {
    members: Vec<ClientThread>,
}

struct ClientThread {
    start: Sender<Vec<Meter>>,
    reports: Receiver<Result<Option<ClientResult>>>,
    thread: Option<JoinHandle<()>>,
    task: Arc<ClientTask>,
}

impl ClientThreads {
    /// Connects one client for each task and lets it prepare its phases.
    ///
    /// # Errors
    /// Fails when the engine has only one client at a time, or refuses. Impossible for a mix that
    /// inserts more rows than there are.
    pub(super) fn connect(
        lifecycle: &mut dyn Lifecycle,
        cell: &Arc<Cell>,
        arena: &Arc<Arena>,
        tasks: Vec<ClientTask>,
    ) -> Result<Self> {
        check_rows(cell, &tasks)?;
        let together = Arc::new((Barrier::new(tasks.len()), AtomicBool::new(false)));
        let mut threads = Self { members: Vec::with_capacity(tasks.len()) };
        for task in tasks {
            let (opener, cell, task) = (lifecycle.open_client()?, Arc::clone(cell), Arc::new(task));
            let together = Arc::clone(&together);
            let ((start, started), (reported, reports)) = (channel(), channel());
            let (own, arena) = (Arc::clone(&task), Arc::clone(arena));
            let work = move || serve(opener, &cell, arena, &own, &together, &started, &reported);
            let thread = Builder::new().name("client".to_owned()).spawn(work);
            let thread =
                thread.map_err(|e| EngineError::failed("a client", "start a thread", e))?;
            threads.members.push(ClientThread { start, reports, thread: Some(thread), task });
        }
        // Each reports that it is connected.
        threads.reports()?;
        Ok(threads)
    }

    /// Lets all clients work at the same time, and closes them.
    ///
    /// # Errors
    /// Returns the error of the first client that has one.
    pub(super) fn run(mut self, meter: &Meter) -> Result<Vec<ClientResult>> {
        for member in &self.members {
            // A client that is gone reports why below.
            let _ = member.start.send(member.task.meters(meter));
        }
        self.reports()
    }

    /// Waits for every client, even after the first error.
    fn reports(&mut self) -> Result<Vec<ClientResult>> {
        let lost = |member: &mut ClientThread| {
            let panicked = member.thread.take().is_some_and(|thread| thread.join().is_err());
            let why = if panicked { "its thread panicked" } else { "its thread ended" };
            Err(EngineError::failed("a client", "continue", why))
        };
        let reports = self.members.iter_mut();
        let reports = reports.map(|member| member.reports.recv().unwrap_or_else(|_| lost(member)));
        let reports: Vec<Result<Option<ClientResult>>> = reports.collect();
        let done: Result<Vec<Option<ClientResult>>> = reports.into_iter().collect();
        Ok(done?.into_iter().flatten().collect())
    }
}

impl Drop for ClientThreads {
    fn drop(&mut self) {
        for ClientThread { start, thread, .. } in self.members.drain(..) {
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
    task: &Arc<ClientTask>,
    together: &(Barrier, AtomicBool),
    start: &Receiver<Vec<Meter>>,
    reports: &Sender<Result<Option<ClientResult>>>,
) {
    let (barrier, used_up) = together;
    let opened = opener.open().and_then(|store| family::attach(store, Arc::clone(cell)));
    let ready = opened.and_then(|mut database| {
        database.take(arena);
        task.parts
            .iter()
            .try_for_each(|part| database.ready(part.phase, part.phase))
            .map(|()| database)
    });
    // If a report cannot be sent, the run is over and no start signal comes.
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
    let done = task.perform(&mut *database, cell, meters, used_up);
    let closed = database.close();
    let _ = reports.send(done.and_then(|done| closed.map(|()| Some(done))));
}

#[cfg(test)]
mod tests {
    use embermark_contract::Reopener;
    use embermark_engines::{OpenOptions, registry};
    use embermark_model::{Durability, Scale};

    use super::super::keep::tests::cell;
    use super::*;

    /// As many rows as possible are held back: half of them.
    const FILE: &str = r#"
[table.t]
file = "t.csv"
key = ["id"]
[table.t.columns]
id = "u32"
[phase.write]
do = "insert"
[phase.read]
do = "get"
[phase.live]
mix = { write = "1000/s", read = "1000/s" }
"#;

    /// Indexes of the phases.
    const WRITE: usize = 0;
    const READ: usize = 1;

    /// Returns a cell of forty rows and a database with the first twenty.
    fn opened() -> (Arc<Cell>, Box<dyn Database>) {
        let dir = tempfile::tempdir().unwrap();
        let rows: Vec<String> = (0..40).map(|row| row.to_string()).collect();
        std::fs::write(dir.path().join("t.csv"), format!("id\n{}\n", rows.join("\n"))).unwrap();
        let cell = Arc::new(cell(FILE, Scale::Full, dir.path()).unwrap());
        assert_eq!((cell.tables[0].loaded, cell.tables[0].staged.rows()), (20, 40));
        let options = OpenOptions::new(dir.path().join("db"), Durability::None, 64 << 20);
        let store = registry::find("memory").unwrap().open(&options).unwrap().store;
        let never = Reopener::new(|_, _| panic!("nobody opens it again"));
        let mut database = family::open(store, never, Arc::clone(&cell)).unwrap();
        database.clear(0).unwrap();
        database.bulk(0, 20, None, &mut Meter::new(None)).unwrap();
        [WRITE, READ].into_iter().for_each(|phase| database.ready(phase, phase).unwrap());
        cell.begin();
        (cell, database)
    }

    /// Returns the task of a client that does operations of a phase in 30 s, as fast as it can.
    fn paced(phase: usize, ops: u64) -> ClientTask {
        let schedule = Some(ArrivalSchedule::new(1e6, 1, 0));
        ClientTask {
            parts: vec![ClientTaskPart { phase, schedule }],
            order: Arc::from([]),
            ops: Some(ops),
            lasts: Some(Duration::from_secs(30)),
            rounds: None,
            client: 0,
            clients: 1,
            is_shared: false,
        }
    }

    /// The same without a schedule, as in a mix by shares.
    fn unpaced(phase: usize, ops: u64) -> ClientTask {
        let parts = vec![ClientTaskPart { phase, schedule: None }];
        ClientTask { parts, order: Arc::from([0]), ..paced(phase, ops) }
    }

    #[test]
    fn rows_that_are_used_up_end_a_mix_with_the_operations_that_were_done() {
        for task_of in [paced, unpaced] {
            let (cell, mut database) = opened();
            let used_up = AtomicBool::new(false);
            let mut done = |task: ClientTask| {
                let (task, meter) = (Arc::new(task), Meter::new(None));
                let meters = task.meters(&meter);
                let done = task.perform(&mut *database, &cell, meters, &used_up).unwrap();
                (done.meters[0].measured().ops, used_up.load(Ordering::Relaxed))
            };
            assert_eq!(done(task_of(READ, 50)), (50, false));
            assert_eq!(done(task_of(WRITE, 50)), (20, true), "as many as were held back");
            assert_eq!(done(task_of(READ, 50)), (0, true), "the other clients end too");
            let shared = ClientTask { is_shared: true, ..task_of(READ, 50) };
            assert_eq!(done(shared), (50, true), "it is no mix");
        }
    }

    #[test]
    fn a_mix_by_rates_with_too_few_rows_is_refused_before_it_connects() {
        let (cell, mut database) = opened();
        let reads = || paced(READ, 100);
        assert!(check_rows(&cell, &[paced(WRITE, 20), reads()]).is_ok());
        assert!(check_rows(&cell, &[unpaced(WRITE, 21), reads()]).is_ok(), "it ends when it must");
        let shared = ClientTask { is_shared: true, ..paced(WRITE, 21) };
        assert!(check_rows(&cell, &[shared]).is_ok());
        // Both insert rows of one table.
        let tasks = vec![paced(WRITE, 50), paced(WRITE, 10), reads()];
        let arena = Arc::new(Arena::default());
        let refused = ClientThreads::connect(database.lifecycle(), &cell, &arena, tasks);
        let refused = refused.err().unwrap();
        assert!(refused.is_unsupported(), "{refused}");
        let says = "the mix inserts 60 rows of 't', and 20 are held back for it: write \
                    for = \"10s\", a lower rate, or give the table 122 rows";
        assert_eq!(refused.to_string(), says);
    }
}
