//! What a workload needs from a server apart from its tables.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use super::resp::Answer;
use super::session::{Session, failed};
use super::settings::value;
use super::store::ValkeyStore;
use super::tier::{APPEND_ONLY, FSYNC};
use super::{NAME, installation};
use crate::log_files::log_files;
use crate::server::{self, Server};
use crate::{Checked, ClientOpener, ConnectionParameters, EngineError, Join, Lifecycle, Result};

/// Folder of the append-only files, in the folder of a server's files.
const APPEND_ONLY_FILES: &str = "appendonlydir";

/// Interval between two checks of a rewrite.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// The programs that check files are the server under other names
/// (<https://valkey.io/topics/persistence/#what-should-i-do-if-my-aof-gets-corrupted>): one for the
/// beginning of an append-only file, which has a checksum, and one for the following commands. The
/// latter also accepts the files' manifest, but since 9.1 reports an error in every one, because it
/// does not know how they begin now.
const PROGRAMS: [(&str, &str); 2] = [("rdb", "valkey-check-rdb"), ("aof", "valkey-check-aof")];

impl ValkeyStore {
    /// Returns whether it has an append-only file.
    fn appends(&mut self) -> Answer<bool> {
        Ok(value(&self.session.info("persistence")?, "aof_enabled").as_deref() == Some("1"))
    }

    /// Waits until no rewrite of the file is running. Returns whether the last one succeeded.
    fn at_rest(&mut self) -> Answer<bool> {
        loop {
            let info = self.session.info("persistence")?;
            let is = |name: &str, word: &str| value(&info, name).is_some_and(|found| found == word);
            if is("aof_rewrite_in_progress", "0") && is("aof_rewrite_scheduled", "0") {
                return Ok(is("aof_last_bgrewrite_status", "ok"));
            }
            sleep(POLL_INTERVAL);
        }
    }

    fn rewrite(&mut self) -> Answer<bool> {
        if !self.appends()? {
            return Ok(true);
        }
        self.at_rest()?;
        self.session.connection.ask(&[b"BGREWRITEAOF"]).send()?;
        self.session.connection.done()?;
        self.at_rest()
    }

    /// Returns the folder of a private server's append-only files.
    fn files(&mut self, what: &str) -> Result<PathBuf> {
        let appends = self.appends().map_err(failed("say whether it keeps a log"))?;
        let data = self.data.as_ref().filter(|_| appends);
        let folder = data.map(|data| data.join(APPEND_ONLY_FILES));
        folder.ok_or_else(|| EngineError::unsupported(NAME, format!("{what}: it has no log here")))
    }
}

impl Lifecycle for ValkeyStore {
    /// Rewrites the append-only file with the current data
    /// (<https://valkey.io/topics/persistence/#log-rewriting>), if there is one.
    fn maintain(&mut self) -> Result<()> {
        if self.rewrite().map_err(failed("rewrite its append-only file"))? {
            return Ok(());
        }
        let why = "the server could not, and says why in its log";
        Err(EngineError::failed(NAME, "rewrite its append-only file", why))
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        self.session.config(&[APPEND_ONLY, FSYNC]).map_err(failed("read its settings back"))
    }

    fn connection(&mut self) -> Result<ConnectionParameters> {
        Ok(self.session.connection())
    }

    fn join(&self) -> Join {
        Join::At(self.session.at())
    }

    /// Opens another connection. The commands of several clients are executed one after another.
    /// From now on this client assumes that others write.
    fn open_client(&mut self) -> Result<ClientOpener> {
        self.is_shared = true;
        let at = self.session.at();
        Ok(ClientOpener::kv(move || Ok(Self::new(Session::join(&at)?, None, true))))
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
        check_files(&self.files("a check")?)
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { mut session, server, .. } = *self;
        session.end()?;
        drop(session);
        server.map_or(Ok(()), Server::stop)
    }
}

/// Checks the append-only files in a folder. It does not compare them with the memory, from which
/// the server answers.
fn check_files(folder: &Path) -> Result<Checked> {
    let (server, _) = installation::find().map_err(|missing| missing.error(NAME))?;
    let mut checked = Checked::new("valkey-check-rdb, valkey-check-aof");
    let read = |error: io::Error| EngineError::file(NAME, "read", folder, error);
    for file in fs::read_dir(folder).map_err(read)? {
        let file = file.map_err(read)?.path();
        let kind = file.extension().unwrap_or_default();
        let Some((_, program)) = PROGRAMS.iter().find(|(known, _)| *known == kind) else {
            continue;
        };
        let output = Command::new(&server).arg0(program).arg(&file).output();
        let output = output.map_err(|e| EngineError::file(NAME, "start", &server, e))?;
        if !output.status.success() {
            checked.found(String::from_utf8_lossy(&output.stdout));
            checked.found(String::from_utf8_lossy(&output.stderr));
            checked.found(format!("{program} {}: {}", file.display(), output.status));
        }
    }
    Ok(checked)
}
