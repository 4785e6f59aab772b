//! Threads of clients that work at the same time, each with its own connection or handle.
//! They connect before a run, start it together, and are closed after it.

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use embermark_contract::{ClientOpener, EngineError, Lifecycle, Result};
use embermark_language::Work;
use embermark_meter::Meter;

use super::client_task::{ClientResult, ClientTask, ClientTaskPart};
use super::{Arena, Cell, family};

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
        reports.into_iter().filter_map(Result::transpose).collect()
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
    let (report, ready) = match ready {
        Ok(database) => (Ok(None), Some(database)),
        Err(error) => (Err(error), None),
    };
    let _ = reports.send(report);
    let Some(mut database) = ready else { return };
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
mod tests;
