//! The thread that has the mirror open. It opens clients, refreshes the mirror in the background,
//! and closes it.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, OnceLock, Weak};
use std::thread;
use std::time::Duration;

use embermark_contract::sql::SqlStore;
use embermark_contract::{ClientOpener, EngineError, Result, Store};

use crate::catalog::Stamp;
use crate::client::Hybrid;
use crate::mirror_handle::{MirrorHandle, Task, sql_store};
use crate::shared::Shared;
use crate::state::{State, StoredState};
use crate::{NAME, mirror};

/// Arguments of the thread. The shared state is set after the thread has started.
struct Start {
    tasks: Receiver<Task>,
    shared: Arc<OnceLock<Weak<Shared>>>,
}

/// Starts the thread.
///
/// # Errors
/// If the system cannot start a thread.
pub(crate) fn start(shared: &Arc<OnceLock<Weak<Shared>>>) -> Result<MirrorHandle> {
    let (sender, tasks) = mpsc::channel();
    let start = Start { tasks, shared: Arc::clone(shared) };
    let thread = thread::Builder::new().name("hybrid".into()).spawn(move || run(start));
    let thread = thread.map_err(|e| EngineError::failed(NAME, "start a thread", e))?;
    Ok(MirrorHandle::new(sender, thread))
}

/// State of the thread.
struct MirrorWorker {
    shared: Arc<Shared>,
    mirror: Option<Box<dyn SqlStore>>,
    /// Client for the background refresh.
    client: Option<Hybrid>,
}

fn run(Start { tasks, shared }: Start) {
    let mut worker: Option<MirrorWorker> = None;
    loop {
        let every = worker.as_ref().and_then(MirrorWorker::refresh_interval);
        let task = match every {
            Some(every) => tasks.recv_timeout(every),
            None => tasks.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        let task = match task {
            Ok(Task::End) | Err(RecvTimeoutError::Disconnected) => return,
            Ok(task) => Some(task),
            Err(RecvTimeoutError::Timeout) => None,
        };
        if worker.is_none() {
            let shared = shared.get().and_then(Weak::upgrade);
            worker = shared.map(|shared| MirrorWorker { shared, mirror: None, client: None });
        }
        match (&mut worker, task) {
            (Some(worker), Some(task)) => worker.perform(task),
            (Some(worker), None) => worker.refresh(),
            (None, _) => return,
        }
    }
}

impl MirrorWorker {
    /// Returns how long the thread waits for a task before it refreshes. `None`: no background
    /// refresh.
    fn refresh_interval(&self) -> Option<Duration> {
        self.shared.options.refresh_every.filter(|_| self.client.is_some())
    }

    /// Refreshes in the background. A failure here occurs again, and is reported, at the next
    /// query.
    fn refresh(&mut self) {
        let Self { shared, mirror, client } = self;
        let (Some(client), Some(mirror)) = (client, mirror) else { return };
        let open_client = || sql_store(mirror.open_client()?.open()?);
        if let Err(error) = client.catch_up_in_background(open_client) {
            shared.report(&format!("a refresh in the background failed: {error}"));
            self.client = None;
        }
    }

    fn perform(&mut self, task: Task) {
        // If an answer cannot be sent, nothing waits for it any more.
        match task {
            Task::Open { generation, stamp, reply } => {
                let _ = reply.send(self.open(generation, stamp));
            }
            Task::OpenClient { reply } => {
                let _ = reply.send(self.open_client());
            }
            Task::Close { signed, reply } => {
                let _ = reply.send(self.close(signed));
            }
            Task::SetFront { opener, reply } => {
                let _ = reply.send(self.set_front(opener));
            }
            Task::End => {}
        }
    }

    fn open(
        &mut self,
        generation: u64,
        stamp: Option<Stamp>,
    ) -> Result<(u64, Option<StoredState>)> {
        let shared = Arc::clone(&self.shared);
        let options = &shared.options;
        self.mirror = None;
        if let Some(client) = &mut self.client {
            client.connection = None;
        }
        let newest = mirror::latest_generation(options).max(generation);
        if let Some(stamp) = stamp {
            let opened = mirror::open(options, newest).and_then(|mut sql| {
                let stored = mirror::take_stored_state(&mut *sql, &shared, stamp)?;
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
        let mirror = self.mirror.as_mut();
        let mirror = mirror
            .ok_or_else(|| EngineError::failed(NAME, "open a client", "its mirror is closed"))?;
        mirror.open_client()
    }

    fn close(&mut self, signed: Option<(Stamp, State)>) -> Result<()> {
        self.client = None;
        let Some(mut sql) = self.mirror.take() else { return Ok(()) };
        if let Some((stamp, state)) = signed {
            mirror::store_state(&mut *sql, &self.shared, &state, stamp)?;
        }
        sql.close()
    }

    fn set_front(&mut self, opener: Option<ClientOpener>) -> Result<()> {
        self.client = None;
        if let Some(opener) = opener
            && let Store::Kv(front) = opener.open()?
        {
            self.client = Some(Hybrid::new_client(front, Arc::clone(&self.shared))?);
        }
        Ok(())
    }
}
