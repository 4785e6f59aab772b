//! The clients of a worker, each with its own work.
//!
//! They continue together until each has reached a commit after which the database is maintained.
//! All but the first are then closed, as maintenance requires, and opened again after it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{io, thread};

use crate::ledger::{self, Ledger};
use crate::protocol::{Event, WorkerAction};
use crate::work::{BULK_COMMIT, Work};
use crate::worker_channel::{Result, SharedChannel, WorkerError};

/// One client.
struct Client {
    number: usize,
    work: Work,
    /// Number of commits left to do.
    left: u64,
}

/// What all clients share.
struct Clients<'a> {
    channel: &'a SharedChannel,
    /// Whether rows are loaded by the engine's bulk path.
    bulk: bool,
    /// Whether each waits for an answer to an acknowledgement.
    waits: bool,
    /// Held by the client that loads rows in bulk. An engine may load into an empty table in a way
    /// that excludes everyone else.
    bulk_load: Mutex<()>,
    /// Whether one client has failed.
    failed: AtomicBool,
}

/// Makes a client for each of these works do `count` commits. The first has the store that
/// maintains the database. With `waits`, each waits for an answer to an acknowledgement.
pub(crate) fn commit(
    works: Vec<Work>,
    count: u64,
    channel: &SharedChannel,
    waits: bool,
    ledger: &mut dyn Ledger,
) -> Result<()> {
    let bulk = works.len() == 1 || works.iter().all(|work| work.abilities().shared_loads);
    let of = |(number, work)| Client { number, work, left: count };
    let mut clients: Vec<Client> = works.into_iter().enumerate().map(of).collect();
    let (bulk_load, failed) = (Mutex::default(), AtomicBool::default());
    let shared = Clients { channel, bulk, waits, bulk_load, failed };
    while clients.iter().any(|client| client.left > 0) {
        if shared.run_until_due(ledger, &mut clients)? {
            ledger.lifecycle().maintain().map_err(WorkerError::at(WorkerAction::Commit))?;
        }
    }
    Ok(())
}

impl Clients<'_> {
    /// Makes each client do its commits until maintenance is due or none is left. Returns whether
    /// it is due.
    fn run_until_due(&self, ledger: &mut dyn Ledger, clients: &mut [Client]) -> Result<bool> {
        let Some((first, others)) = clients.split_first_mut() else { return Ok(false) };
        let abilities = first.work.abilities();
        let openers = others.iter().filter(|client| client.left > 0);
        let openers = openers.map(|_| ledger.lifecycle().open_client());
        let openers =
            openers.collect::<Result<Vec<_>, _>>().map_err(WorkerError::at(WorkerAction::Open))?;
        let others = others.iter_mut().filter(|client| client.left > 0);
        thread::scope(|scope| {
            let spawn = |(client, opener): (_, embermark_contract::ClientOpener)| {
                scope.spawn(move || {
                    self.unless_failed(|| {
                        let store = opener.open().map_err(WorkerError::at(WorkerAction::Open))?;
                        let ledger = ledger::open(store, abilities, true);
                        let mut ledger = ledger.map_err(WorkerError::at(WorkerAction::Open))?;
                        let due = self.commit_until_due(client, &mut *ledger)?;
                        ledger.close().map_err(WorkerError::at(WorkerAction::Close)).map(|()| due)
                    })
                })
            };
            let threads: Vec<_> = others.zip(openers).map(spawn).collect();
            let mut due = self.unless_failed(|| self.commit_until_due(first, ledger));
            for thread in threads {
                let panicked = |_| Err(io::Error::other("a client's thread panicked").into());
                match (&mut due, thread.join().unwrap_or_else(panicked)) {
                    (Ok(due), Ok(other)) => *due |= other,
                    (Ok(_), Err(stop)) => due = Err(stop),
                    (Err(_), _) => {}
                }
            }
            due
        })
    }

    /// Does something, and stops the other clients if it fails.
    fn unless_failed<T>(&self, something: impl FnOnce() -> Result<T>) -> Result<T> {
        something().inspect_err(|_| self.failed.store(true, Ordering::Relaxed))
    }

    /// Does a client's commits until maintenance is due. Returns whether it is.
    fn commit_until_due(&self, client: &mut Client, ledger: &mut dyn Ledger) -> Result<bool> {
        while client.left > 0 && !self.failed.load(Ordering::Relaxed) {
            client.left -= 1;
            let mut commit = client.work.commit();
            commit.bulk &= self.bulk;
            let lock = || self.bulk_load.lock().unwrap_or_else(PoisonError::into_inner);
            let guard = (commit.number == BULK_COMMIT).then(lock);
            ledger.commit(&commit).map_err(WorkerError::at(WorkerAction::Commit))?;
            drop(guard);
            let mut channel = self.channel.lock();
            channel.send(&Event::Committed { client: client.number, number: commit.number })?;
            if self.waits {
                channel.read_line()?;
            }
            drop(channel);
            if commit.maintained {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
