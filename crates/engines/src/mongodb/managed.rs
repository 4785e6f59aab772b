//! A private MongoDB server.

use std::ffi::OsString;

use super::NAME;
use super::installation;
use super::library::LIBRARY;
use super::session::Session;
use super::settings::{self, COMPRESSORS, ENGINE_CONFIG};
use super::tier::{self, TIERS};
use super::uri::Uri;
use crate::server::address::Listening;
use crate::server::{self, Account, Home, Server, ServerSpec};
use crate::{OpenOptions, Result};

/// Its socket, in its directory.
const SOCKET: &str = "mongod.sock";

/// The database of ours on a server of our own.
const DATABASE: &str = "embermark";

/// WiredTiger refuses a smaller cache
/// (<https://source.wiredtiger.com/develop/group__wt.html>, `cache_size`).
const SMALLEST_CACHE: u64 = 1 << 20;

/// Starts a server as `options` say and connects.
pub(super) fn start(options: &OpenOptions) -> Result<(Server, Session)> {
    let library = LIBRARY.get()?;
    let found = installation::find().map_err(|missing| missing.error(NAME))?;
    let home = Home::open(NAME, &options.dir, Account::ourselves())?;
    // Of a server that was killed nothing is removed: mongod makes its socket anew, and learns from
    // what is in its lock file that there is something to recover.
    let data = home.subdirectory(NAME, "data")?;
    let mut args: Vec<OsString> = vec!["--dbpath".into(), data.into()];
    // The other option leaves out the socket that mongod would make in /tmp.
    args.extend(["--nounixsocket".into(), "--bind_ip".into()]);
    let url = |port| format!("mongodb://127.0.0.1:{port}/?directConnection=true");
    let Listening { here, elsewhere, port } =
        Listening::at(NAME, options.link, &home, SOCKET, url)?;
    match port {
        // A path among the addresses is a Unix socket, and as the only one nothing else listens
        // (https://www.mongodb.com/docs/v6.0/reference/program/mongod/#std-option-mongod.--bind_ip).
        None => args.push(home.path().join(SOCKET).into()),
        Some(port) => {
            // It asks for no password.
            server::alone(NAME)?;
            args.extend(["127.0.0.1".into(), "--port".into(), port.to_string().into()]);
        }
    }
    args.extend(configuration(options, &found.version).into_iter().map(OsString::from));
    // A clean shutdown (https://www.mongodb.com/docs/v6.0/tutorial/manage-mongodb-processes/) is by
    // SIGTERM; it starts no process of its own, so nothing is left when it is killed.
    let mut spec = ServerSpec::new(NAME, &found.mongod, args);
    spec.env.extend(found.environment);
    // A driver that once met nobody waits before it looks again, so that each attempt begins anew.
    Server::start(spec, &home, |_| {
        let uri = Uri::new(library, &here)?;
        let session = Session::new(library, uri, DATABASE, elsewhere.clone(), false);
        session.map_err(|failure| failure.to_string())
    })
}

/// What the server is started with. What is not named here is MongoDB's default, as any user
/// meets it: documents compressed by snappy among it.
fn configuration(options: &OpenOptions, version: &str) -> Vec<String> {
    let cache = options.memory.max(SMALLEST_CACHE);
    let sync = TIERS.of(options.durability).set.engine_config;
    // --wiredTigerCacheSizeGB takes no less than 0.25 GB, whatever other engines have. Files of the
    // journal are made beforehand, three of them, 100 MB each if nothing is said.
    let engine = format!("cache_size={cache}B,log=(file_max=16MB){sync}");
    let ours = [
        (ENGINE_CONFIG, "--wiredTigerEngineConfigString", &*engine),
        // Nothing to gain between processes of one machine.
        (COMPRESSORS, "--networkMessageCompressors", "disabled"),
        // No samples of the machine for MongoDB's support on the disk that is measured.
        ("", "--setParameter", "diagnosticDataCollectionEnabled=false"),
    ];
    let ours = ours.iter().filter(|(name, ..)| options.setting(name).is_none());
    let mut args: Vec<_> =
        ours.flat_map(|(_, option, value)| [*option, *value]).map(str::to_owned).collect();
    for (name, value) in options.configured() {
        args.extend(settings::arguments(name, value));
    }
    args.extend(tier::arguments(options, version).iter().map(|&arg| arg.to_owned()));
    args
}
