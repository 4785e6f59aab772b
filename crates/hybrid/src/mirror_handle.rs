//! Messages to the thread that has the mirror open.

use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use embermark_contract::sql::SqlStore;
use embermark_contract::{ClientOpener, EngineError, Result, Store};

use crate::NAME;
use crate::catalog::Stamp;
use crate::state::{State, StoredState};

/// Sends tasks to the thread.
pub(crate) struct MirrorHandle {
    tasks: Mutex<Sender<Task>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// A task of the thread.
pub(crate) enum Task {
    /// Open the latest mirror, of this generation or later, if it matches the stamp. If not, open a
    /// new one.
    Open { generation: u64, stamp: Option<Stamp>, reply: Reply<(u64, Option<StoredState>)> },
    /// Make a further client of the mirror.
    OpenClient { reply: Reply<ClientOpener> },
    /// Close the mirror, with a stamp if it is worth keeping.
    Close { signed: Option<(Stamp, State)>, reply: Reply<()> },
    /// Use a client of the front for the background refresh, or drop it.
    SetFront { opener: Option<ClientOpener>, reply: Reply<()> },
    /// End the thread.
    End,
}

pub(crate) type Reply<T> = Sender<Result<T>>;

impl MirrorHandle {
    /// Makes the sender for a thread that receives these tasks.
    pub(crate) fn new(tasks: Sender<Task>, thread: JoinHandle<()>) -> Self {
        Self { tasks: Mutex::new(tasks), thread: Mutex::new(Some(thread)) }
    }

    fn ask<T>(&self, task: impl FnOnce(Reply<T>) -> Task) -> Result<T> {
        let (reply, answer) = mpsc::channel();
        let ended = |_| EngineError::failed(NAME, "ask its mirror", "its thread has ended");
        let tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.send(task(reply)).map_err(|e| ended(e.to_string()))?;
        drop(tasks);
        answer.recv().map_err(|e| ended(e.to_string()))?
    }

    /// Opens the mirror. Returns its generation, and its stored state if it matches the stamp.
    pub(crate) fn open(
        &self,
        generation: u64,
        stamp: Option<Stamp>,
    ) -> Result<(u64, Option<StoredState>)> {
        self.ask(|reply| Task::Open { generation, stamp, reply })
    }

    /// Makes a further client of the open mirror.
    pub(crate) fn open_client(&self) -> Result<Box<dyn SqlStore>> {
        sql_store(self.ask(|reply| Task::OpenClient { reply })?.open()?)
    }

    /// Closes the mirror, signed if it is to be reopened as it is.
    pub(crate) fn close(&self, signed: Option<(Stamp, State)>) -> Result<()> {
        self.ask(|reply| Task::Close { signed, reply })
    }

    /// Sets the client of the front that the background refresh uses. `None` stops the refresh.
    pub(crate) fn set_front(&self, opener: Option<ClientOpener>) -> Result<()> {
        self.ask(|reply| Task::SetFront { opener, reply })
    }

    /// Ends the thread.
    pub(crate) fn end(&self) {
        // An error means that it has ended.
        let _ = self.tasks.lock().unwrap_or_else(PoisonError::into_inner).send(Task::End);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // The thread has reported its own panic.
            let _ = thread.join();
        }
    }
}

/// Returns the SQL database in a store.
pub(crate) fn sql_store(store: Store) -> Result<Box<dyn SqlStore>> {
    match store {
        Store::Sql(sql) => Ok(sql),
        _ => Err(EngineError::failed(NAME, "open its mirror", "it is not an SQL database")),
    }
}
