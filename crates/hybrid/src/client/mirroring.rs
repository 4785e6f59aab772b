//! Opens, refreshes, queries, discards and closes the client's mirror.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use embermark_contract::kv::mirror::{Decode, Mirror, Side};
use embermark_contract::kv::{Table, TableDef};
use embermark_contract::sql::SqlStore;
use embermark_contract::{EngineError, Result, Scope};

use super::Hybrid;
use crate::catalog::{Entry, Stamp};
use crate::mirror::Connection;
use crate::refresh::{self, PrecedingWork, Source};
use crate::shared::State;
use crate::{NAME, cold};

impl Hybrid {
    /// Stops recording changes. The next query rebuilds the mirror.
    pub(super) fn give_up(&mut self) -> Result<()> {
        self.shared.set_current(None);
        self.recorder.catalog.take_stamp(&mut *self.front)?;
        self.shared.recording.store(false, Ordering::Release);
        // The records are useless now. Transactions after the next rebuild remove them.
        let last = self.shared.next.load(Ordering::Acquire) - 1;
        self.shared.applied.store(last, Ordering::Release);
        Ok(())
    }

    /// Opens the mirrored tables in this client.
    fn open_mirrored_tables(&mut self) -> Result<()> {
        for (id, mirrored) in self.shared.mirrored_tables() {
            if self.tables[usize::from(id)].is_none() {
                let (name, key_length) = (&*mirrored.table, mirrored.key_length);
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
        self.open_mirrored_tables()?;
        if shared.current().is_none() {
            self.open_mirror(&mut state)?;
        }
        self.connect(state.generation, || shared.mirror_thread.open_client())?;
        self.catch_up(&mut state, None)
    }

    /// Connects to the mirror of a generation with `open_client`, unless already connected.
    fn connect(
        &mut self,
        generation: u64,
        open_client: impl FnOnce() -> Result<Box<dyn SqlStore>>,
    ) -> Result<()> {
        if self.connection.as_ref().is_none_or(|known| known.generation != generation) {
            self.connection = None;
            self.connection = Some(Connection::new(open_client()?, generation));
        }
        Ok(())
    }

    /// Brings the open mirror up to date over the open connection.
    fn catch_up(&mut self, state: &mut State, before: Option<PrecedingWork<'_>>) -> Result<()> {
        let shared = Arc::clone(&self.shared);
        if shared.is_up_to_date() {
            return Ok(());
        }
        let transferred = self.with_mirror(|source, sql| {
            refresh::transfer_changes(source, sql, (&shared, state), before)
        });
        if transferred.is_err() {
            // The mirror's state is unknown.
            shared.set_current(None);
        }
        transferred
    }

    /// Does `before` in the mirror and brings it up to date, if this client is connected to it.
    /// Otherwise the mirror is rebuilt from the front's current state.
    pub(crate) fn catch_up_after(
        &mut self,
        state: &mut State,
        before: PrecedingWork<'_>,
    ) -> Result<()> {
        let generation = self.connection.as_ref().map(|connection| connection.generation);
        if generation.is_none() || self.shared.current() != generation {
            self.shared.set_current(None);
            return Ok(());
        }
        self.catch_up(state, Some(before))
    }

    fn with_mirror<T>(
        &mut self,
        work: impl FnOnce(Source<'_>, &mut dyn SqlStore) -> Result<T>,
    ) -> Result<T> {
        let Self { front, recorder, tables, connection, .. } = self;
        let sql = &mut *Connection::of(connection, "refresh its mirror")?.sql;
        work(Source { front: &mut **front, catalog: recorder.catalog, tables }, sql)
    }

    fn open_mirror(&mut self, state: &mut State) -> Result<()> {
        let shared = Arc::clone(&self.shared);
        let catalog = self.recorder.catalog;
        let stamp = catalog.stamp(&mut *self.front)?;
        if stamp.is_some() {
            // From here on the mirror no longer matches the stamp.
            catalog.take_stamp(&mut *self.front)?;
        }
        self.connection = None;
        let (of_thread, known) = (Arc::clone(&shared), state.generation);
        let opened = shared.mirror_thread.ask(move |worker| worker.open(&of_thread, known, stamp));
        let (generation, stored) = opened?;
        state.generation = generation;
        let open_client = || shared.mirror_thread.open_client();
        if let Some((applied, highest)) = stored {
            state.highest = highest;
            shared.applied.store(applied, Ordering::Release);
            self.connect(generation, open_client)?;
            self.with_mirror(|source, sql| refresh::make_views(source, sql, (&shared, state)))?;
        } else {
            state.highest.clear();
            shared.recording.store(true, Ordering::Release);
            // Transactions after this record see that changes are recorded.
            let barrier = self.recorder.run_recorded(&mut *self.front, &shared, |_, _| Ok(()))?;
            self.connect(generation, open_client)?;
            let rows =
                self.with_mirror(|source, sql| refresh::load_all(source, sql, (&shared, state)));
            if let Err(error) = rows {
                shared.recording.store(false, Ordering::Release);
                return Err(error);
            }
            shared.applied.store(barrier, Ordering::Release);
            shared.recorded_bytes.store(0, Ordering::Release);
        }
        shared.set_current(Some(generation));
        Ok(())
    }

    /// Brings an open mirror up to date in the background, unless another client is doing so.
    /// `open_client` returns a connection.
    pub(crate) fn catch_up_in_background(
        &mut self,
        open_client: impl FnOnce() -> Result<Box<dyn SqlStore>>,
    ) -> Result<()> {
        let shared = Arc::clone(&self.shared);
        let Some(generation) = shared.current().filter(|_| !shared.is_up_to_date()) else {
            return Ok(());
        };
        let Some(mut state) = shared.idle_state() else { return Ok(()) };
        self.open_mirrored_tables()?;
        self.connect(generation, open_client)?;
        self.catch_up(&mut state, None)
    }

    /// Closes the mirror so that it can be reopened as it is, unless `crashed`.
    pub(crate) fn close_mirror(&mut self, crashed: bool) -> Result<()> {
        self.connection = None;
        let shared = Arc::clone(&self.shared);
        let mut state = shared.state();
        let was_open = shared.current().is_some();
        shared.set_current(None);
        let stamp = Stamp::new(shared.next.load(Ordering::Acquire));
        let signed = (was_open && !crashed).then(|| (stamp, std::mem::take(&mut *state)));
        let is_signed = signed.is_some();
        let of_thread = Arc::clone(&shared);
        shared.mirror_thread.ask(move |worker| worker.close(&of_thread, signed))?;
        if is_signed {
            self.recorder.catalog.put_stamp(&mut *self.front, stamp)?;
        }
        Ok(())
    }

    /// Whether every row of the mirror is readable.
    fn is_readable(&mut self) -> bool {
        let Some(connection) = &mut self.connection else { return false };
        self.shared.mirrored_tables().iter().all(|(_, mirrored)| {
            let text = format!("SELECT COUNT(COLUMNS(*)) FROM {}", mirrored.rows.name);
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
        let entry = Entry { id, mirrored: true };
        let known = self.recorder.catalog.entry(&mut *self.front, &name.0)?;
        if known != entry {
            let catalog = self.recorder.catalog;
            self.front.within(Scope::Batch, |batch| catalog.set_entry(batch, &name.0, entry))?;
        }
        let shared = Arc::clone(&self.shared);
        let _state = shared.state();
        if shared.set_mirrored_table(id, name, decode) && shared.current().is_some() {
            self.recorder.record_table_change(&mut *self.front, &shared, id)?;
        }
        cold::check_time_column(&shared, id)
    }

    fn refresh(&mut self) -> Result<()> {
        Hybrid::refresh(self)
    }

    fn sql(&mut self) -> Result<(&mut dyn SqlStore, u64)> {
        let generation = self.connection.as_ref().map(|connection| connection.generation);
        if generation.is_none()
            || generation != self.shared.current()
            || !self.shared.is_up_to_date()
        {
            self.refresh()?;
        }
        let applied = self.shared.applied.load(Ordering::Acquire);
        let connection = Connection::of(&mut self.connection, "ask its mirror")?;
        if connection.applied != applied {
            connection.applied = applied;
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
        let is_readable = self.is_readable();
        if !is_readable {
            shared.report(&format!("the mirror is damaged and is rebuilt: {error}"));
            shared.set_current(None);
        }
        Ok(!is_readable)
    }
}
