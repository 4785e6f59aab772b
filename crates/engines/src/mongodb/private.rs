//! A private MongoDB server.

use std::ffi::OsString;
use std::time::Duration;

use nix::sys::signal::Signal;

use super::bson::Writer;
use super::installation::{self, Installation};
use super::session::{self, Session};
use super::{NAME, message, tier};
use crate::server::{Account, Home, Server, ServerSpec};
use crate::{EngineError, Result, Site};

/// The database of ours on a server of our own.
const DATABASE: &str = "embermark";

/// WiredTiger refuses a smaller cache
/// (<https://source.wiredtiger.com/develop/group__wt.html>, `cache_size`).
const SMALLEST_CACHE: u64 = 1 << 20;

/// How long a server that has answered before may take to be found again.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);

/// How long one look at a server that starts may take.
const PROBED_WITHIN: Duration = Duration::from_millis(100);

/// Starts a server at `site` and connects.
///
/// # Errors
/// When MongoDB is not installed, or does not start: with the last lines of its log.
pub(super) fn start(site: &Site) -> Result<(Server, Session)> {
    let found = installation::find()
        .map_err(|missing| EngineError::unavailable(NAME, missing.why, missing.remedy))?;
    let home = Home::create(NAME, &site.dir, Account::ourselves())?;
    let data = home.subdirectory(NAME, "data")?;
    let socket = home.path().join("mongod.sock");
    let mut args: Vec<OsString> = vec!["--dbpath".into(), data.into()];
    // A path among the addresses is a Unix socket, and as the only one nothing else listens
    // (https://www.mongodb.com/docs/v6.0/reference/program/mongod/#std-option-mongod.--bind_ip);
    // the other option leaves out the socket that mongod would make in /tmp.
    args.extend(["--bind_ip".into(), socket.clone().into(), "--nounixsocket".into()]);
    args.extend(configuration(site, &found.version).into_iter().map(OsString::from));
    let (server, ()) = Server::start(spec(&found, args), &home, |_| answers(&socket))?;
    let session = Session::new(
        session::runtime()?,
        session::of_socket(&socket, ANSWERS_WITHIN),
        DATABASE,
        false,
    )
    .map_err(|e| super::failed("connect", &e))?;
    Ok((server, session))
}

/// Whether the server answers a command. A session of its own: a driver that once met nobody
/// waits before it looks again.
fn answers(socket: &std::path::Path) -> std::result::Result<(), String> {
    if !socket.exists() {
        return Err("its socket is not there yet".to_owned());
    }
    let runtime = session::runtime().map_err(|e| e.to_string())?;
    let mut ping = Writer::new(32);
    ping.int32("ping", 1);
    let answer = Session::new(runtime, session::of_socket(socket, PROBED_WITHIN), "admin", false)
        .and_then(|session| session.run(ping));
    answer.map(|_| ()).map_err(|e| message(&e))
}

fn spec(found: &Installation, args: Vec<OsString>) -> ServerSpec<'_> {
    ServerSpec {
        engine: NAME,
        program: &found.mongod,
        args,
        env: found.environment(),
        // A clean shutdown (https://www.mongodb.com/docs/v6.0/tutorial/manage-mongodb-processes/);
        // it starts no process of its own, so nothing is left when it is killed.
        stop: Signal::SIGTERM,
        abort: Signal::SIGKILL,
        ready_within: Duration::from_secs(60),
        stop_within: Duration::from_secs(60),
    }
}

/// What the server is started with. What is not named here is MongoDB's default, as any user
/// meets it: documents compressed by snappy among it.
fn configuration(site: &Site, version: &str) -> Vec<String> {
    let cache = site.memory.max(SMALLEST_CACHE);
    let mut args = vec![
        // --wiredTigerCacheSizeGB takes no less than 0.25 GB, whatever other engines have. Files
        // of the journal are made beforehand, three of them, 100 MB each if nothing is said.
        "--wiredTigerEngineConfigString".to_owned(),
        format!("cache_size={cache}B,log=(file_max=16MB){}", tier::engine_config(site.durability)),
        // No samples of the machine for MongoDB's support on the disk that is measured.
        "--setParameter".to_owned(),
        "diagnosticDataCollectionEnabled=false".to_owned(),
        // Nothing to gain between processes of one machine.
        "--networkMessageCompressors".to_owned(),
        "disabled".to_owned(),
    ];
    args.extend(tier::arguments(site.durability, version).iter().map(|&arg| arg.to_owned()));
    args
}
