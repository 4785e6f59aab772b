//! Opens, maintains and closes a hybrid like its front.

use std::sync::Arc;

use embermark_contract::{
    Background, Checked, ClientOpener, ConnectionParameters, EngineError, Join, Lifecycle, Limits,
    Result, delegate,
};

use crate::NAME;
use crate::client::Hybrid;

/// Number of the front's tables that do not belong to the program: names, log, chunks, and
/// invalidated rows.
const INTERNAL_TABLES: usize = 4;

#[deny(clippy::missing_trait_methods, reason = "a default would hide the front's own method")]
impl Lifecycle for Hybrid {
    // Upkeep needs no exclusive access, and the mirror only works in the background for its
    // refreshes and queries.
    delegate! {
        front:
        fn tier_settings(&mut self) -> Result<Vec<(String, String)>>;
        fn upkeep(&mut self) -> Result<()>;
        fn reconnect(&mut self) -> Option<Result<()>>;
        fn connects_by_request(&self) -> bool;
        fn background(&mut self, into: &mut Vec<Background>) -> Result<()>;
        fn suspend_checkpoints(&mut self, bytes: u64) -> Result<()>;
        fn log_bytes(&mut self) -> Result<u64>;
    }

    /// Limits of the front, less the hybrid's own four tables.
    fn limits(&self) -> Limits {
        let limits = self.front.limits();
        Limits { tables: limits.tables.map(|most| most.saturating_sub(INTERNAL_TABLES)), ..limits }
    }

    /// Maintains the front. Then builds the mirror if it does not exist, brings it up to date, and
    /// maintains it.
    fn maintain(&mut self) -> Result<()> {
        self.with_exclusive_access(|hybrid| {
            hybrid.front.maintain()?;
            if !hybrid.shared.has_mirrored_tables() {
                return Ok(());
            }
            hybrid.refresh()?;
            hybrid.connection.as_mut().map_or(Ok(()), |connection| connection.sql.maintain())
        })
    }

    fn join(&self) -> Join {
        Join::Exclusive("one process keeps its mirror")
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        let opener = self.front.open_client()?;
        let shared = Arc::clone(&self.shared);
        Ok(ClientOpener::kv(move || {
            let front = opener.open()?.into_kv(NAME, "open a client of its front")?;
            Hybrid::new_client(front, shared)
        }))
    }

    /// Returns what a program in another language needs to open the front. Refuses it once a table
    /// is mirrored, because the program would change pairs without recording it for the mirror.
    fn connection(&mut self) -> Result<ConnectionParameters> {
        let connection = self.front.connection()?;
        if self.shared.has_mirrored_tables() {
            let why = "a program in another language would change the pairs of the hybrid without \
                       its mirror";
            return Err(EngineError::impossible(why));
        }
        Ok(connection)
    }

    /// Crashes the front. The mirror is rebuilt.
    fn crash_on_close(&mut self) -> Result<()> {
        self.front.crash_on_close()?;
        self.crashes = true;
        Ok(())
    }

    fn check(&mut self) -> Result<Checked> {
        self.with_exclusive_access(|hybrid| hybrid.front.check())
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        self.connection = None;
        let mut mirror = Ok(());
        if let Some(thread_guard) = self.thread_guard.take() {
            mirror = self.close_mirror(self.crashes);
            drop(thread_guard);
            mirror = mirror.and(self.remove_obsolete_files());
        }
        let Self { front, .. } = *self;
        front.close().and(mirror)
    }
}
