//! A private Valkey server.

use std::ffi::OsString;

use super::NAME;
use super::installation;
use super::session::Session;
use super::settings::{MAX_MEMORY, SAVE, STOP};
use super::tier::{APPEND_ONLY, FSYNC, TIERS};
use super::uri::Uri;
use crate::server::address::ListenAddresses;
use crate::server::{self, Account, Home, Server, ServerSpec};
use crate::{OpenOptions, Result};

/// Name of its socket, in its folder.
const SOCKET: &str = "socket";

/// File of settings with its password, in its folder.
const PASSWORD: &str = "password.conf";

/// Folder of its files, in its folder.
pub(super) const DATA: &str = "data";

/// Starts a server with these options and connects.
pub(super) fn start(options: &OpenOptions) -> Result<(Server, Session)> {
    let (program, _) = installation::find().map_err(|missing| missing.error(NAME))?;
    let home = Home::open(NAME, &options.dir, Account::ourselves())?;
    // A killed server leaves its socket, which the next one creates again.
    let data = home.subdirectory(DATA)?;
    let password = server::password(NAME, options.link)?;
    let user = password.as_ref().map_or_else(String::new, |password| format!(":{password}@"));
    let url = |port| format!("valkey://{user}127.0.0.1:{port}");
    let ListenAddresses { local, for_others, port } =
        ListenAddresses::at(options.link, &home, SOCKET, url)?;
    // A separate file, because everybody can read a command line.
    let mut args: Vec<OsString> = Vec::new();
    if let Some(password) = &password {
        args.push(home.write(PASSWORD, &format!("requirepass {password}\n"))?.into());
    }
    args.extend(["--dir".into(), data.into()]);
    let mut set = |name: &str, value: OsString| args.extend([format!("--{name}").into(), value]);
    match port {
        // With port 0 it listens on none.
        None => {
            set("port", "0".into());
            set("unixsocket", home.path().join(SOCKET).into());
            set("unixsocketperm", "700".into());
        }
        Some(port) => {
            set("bind", "127.0.0.1".into());
            set("port", port.to_string().into());
        }
    }
    for (name, value) in configuration(options) {
        set(&name, value.into());
    }
    // SIGTERM is a clean shutdown: the append-only file is written and synced, or without one the
    // data if a setting requires it (https://valkey.io/topics/signals/).
    let spec = ServerSpec::new(&program, args);
    Server::start(spec, &home, |_| {
        let uri = Uri::new(&local)?;
        let session = Session::new(uri, String::new(), for_others.clone());
        session.map_err(|failure| failure.to_string())
    })
}

/// Returns the server's settings. Everything else has Valkey's defaults: one thread executes
/// commands, and the append-only file is rewritten when it has doubled.
fn configuration(options: &OpenOptions) -> Vec<(String, String)> {
    let tier = &TIERS.for_tier(options.durability).set;
    // Rewriting the file can take twice the memory (https://valkey.io/topics/admin/#memory).
    let most = options.limit.map_or(0, |limit| limit / 2);
    let ours = [
        (SAVE, String::new()),
        (APPEND_ONLY, if tier.appends { "yes" } else { "no" }.to_owned()),
        (FSYNC, tier.fsync.to_owned()),
        (STOP, if tier.appends { "default" } else { "save" }.to_owned()),
        (MAX_MEMORY, most.to_string()),
    ];
    let ours = options.not_configured(ours).map(|(name, value)| (name.to_owned(), value));
    let own = options.configured().map(|(name, value)| (name.to_owned(), value.to_owned()));
    ours.chain(own).collect()
}
