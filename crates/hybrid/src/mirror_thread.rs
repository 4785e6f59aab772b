//! The thread that has the mirror open. It opens clients, refreshes the mirror in the background,
//! and closes it.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use embermark_contract::sql::SqlStore;
use embermark_contract::{ClientOpener, EngineError, Result};

use crate::catalog::Stamp;
use crate::client::Hybrid;
use crate::shared::{HighestKeys, Shared, State};
use crate::{NAME, mirror};

/// Operation in errors.
const OPEN: &str = "open its mirror";

/// Work that the thread does with the mirror.
type Task = Box<dyn FnOnce(&mut MirrorWorker) + Send>;

/// The thread, and the sender of its tasks. `None` once it was ended.
pub(crate) struct MirrorThread(Mutex<Option<(Sender<Task>, JoinHandle<()>)>>);

impl MirrorThread {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system cannot start a thread.
    pub fn start() -> Result<Self> {
        let (sender, tasks) = mpsc::channel();
        let thread = thread::Builder::new().name("hybrid".into()).spawn(move || run(&tasks));
        let thread = thread.map_err(|e| EngineError::failed(NAME, "start a thread", e))?;
        Ok(Self(Mutex::new(Some((sender, thread)))))
    }

    fn running(&self) -> MutexGuard<'_, Option<(Sender<Task>, JoinHandle<()>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the thread do `work` and returns its result.
    pub fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut MirrorWorker) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (reply, answer) = mpsc::channel();
        let ended = || EngineError::failed(NAME, "ask its mirror", "its thread has ended");
        let task: Task = Box::new(move |worker| {
            // If the answer cannot be sent, nothing waits for it any more.
            let _ = reply.send(work(worker));
        });
        let running = self.running();
        running.as_ref().ok_or_else(ended)?.0.send(task).map_err(|_| ended())?;
        drop(running);
        answer.recv().map_err(|_| ended())?
    }

    /// Makes a further client of the open mirror.
    pub fn open_client(&self) -> Result<Box<dyn SqlStore>> {
        self.ask(MirrorWorker::open_client)?.open()?.into_sql(NAME, OPEN)
    }

    /// Sets the client of the front that the background refresh uses. `None` stops the refresh.
    pub fn set_front(&self, shared: &Arc<Shared>, opener: Option<ClientOpener>) -> Result<()> {
        let shared = Arc::clone(shared);
        self.ask(move |worker| worker.set_front(shared, opener))
    }

    /// Ends the thread once it has done its tasks.
    pub fn end(&self) {
        let running = self.running().take();
        if let Some((tasks, thread)) = running {
            drop(tasks);
            // The thread has reported its own panic.
            let _ = thread.join();
        }
    }
}

/// State of the thread.
pub(crate) struct MirrorWorker {
    mirror: Option<Box<dyn SqlStore>>,
    /// Client for the background refresh.
    client: Option<Hybrid>,
}

/// Does tasks until none can come any more.
fn run(tasks: &Receiver<Task>) {
    let mut worker = MirrorWorker { mirror: None, client: None };
    loop {
        let client = worker.client.as_ref();
        let task = match client.and_then(|client| client.shared.options.refresh_every) {
            Some(every) => tasks.recv_timeout(every),
            None => tasks.recv().map_err(RecvTimeoutError::from),
        };
        match task {
            Ok(task) => task(&mut worker),
            Err(RecvTimeoutError::Timeout) => worker.refresh(),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

impl MirrorWorker {
    /// Refreshes in the background. A failure here occurs again, and is reported, at the next
    /// query.
    fn refresh(&mut self) {
        let (Some(client), Some(mirror)) = (&mut self.client, &mut self.mirror) else { return };
        let open_client = || mirror.open_client()?.open()?.into_sql(NAME, OPEN);
        if let Err(error) = client.catch_up_in_background(open_client) {
            client.shared.report(&format!("a refresh in the background failed: {error}"));
            self.client = None;
        }
    }

    /// Opens the latest mirror, of this generation or later, if it matches the stamp. If not, opens
    /// a new one. Returns its generation and, if it matches, what it has stored about itself.
    pub fn open(
        &mut self,
        shared: &Shared,
        generation: u64,
        stamp: Option<Stamp>,
    ) -> Result<(u64, Option<(u64, HighestKeys)>)> {
        let options = &shared.options;
        self.mirror = None;
        if let Some(client) = &mut self.client {
            client.connection = None;
        }
        let newest = mirror::latest_generation(options).max(generation);
        if let Some(stamp) = stamp {
            let opened = mirror::open(options, newest).and_then(|mut sql| {
                let stored = mirror::take_stored_state(&mut *sql, shared, stamp)?;
                Ok(stored.map(|stored| (sql, stored)))
            });
            match opened {
                Ok(Some((sql, stored))) => {
                    self.mirror = Some(sql);
                    return Ok((newest, Some(stored)));
                }
                Ok(None) => {
                    shared.report("the mirror does not match the front's state and is rebuilt")
                }
                Err(error) => {
                    shared.report(&format!("the mirror cannot be opened and is rebuilt: {error}"));
                }
            }
        } else if newest > 0 {
            shared.report("the mirror was not closed properly and is rebuilt");
        }
        mirror::remove_all(options)?;
        self.mirror = Some(mirror::open(options, newest + 1)?);
        Ok((newest + 1, None))
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        let closed = || EngineError::failed(NAME, "open a client", "its mirror is closed");
        self.mirror.as_mut().ok_or_else(closed)?.open_client()
    }

    /// Closes the mirror, with a stamp if it is worth keeping.
    pub fn close(&mut self, shared: &Shared, signed: Option<(Stamp, State)>) -> Result<()> {
        self.client = None;
        let Some(mut sql) = self.mirror.take() else { return Ok(()) };
        if let Some((stamp, state)) = signed {
            mirror::store_state(&mut *sql, shared, &state, stamp)?;
        }
        sql.close()
    }

    fn set_front(&mut self, shared: Arc<Shared>, opener: Option<ClientOpener>) -> Result<()> {
        self.client = None;
        if let Some(opener) = opener {
            let front = opener.open()?.into_kv(NAME, "open a client of its front")?;
            self.client = Some(Hybrid::new_client(front, shared)?);
        }
        Ok(())
    }
}
