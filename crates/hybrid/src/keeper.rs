//! The thread that has the mirror open. It lets clients in, refreshes in the background, and closes it.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use embermark_contract::sql::SqlStore;
use embermark_contract::{ClientOpener, EngineError, Result, Store};

use crate::NAME;
use crate::books::Stamp;
use crate::client::Hybrid;
use crate::mirror::{self, Fit};
use crate::shared::{Shared, State};

/// How the thread is spoken to.
pub(crate) struct Keeper {
    tasks: Mutex<Sender<Task>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What the thread starts with: it waits for the state it shares.
pub(crate) struct Start {
    tasks: Receiver<Task>,
    shared: Arc<OnceLock<Weak<Shared>>>,
}

enum Task {
    /// Open the mirror of a number and say whether it fits the stamp; if not, a new one.
    Open { generation: u64, stamp: Option<Stamp>, reply: Reply<(u64, Option<Fit>)> },
    /// Let a client in.
    LetIn { reply: Reply<ClientOpener> },
    /// Close the mirror, under a stamp if it is worth keeping.
    Close { signed: Option<(Stamp, State)>, reply: Reply<()> },
    /// Have a client of the front to refresh with, in the background; or give it up.
    Front { opener: Option<ClientOpener>, reply: Reply<()> },
    /// End.
    End,
}

type Reply<T> = Sender<Result<T>>;

impl Keeper {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system has no thread for it.
    pub(crate) fn start(shared: &Arc<OnceLock<Weak<Shared>>>) -> Result<Self> {
        let (sender, tasks) = mpsc::channel();
        let start = Start { tasks, shared: Arc::clone(shared) };
        let thread = thread::Builder::new().name("hybrid".into()).spawn(move || keep(start));
        let thread = thread.map_err(|e| EngineError::failed(NAME, "start a thread", e))?;
        Ok(Self { tasks: Mutex::new(sender), thread: Mutex::new(Some(thread)) })
    }

    fn ask<T>(&self, task: impl FnOnce(Reply<T>) -> Task) -> Result<T> {
        let (reply, answer) = mpsc::channel();
        let ended = |_| EngineError::failed(NAME, "ask its mirror", "its thread has ended");
        let tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.send(task(reply)).map_err(|e| ended(e.to_string()))?;
        drop(tasks);
        answer.recv().map_err(|e| ended(e.to_string()))?
    }

    /// Opens the mirror; of which number it is, and whether it fits the stamp.
    pub(crate) fn open(&self, generation: u64, stamp: Option<Stamp>) -> Result<(u64, Option<Fit>)> {
        self.ask(|reply| Task::Open { generation, stamp, reply })
    }

    /// A further client of the mirror that is open.
    pub(crate) fn let_in(&self) -> Result<Box<dyn SqlStore>> {
        sql(self.ask(|reply| Task::LetIn { reply })?.open()?)
    }

    /// Closes the mirror, signed if it is to be opened again as it is.
    pub(crate) fn close(&self, signed: Option<(Stamp, State)>) -> Result<()> {
        self.ask(|reply| Task::Close { signed, reply })
    }

    /// Gives the thread a client of the front, or takes it away.
    pub(crate) fn front(&self, opener: Option<ClientOpener>) -> Result<()> {
        self.ask(|reply| Task::Front { opener, reply })
    }

    /// Ends the thread.
    pub(crate) fn end(&self) {
        // An error says that it has ended.
        let _ = self.tasks.lock().unwrap_or_else(PoisonError::into_inner).send(Task::End);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // What it panicked with was told by it.
            let _ = thread.join();
        }
    }
}

/// What the thread has.
struct Kept {
    shared: Arc<Shared>,
    mirror: Option<Box<dyn SqlStore>>,
    /// A client of its own, for the background.
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
    /// How long it waits for a task before it refreshes.
    fn waits(&self) -> Option<Duration> {
        self.shared.options.refresh_every.filter(|_| self.client.is_some())
    }

    /// In the background. What fails here fails again, and is told, when somebody asks.
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
        // Nobody waits any more for an answer that cannot be sent.
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

fn sql(store: Store) -> Result<Box<dyn SqlStore>> {
    match store {
        Store::Sql(sql) => Ok(sql),
        _ => Err(EngineError::failed(NAME, "open its mirror", "it is no SQL database")),
    }
}
