//! A private InfluxDB server.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use embermark_model::Durability;

use super::installation;
use super::session::Session;
use super::udp::READ_BUFFER;
use super::{NAME, idle};
use crate::http::HttpClient;
use crate::server::address::ListenAddresses;
use crate::server::{self, Account, Home, Server, ServerSpec};
use crate::{EngineError, Link, OpenOptions, Result};

/// Name of the administrator, where there is a password.
const USER: &str = "embermark";

/// File of the administrator's password, in a folder of its own.
const PASSWORD: &str = "user/password";

const DATABASE: &str = "embermark";

/// Folder of the shards, in its folder.
pub(super) const DATA: &str = "data";

const MIB: u64 = 1024 * 1024;

/// Starts a server with these options and creates the database, unless it exists.
pub(super) fn start(options: &OpenOptions) -> Result<(Server, Session)> {
    let (influxd, _) = installation::find().map_err(|missing| missing.error(NAME))?;
    // A killed server leaves its socket, which influxd creates again.
    let home = Home::open(NAME, &options.dir, Account::ourselves())?;
    let password = password(&home, options.durability)?;
    let url = |port| format!("http://127.0.0.1:{port}");
    let ListenAddresses { local, for_others, port } =
        ListenAddresses::at(options.link, &home, "socket", url)?;
    let text = configuration(options, &home.path(), port.unwrap_or(0), password.is_some());
    let file = home.write("influxdb.conf", &text)?;
    // https://docs.influxdata.com/influxdb/v1.8/introduction/install/: a service ends by SIGTERM.
    // It closes its files, and leaves the cache's content to the log.
    let args = ["run".into(), "-config".into(), file.into()].to_vec();
    let mut spec = ServerSpec::new(&influxd, args);
    spec.env.extend(without_overrides(env::vars_os().map(|(name, _)| name)));
    spec.env.extend(options.settings.iter().map(|(name, value)| (variable(name), value.into())));
    let session_of = |user: Option<&str>| {
        Session::connect(HttpClient::new(NAME, DATABASE, user, &local, &for_others))
    };
    let (server, mut session) =
        Server::start(spec, &home, |_| session_of(None).map_err(|error| error.to_string()))?;
    let mut created = Ok(());
    if let Some(password) = password {
        // Until there is a first administrator, the only permitted action is to create one. An
        // administrator from an earlier start remains.
        let sql = format!("CREATE USER {USER} WITH PASSWORD '{password}' WITH ALL PRIVILEGES");
        created = session.execute(&sql);
        session = session_of(Some(&format!("{USER}:{password}")))?;
    }
    session.create_database().map_err(|error| created.err().unwrap_or(error))?;
    Ok((server, session))
}

/// Returns the administrator's password, if there is one. It is stored next to the database, which
/// has the administrator.
fn password(home: &Home, durability: Durability) -> Result<Option<String>> {
    if let Some(known) = home.read(PASSWORD)? {
        return Ok(Some(known));
    }
    // It listens on TCP whatever the link is.
    let Some(password) = server::password(NAME, Link::Loopback)? else { return Ok(None) };
    home.create_once("user", durability, |folder| {
        let file = folder.join("password");
        fs::write(&file, &password).map_err(|e| EngineError::file(NAME, "write", &file, e))
    })?;
    Ok(Some(password))
}

/// Returns the variables that would override lines of the configuration, with empty values, which
/// do not
/// (<https://docs.influxdata.com/influxdb/v1.8/administration/config/#environment-variables>).
/// Their names are `INFLUXDB_…`.
fn without_overrides(names: impl Iterator<Item = OsString>) -> Vec<(OsString, OsString)> {
    let ours = names.filter(|name| name.to_string_lossy().starts_with("INFLUXDB_"));
    ours.map(|name| (name, OsString::new())).collect()
}

/// Returns the variable that overrides a line of the configuration such as `data.wal-fsync-delay`.
pub(super) fn variable(name: &str) -> OsString {
    format!("INFLUXDB_{}", name.replace(['.', '-'], "_").to_ascii_uppercase()).into()
}

/// Returns the configuration (<https://docs.influxdata.com/influxdb/v1.8/administration/config/>).
/// Everything else has InfluxDB's defaults, including the in-memory index and the limits of
/// compaction.
fn configuration(options: &OpenOptions, home: &Path, port: u16, has_users: bool) -> String {
    let home = home.display();
    // The data being written and the data that arrives during the write are both in memory.
    let snapshot = (options.memory / 2).max(MIB);
    let cold = idle::COLD.as_millis();
    // TCP offers nothing that the Unix socket does not, but its listeners cannot be turned off.
    // They take free ports of the loopback address, which 0 asks for.
    let mut text = format!(
        r#"reporting-disabled = true
bind-address = "127.0.0.1:0"

[meta]
dir = "{home}/meta"
logging-enabled = false

[data]
dir = "{home}/{DATA}"
wal-dir = "{home}/wal"
wal-fsync-delay = "0s"
cache-snapshot-memory-size = {snapshot}
cache-snapshot-write-cold-duration = "{cold}ms"
compact-full-write-cold-duration = "{cold}ms"
query-log-enabled = false

[http]
bind-address = "127.0.0.1:{port}"
auth-enabled = {has_users}
unix-socket-enabled = true
unix-socket-permissions = "0700"
bind-socket = "{home}/socket"
log-enabled = false
pprof-enabled = false

[logging]
level = "warn"
suppress-logo = true

[monitor]
store-enabled = false

[subscriber]
enabled = false

[continuous_queries]
enabled = false

[retention]
enabled = false

[shard-precreation]
enabled = false
"#
    );
    if options.durability == Durability::None {
        text += &format!(
            r#"
[[udp]]
enabled = true
bind-address = "127.0.0.1:0"
database = "{DATABASE}"
precision = "n"
batch-size = 5000
batch-timeout = "10ms"
read-buffer = {READ_BUFFER}
"#
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_would_override_the_configuration_are_emptied() {
        let names = ["HOME", "INFLUXDB_HTTP_AUTH_ENABLED"].map(OsString::from);
        let added = without_overrides(names.into_iter());
        assert_eq!(variable("data.wal-fsync-delay"), "INFLUXDB_DATA_WAL_FSYNC_DELAY");
        assert_eq!(added, [("INFLUXDB_HTTP_AUTH_ENABLED".into(), OsString::new())]);
    }
}
