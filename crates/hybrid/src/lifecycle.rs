//! Opens, maintains and closes a hybrid like its front.

use std::sync::Arc;

use embermark_contract::{
    Checked, ClientOpener, EngineError, Join, Lifecycle, Limits, Result, Store,
};

use crate::NAME;
use crate::client::Hybrid;

/// Number of the front's tables that do not belong to the program: names, log, chunks, and
/// invalidated rows.
const OWN_TABLES: usize = 4;

impl Lifecycle for Hybrid {
    /// Those of the front, except for the hybrid's own four tables.
    fn limits(&self) -> Limits {
        let limits = self.front.limits();
        Limits { tables: limits.tables.map(|most| most.saturating_sub(OWN_TABLES)), ..limits }
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        self.front.tier_settings()
    }

    /// That of the front, which needs no exclusive access.
    fn upkeep(&mut self) -> Result<()> {
        self.front.upkeep()
    }

    /// Maintains the front. Then makes the mirror if there is none, brings it up to date, and
    /// maintains it.
    fn maintain(&mut self) -> Result<()> {
        self.alone(|hybrid| {
            hybrid.front.maintain()?;
            if !hybrid.shared.watches() {
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
        Ok(ClientOpener::kv(move || match opener.open()? {
            Store::Kv(front) => Hybrid::join(front, shared),
            _ => Err(EngineError::failed(NAME, "open a client", "its front keeps no pairs")),
        }))
    }

    /// Crashes the front. The mirror is rebuilt.
    fn crash_on_close(&mut self) -> Result<()> {
        self.front.crash_on_close()?;
        self.crashes = true;
        Ok(())
    }

    fn suspend_checkpoints(&mut self, bytes: u64) -> Result<()> {
        self.front.suspend_checkpoints(bytes)
    }

    fn log_bytes(&mut self) -> Result<u64> {
        self.front.log_bytes()
    }

    fn check(&mut self) -> Result<Checked> {
        self.alone(|hybrid| hybrid.front.check())
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        self.connection = None;
        let mut mirror = Ok(());
        if let Some(first) = self.first.take() {
            mirror = self.close_mirror(self.crashes);
            drop(first);
            mirror = mirror.and(self.remove_unneeded());
        }
        let Self { front, .. } = *self;
        front.close().and(mirror)
    }
}
