//! A private MongoDB server.

use std::ffi::OsString;
use std::net::TcpStream;
use std::time::Duration;

use mongodb::options::ServerAddress;
use nix::sys::signal::Signal;

use super::bson::Writer;
use super::installation::{self, Installation};
use super::session::{self, Session};
use super::{NAME, message, tier};
use crate::server::address::{self, Address};
use crate::server::{Account, Home, Server, ServerSpec};
use crate::{EngineError, Link, Result, Site};

/// Its socket, in its directory.
const SOCKET: &str = "mongod.sock";

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
    let mut args: Vec<OsString> = vec!["--dbpath".into(), data.into()];
    // The other option leaves out the socket that mongod would make in /tmp.
    args.extend(["--nounixsocket".into(), "--bind_ip".into()]);
    let (host, elsewhere) = match site.link {
        Link::Socket => {
            // A path among the addresses is a Unix socket, and as the only one nothing else listens
            // (https://www.mongodb.com/docs/v6.0/reference/program/mongod/#std-option-mongod.--bind_ip).
            let socket = home.path().join(SOCKET);
            args.push(socket.clone().into());
            let elsewhere = Address::Socket(home.path_elsewhere().join(SOCKET));
            (ServerAddress::Unix { path: socket }, elsewhere)
        }
        Link::Loopback => {
            let port = address::free_port(NAME)?;
            args.extend(["127.0.0.1".into(), "--port".into(), port.to_string().into()]);
            let host = ServerAddress::Tcp { host: "127.0.0.1".to_owned(), port: Some(port) };
            (host, Address::Url(format!("mongodb://127.0.0.1:{port}/?directConnection=true")))
        }
    };
    args.extend(configuration(site, &found.version).into_iter().map(OsString::from));
    let (server, ()) = Server::start(spec(&found, args), &home, |_| answers(&host))?;
    let options = session::of_host(host, ANSWERS_WITHIN);
    let session = Session::new(session::runtime()?, options, DATABASE, elsewhere, false)
        .map_err(|e| super::failed("connect", &e))?;
    Ok((server, session))
}

/// Whether the server answers a command. A session of its own: a driver that once met nobody
/// waits before it looks again.
fn answers(host: &ServerAddress) -> std::result::Result<(), String> {
    let is_there = match host {
        ServerAddress::Tcp { host, port } => {
            TcpStream::connect((host.as_str(), port.unwrap_or_default())).is_ok()
        }
        ServerAddress::Unix { path } => path.exists(),
        _ => true,
    };
    if !is_there {
        return Err("its socket is not there yet".to_owned());
    }
    let runtime = session::runtime().map_err(|e| e.to_string())?;
    let mut ping = Writer::new(32);
    ping.int32("ping", 1);
    let (options, nobody) = (session::of_host(host.clone(), PROBED_WITHIN), Address::from(""));
    let answer = Session::new(runtime, options, "admin", nobody, false)
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
