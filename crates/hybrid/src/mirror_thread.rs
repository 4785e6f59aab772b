//! The thread that has the mirror open. It lets clients in, refreshes in the background, and closes
//! it.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, OnceLock, Weak};
use std::thread;
use std::time::Duration;

use embermark_contract::sql::SqlStore;
use embermark_contract::{ClientOpener, EngineError, Result, Store};

use crate::books::Stamp;
use crate::client::Hybrid;
use crate::keeper::{Keeper, Task, sql};
use crate::shared::Shared;
use crate::state::{Fit, State};
use crate::{NAME, mirror};

/// What the thread starts with: it waits for the shared state.
struct Start {
    tasks: Receiver<Task>,
    shared: Arc<OnceLock<Weak<Shared>>>,
}

/// Starts the thread.
///
/// # Errors
/// If the system cannot start a thread.
pub(crate) fn start(shared: &Arc<OnceLock<Weak<Shared>>>) -> Result<Keeper> {
    let (sender, tasks) = mpsc::channel();
    let start = Start { tasks, shared: Arc::clone(shared) };
    let thread = thread::Builder::new().name("hybrid".into()).spawn(move || keep(start));
    let thread = thread.map_err(|e| EngineError::failed(NAME, "start a thread", e))?;
    Ok(Keeper::of(sender, thread))
}

/// State of the thread.
struct Kept {
    shared: Arc<Shared>,
    mirror: Option<Box<dyn SqlStore>>,
    /// Its own client, for the background.
    client: Option<Hybrid>,
}

fn keep(Start { tasks, shared }: Start) {
    let mut kept: Option<Kept> = None;
    loop {
        let every = kept.as_ref().and_then(Kept::waits);
        let task = match every {
            Some(every) => tasks.recv_timeout(every),
            None => tasks.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        let task = match task {
            Ok(Task::End) | Err(RecvTimeoutError::Disconnected) => return,
            Ok(task) => Some(task),
            Err(RecvTimeoutError::Timeout) => None,
        };
        if kept.is_none() {
            let shared = shared.get().and_then(Weak::upgrade);
            kept = shared.map(|shared| Kept { shared, mirror: None, client: None });
        }
        match (&mut kept, task) {
            (Some(kept), Some(task)) => kept.perform(task),
            (Some(kept), None) => kept.refresh(),
            (None, _) => return,
        }
    }
}

impl Kept {
    /// Returns how long it waits for a task before it refreshes.
    fn waits(&self) -> Option<Duration> {
        self.shared.options.refresh_every.filter(|_| self.client.is_some())
    }

    /// Refreshes in the background. A failure here occurs again, and is reported, at the next
    /// query.
    fn refresh(&mut self) {
        let Self { shared, mirror, client } = self;
        let (Some(client), Some(mirror)) = (client, mirror) else { return };
        let let_in = || sql(mirror.open_client()?.open()?);
        if let Err(error) = client.catch_up_behind(let_in) {
            shared.tell(&format!("a refresh in the background failed: {error}"));
            self.client = None;
        }
    }

    fn perform(&mut self, task: Task) {
        // If an answer cannot be sent, nothing waits for it any more.
        match task {
            Task::Open { generation, stamp, reply } => {
                let _ = reply.send(self.open(generation, stamp));
            }
            Task::LetIn { reply } => {
                let _ = reply.send(self.let_in());
            }
            Task::Close { signed, reply } => {
                let _ = reply.send(self.close(signed));
            }
            Task::Front { opener, reply } => {
                let _ = reply.send(self.front(opener));
            }
            Task::End => {}
        }
    }

    fn open(&mut self, generation: u64, stamp: Option<Stamp>) -> Result<(u64, Option<Fit>)> {
        let shared = Arc::clone(&self.shared);
        let options = &shared.options;
        self.mirror = None;
        if let Some(client) = &mut self.client {
            client.connection = None;
        }
        let newest = mirror::newest(options).max(generation);
        if let Some(stamp) = stamp {
            let opened = mirror::open(options, newest).and_then(|mut sql| {
                Ok(mirror::fits(&mut *sql, &shared, stamp)?.map(|fit| (sql, fit)))
            });
            match opened {
                Ok(Some((sql, fit))) => {
                    self.mirror = Some(sql);
                    return Ok((newest, Some(fit)));
                }
                Ok(None) => shared.tell("the mirror is not of the front's state: it is made anew"),
                Err(error) => {
                    shared.tell(&format!("the mirror does not open and is made anew: {error}"));
                }
            }
        } else if newest > 0 {
            shared.tell("the mirror was not closed: it is made anew");
        }
        mirror::remove_all(options)?;
        self.mirror = Some(mirror::open(options, newest + 1)?);
        Ok((newest + 1, None))
    }

    fn let_in(&mut self) -> Result<ClientOpener> {
        let mirror = self.mirror.as_mut();
        let mirror = mirror
            .ok_or_else(|| EngineError::failed(NAME, "let a client in", "its mirror is closed"))?;
        mirror.open_client()
    }

    fn close(&mut self, signed: Option<(Stamp, State)>) -> Result<()> {
        self.client = None;
        let Some(mut sql) = self.mirror.take() else { return Ok(()) };
        if let Some((stamp, state)) = signed {
            mirror::sign(&mut *sql, &self.shared, &state, stamp)?;
        }
        sql.close()
    }

    fn front(&mut self, opener: Option<ClientOpener>) -> Result<()> {
        self.client = None;
        if let Some(opener) = opener
            && let Store::Kv(front) = opener.open()?
        {
            self.client = Some(Hybrid::join(front, Arc::clone(&self.shared))?);
        }
        Ok(())
    }
}
