//! The client's mirror: opened, refreshed, queried, given up and closed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use embermark_contract::kv::mirror::{Decode, Mirror, Side};
use embermark_contract::kv::{Table, TableDef};
use embermark_contract::sql::SqlStore;
use embermark_contract::{EngineError, Result, Scope};

use super::Hybrid;
use crate::books::{Entry, Stamp};
use crate::mirror::Connection;
use crate::refresh::{self, Before, Source};
use crate::state::State;
use crate::{NAME, cold};

impl Hybrid {
    /// Stops recording changes. The next query rebuilds the mirror.
    pub(super) fn give_up(&mut self) -> Result<()> {
        self.shared.set_current(None);
        self.note.books.take_stamp(&mut *self.front)?;
        self.shared.noting.store(false, Ordering::Release);
        // The records are useless now. Later transactions remove them.
        let last = self.shared.next.load(Ordering::Acquire) - 1;
        self.shared.applied.store(last, Ordering::Release);
        Ok(())
    }

    /// Opens the shown tables in this client.
    fn open_shown(&mut self) -> Result<()> {
        for (id, shown) in self.shared.all_shown() {
            if self.tables[usize::from(id)].is_none() {
                let (name, key_length) = (&*shown.table, shown.key_length);
                let table = self.front.table(&TableDef { name, key_length, indexes: &[] })?;
                self.tables[usize::from(id)] = Some(table);
            }
        }
        Ok(())
    }

    /// Opens the mirror if necessary and brings it up to date with every acknowledged change.
    ///
    /// # Errors
    /// The front's or the mirror's error.
    pub fn refresh(&mut self) -> Result<()> {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.state();
        self.open_shown()?;
        if shared.current().is_none() {
            self.open_mirror(&mut state)?;
        }
        self.connect(state.generation, || shared.keeper.let_in())?;
        self.catch_up(&mut state, None)
    }

    /// Connects to the mirror of a generation with `let_in`, unless already connected.
    fn connect(
        &mut self,
        generation: u64,
        let_in: impl FnOnce() -> Result<Box<dyn SqlStore>>,
    ) -> Result<()> {
        if self.connection.as_ref().is_none_or(|known| known.generation != generation) {
            self.connection = None;
            self.connection = Some(Connection::new(let_in()?, generation));
        }
        Ok(())
    }

    /// Brings the open mirror up to date over the open connection.
    pub(crate) fn catch_up(&mut self, state: &mut State, before: Option<Before<'_>>) -> Result<()> {
        let shared = Arc::clone(&self.shared);
        if shared.is_fresh() {
            return Ok(());
        }
        let brought =
            self.with_mirror(|source, sql| refresh::changes(source, sql, (&shared, state), before));
        if brought.is_err() {
            // The mirror's state is unknown.
            shared.set_current(None);
        }
        brought
    }

    fn with_mirror<T>(
        &mut self,
        work: impl FnOnce(Source<'_>, &mut dyn SqlStore) -> Result<T>,
    ) -> Result<T> {
        let Self { front, note, tables, connection, .. } = self;
        let Some(connection) = connection else {
            return Err(EngineError::failed(NAME, "refresh its mirror", "it is not connected"));
        };
        work(Source { front: &mut **front, books: note.books, tables }, &mut *connection.sql)
    }

    fn open_mirror(&mut self, state: &mut State) -> Result<()> {
        let shared = Arc::clone(&self.shared);
        let books = self.note.books;
        let stamp = books.stamp(&mut *self.front)?;
        if stamp.is_some() {
            // From here on the mirror no longer matches the stamp.
            books.take_stamp(&mut *self.front)?;
        }
        self.connection = None;
        let (generation, fit) = shared.keeper.open(state.generation, stamp)?;
        state.generation = generation;
        if let Some(fit) = fit {
            state.highest = fit.highest;
            shared.applied.store(fit.applied, Ordering::Release);
            self.connect(generation, || shared.keeper.let_in())?;
            self.with_mirror(|source, sql| refresh::views(source, sql, (&shared, state)))?;
        } else {
            state.highest.clear();
            shared.noting.store(true, Ordering::Release);
            // Transactions after this record see that changes are recorded.
            let barrier = self.note.all_of(&mut *self.front, &shared, None)?;
            self.connect(generation, || shared.keeper.let_in())?;
            let rows =
                self.with_mirror(|source, sql| refresh::everything(source, sql, (&shared, state)));
            if let Err(error) = rows {
                shared.noting.store(false, Ordering::Release);
                return Err(error);
            }
            shared.applied.store(barrier, Ordering::Release);
            shared.noted.store(0, Ordering::Release);
        }
        shared.set_current(Some(generation));
        Ok(())
    }

    /// Brings an open mirror up to date in the background, unless another client is doing so.
    /// `let_in` returns a connection.
    pub(crate) fn catch_up_behind(
        &mut self,
        let_in: impl FnOnce() -> Result<Box<dyn SqlStore>>,
    ) -> Result<()> {
        let shared = Arc::clone(&self.shared);
        let Some(generation) = shared.current().filter(|_| !shared.is_fresh()) else {
            return Ok(());
        };
        let Some(mut state) = shared.idle_state() else { return Ok(()) };
        self.open_shown()?;
        self.connect(generation, let_in)?;
        self.catch_up(&mut state, None)
    }

    /// Closes the mirror so that it can be reopened as it is, unless `crashed`.
    pub(crate) fn close_mirror(&mut self, crashed: bool) -> Result<()> {
        self.connection = None;
        let shared = Arc::clone(&self.shared);
        let mut state = shared.state();
        let was_open = shared.current().is_some();
        shared.set_current(None);
        let stamp = Stamp::draw(shared.next.load(Ordering::Acquire));
        let signed = (was_open && !crashed).then(|| (stamp, std::mem::take(&mut *state)));
        let is_signed = signed.is_some();
        shared.keeper.close(signed)?;
        if is_signed {
            self.note.books.put_stamp(&mut *self.front, stamp)?;
        }
        Ok(())
    }

    /// Whether every row of the mirror is readable.
    fn is_whole(&mut self) -> bool {
        let Some(connection) = &mut self.connection else { return false };
        self.shared.all_shown().iter().all(|(_, shown)| {
            let text = format!("SELECT COUNT(COLUMNS(*)) FROM {}", shown.rows.name);
            let sql = &mut *connection.sql;
            let read = sql.prepare(&text).and_then(|all| sql.query(all, &[], &mut |_| Ok(())));
            read.is_ok()
        })
    }
}

impl Mirror for Hybrid {
    fn show(&mut self, table: Table, decode: Arc<dyn Decode>) -> Result<()> {
        let id = self.numbers.get(table).ok_or_else(|| {
            EngineError::failed(NAME, "show a table", "it was not opened by this client")
        })?;
        let name = self.names[usize::from(id)].clone().unwrap_or_default();
        let entry = Entry { id, shown: true };
        let known = self.note.books.entry(&mut *self.front, &name.0)?;
        if known != entry {
            let books = self.note.books;
            self.front.within(Scope::Batch, |batch| books.set(batch, &name.0, entry))?;
        }
        let shared = Arc::clone(&self.shared);
        let _state = shared.state();
        if shared.show(id, name, decode) && shared.current().is_some() {
            self.note.all_of(&mut *self.front, &shared, Some(id))?;
        }
        cold::is_dated(&shared, id)
    }

    fn refresh(&mut self) -> Result<()> {
        Hybrid::refresh(self)
    }

    fn sql(&mut self) -> Result<(&mut dyn SqlStore, u64)> {
        let generation = self.connection.as_ref().map(|connection| connection.generation);
        if generation.is_none() || generation != self.shared.current() || !self.shared.is_fresh() {
            self.refresh()?;
        }
        let applied = self.shared.applied.load(Ordering::Acquire);
        let Some(connection) = &mut self.connection else {
            return Err(EngineError::failed(NAME, "ask its mirror", "it is not connected"));
        };
        if connection.knows != applied {
            connection.knows = applied;
            connection.sql.data_changed();
        }
        Ok((&mut *connection.sql, connection.generation))
    }

    fn side(&self, question: &str) -> Option<Side> {
        self.shared.router().side(question)
    }

    fn took(&mut self, question: &str, side: Side, time: Duration) {
        self.shared.router().took(question, side, time);
    }

    fn failed(&mut self, error: &EngineError) -> Result<bool> {
        if error.is_unsupported() {
            return Ok(false);
        }
        let shared = Arc::clone(&self.shared);
        let _state = shared.state();
        let is_whole = self.is_whole();
        if !is_whole {
            shared.tell(&format!("the mirror is damaged and is made anew: {error}"));
            shared.set_current(None);
        }
        Ok(!is_whole)
    }
}
