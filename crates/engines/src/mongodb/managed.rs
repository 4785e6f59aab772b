//! A private MongoDB server.

use std::ffi::OsString;

use super::NAME;
use super::installation;
use super::library::LIBRARY;
use super::session::Session;
use super::settings::{self, COMPRESSORS, ENGINE_CONFIG};
use super::tier::{self, TIERS};
use super::uri::Uri;
use crate::server::address::ListenAddresses;
use crate::server::{self, Account, Home, Server, ServerSpec};
use crate::{OpenOptions, Result};

/// Name of its socket, in its folder.
const SOCKET: &str = "mongod.sock";

/// Name of the database on a private server.
const DATABASE: &str = "embermark";

/// WiredTiger refuses a smaller cache
/// (<https://source.wiredtiger.com/develop/group__wt.html>, `cache_size`).
const SMALLEST_CACHE: u64 = 1 << 20;

/// Starts a server with these options and connects.
pub(super) fn start(options: &OpenOptions) -> Result<(Server, Session)> {
    let library = LIBRARY.get()?;
    let found = installation::find().map_err(|missing| missing.error(NAME))?;
    let home = Home::open(NAME, &options.dir, Account::ourselves())?;
    // Nothing of a killed server is removed: mongod creates its socket again, and its lock file
    // tells it that recovery is needed.
    let data = home.subdirectory("data")?;
    let mut args: Vec<OsString> = vec!["--dbpath".into(), data.into()];
    // The other option suppresses the socket that mongod would create in /tmp.
    args.extend(["--nounixsocket".into(), "--bind_ip".into()]);
    let url = |port| format!("mongodb://127.0.0.1:{port}/?directConnection=true");
    let ListenAddresses { local, for_others, port } =
        ListenAddresses::at(options.link, &home, SOCKET, url)?;
    match port {
        // A path among the addresses is a Unix socket, and if it is the only one, nothing else
        // listens
        // (https://www.mongodb.com/docs/v6.0/reference/program/mongod/#std-option-mongod.--bind_ip).
        None => args.push(home.path().join(SOCKET).into()),
        Some(port) => {
            // It does not ask for a password.
            server::require_isolated_network(NAME)?;
            args.extend(["127.0.0.1".into(), "--port".into(), port.to_string().into()]);
        }
    }
    args.extend(configuration(options, &found.version).into_iter().map(OsString::from));
    // SIGTERM is a clean shutdown
    // (https://www.mongodb.com/docs/v6.0/tutorial/manage-mongodb-processes/). It starts no child
    // processes, so nothing is left when it is killed.
    let mut spec = ServerSpec::new(&found.mongod, args);
    spec.env.extend(found.environment);
    // A driver that once found no server waits before it tries again, so each attempt uses a new
    // one.
    Server::start(spec, &home, |_| {
        let uri = Uri::new(library, &local)?;
        let session = Session::new(uri, DATABASE, for_others.clone());
        session.map_err(|failure| failure.to_string())
    })
}

/// Returns the server's settings. Everything else has MongoDB's defaults, as for any user,
/// including documents compressed by snappy.
fn configuration(options: &OpenOptions, version: &str) -> Vec<String> {
    let cache = options.memory.max(SMALLEST_CACHE);
    let sync = TIERS.for_tier(options.durability).set.engine_config.concat();
    // --wiredTigerCacheSizeGB accepts no less than 0.25 GB, whatever other engines have. Three
    // files of the journal are created in advance, with a default of 100 MB each.
    let engine = format!("cache_size={cache}B,log=(file_max=16MB){sync}");
    let ours = [
        (ENGINE_CONFIG, ["--wiredTigerEngineConfigString", &*engine]),
        // Compression gains nothing between processes on one machine.
        (COMPRESSORS, ["--networkMessageCompressors", "disabled"]),
        // Writes no samples for MongoDB's support to the disk that is measured.
        ("", ["--setParameter", "diagnosticDataCollectionEnabled=false"]),
    ];
    let ours = options.not_configured(ours).flat_map(|(_, option)| option);
    let mut args: Vec<_> = ours.map(str::to_owned).collect();
    for (name, value) in options.configured() {
        args.extend(settings::arguments(name, value));
    }
    args.extend(tier::arguments(options, version).iter().map(|&arg| arg.to_owned()));
    args
}
