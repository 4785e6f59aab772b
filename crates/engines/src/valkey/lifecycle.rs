//! What a workload needs of a server beside its tables.

use std::thread::sleep;
use std::time::Duration;

use super::resp::Answer;
use super::session::{Session, failed};
use super::settings::value;
use super::store::ValkeyStore;
use super::{NAME, check, settings};
use crate::log_files::log_files;
use crate::server::{self, Server};
use crate::{
    Checked, ClientOpener, ConnectionParameters, EngineError, Join, Lifecycle, OpenOptions, Result,
};

/// The folder of the append-only files, in that of a server's files.
pub(super) const APPEND_ONLY_FILES: &str = "appendonlydir";

/// How often a rewriting is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(1);

impl ValkeyStore {
    /// Whether it keeps an append-only file.
    fn appends(&mut self) -> Answer<bool> {
        Ok(value(&self.session.info("persistence")?, "aof_enabled").as_deref() == Some("1"))
    }

    /// Waits until no rewriting of the file is under way; whether the last one was done.
    fn at_rest(&mut self) -> Answer<bool> {
        loop {
            let info = self.session.info("persistence")?;
            let is = |name: &str, word: &str| value(&info, name).is_some_and(|found| found == word);
            if is("aof_rewrite_in_progress", "0") && is("aof_rewrite_scheduled", "0") {
                return Ok(is("aof_last_bgrewrite_status", "ok"));
            }
            sleep(LOOK_EVERY);
        }
    }

    fn rewrite(&mut self) -> Answer<bool> {
        if !self.appends()? {
            return Ok(true);
        }
        self.at_rest()?;
        self.session.connection.command(1, "BGREWRITEAOF");
        self.session.connection.send()?;
        self.session.connection.done()?;
        self.at_rest()
    }

    /// The folder of the append-only files of a private server.
    fn files(&mut self, what: &str) -> Result<std::path::PathBuf> {
        let appends = self.appends().map_err(failed("say whether it keeps a log"))?;
        let data = self.data.as_ref().filter(|_| appends);
        let folder = data.map(|data| data.join(APPEND_ONLY_FILES));
        folder.ok_or_else(|| EngineError::unsupported(NAME, format!("{what}: it has no log here")))
    }
}

impl Lifecycle for ValkeyStore {
    /// The append-only file written anew with what there is
    /// (<https://valkey.io/topics/persistence/#log-rewriting>), where there is one.
    fn maintain(&mut self) -> Result<()> {
        if self.rewrite().map_err(failed("rewrite its append-only file"))? {
            return Ok(());
        }
        let why = "the server could not, and says why in its log";
        Err(EngineError::failed(NAME, "rewrite its append-only file", why))
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        settings::of_tier(&mut self.session)
    }

    fn connection(&mut self) -> Result<ConnectionParameters> {
        Ok(self.session.connection())
    }

    fn join(&self) -> Join {
        Join::At(self.session.at())
    }

    /// A connection of its own. Commands of several clients are done one after the other; from now on
    /// this one takes into account that others write.
    fn open_client(&mut self) -> Result<ClientOpener> {
        self.is_shared = true;
        let at = self.session.at();
        Ok(ClientOpener::kv(move || {
            let mut options = OpenOptions::new("", embermark_model::Durability::None, 0);
            options.shared = true;
            Ok(Self::new(Session::join(&at)?, None, &options))
        }))
    }

    fn reconnect(&mut self) -> Option<Result<()>> {
        Some(self.session.renew())
    }

    fn crash_on_close(&mut self) -> Result<()> {
        Err(server::no_log(NAME))
    }

    fn log_bytes(&mut self) -> Result<u64> {
        let folder = self.files("the size of a log")?;
        log_files(NAME, &folder, |name| name.ends_with(".aof"))
    }

    fn check(&mut self) -> Result<Checked> {
        check::files(&self.files("a check")?)
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { mut session, server, .. } = *self;
        session.end()?;
        drop(session);
        server.map_or(Ok(()), Server::stop)
    }
}
