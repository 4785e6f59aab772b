//! A private PostgreSQL server.

use std::ffi::OsString;
use std::path::Path;

use nix::sys::signal::Signal;

use super::NAME;
use super::connection::Connection;
use super::installation::{self, Installation};
use super::library::LIBRARY;
use super::session::{Session, WHOLE};
use super::shared_memory;
use super::tier::TIERS;
use crate::server::{self, Home, Server, ServerSpec, address, run_to_end, template};
use crate::{Link, OpenOptions, Result};

/// Superuser of the private server, whichever user runs it.
const USER: &str = "postgres";

/// File of that user's password, if it has one.
const PASSWORD: &str = "password";

/// Starts a server with these options, on the existing database cluster or a new one, and connects.
pub(super) fn start(open: &OpenOptions) -> Result<(Server, Session)> {
    let library = LIBRARY.get()?;
    let Installation { initdb, postgres, version, account } =
        installation::find().map_err(|missing| missing.error(NAME))?;
    let home = Home::open(NAME, &open.dir, account)?;
    let data = home.create_once("data", open.durability, |data| {
        home.remove(PASSWORD)?;
        match server::password(NAME, open.link)? {
            Some(password) => {
                let file = home.write(PASSWORD, &password)?;
                initialise(&initdb, &home, data, Some(&file))
            }
            None => {
                // Everything that the cluster depends on. Its files belong to the server's user.
                let name = format!("postgres-{version}-trust-utf8-c-uid-{}", account.uid());
                template::fill(NAME, &name, data, |dir| make_template(&initdb, &home, dir))
            }
        }
    })?;
    // A killed server leaves it. It names a process, and the next server refuses to start if that
    // id is in use again. Debian's pg_ctlcluster removes it too once nothing runs there. The
    // sockets' folder corresponds to /run, which is empty after a boot.
    home.remove("data/postmaster.pid")?;
    let sockets = home.emptied("run")?;
    let mut args = vec!["-D".into(), data.into(), "-k".into(), sockets.into()];
    let (listen, host, port, password) = match open.link {
        // The server only listens on the Unix socket in its own folder.
        Link::Socket => ("", home.path_for_others().join("run").display().to_string(), 5432, None),
        Link::Loopback => {
            let password = home.read(PASSWORD)?;
            if password.is_none() {
                server::require_isolated_network(NAME)?;
            }
            ("127.0.0.1", "127.0.0.1".to_owned(), address::free_port(NAME)?, password)
        }
    };
    let listen = [format!("listen_addresses={listen}"), format!("port={port}")];
    // Later settings override earlier ones, so a configuration's come last.
    let own = open.settings.iter().map(|(name, value)| format!("{name}={value}"));
    for setting in configuration(open).into_iter().chain(listen).chain(own) {
        args.extend(["-c".into(), setting.into()]);
    }
    // Where this and any other process connects. The last four keep libpq from reading them from
    // the environment.
    let password = password.unwrap_or_default();
    let place = format!(
        "host={host} port={port} user={USER} dbname=postgres sslmode=disable hostaddr='' \
         options='' password='{password}'"
    );
    let connect = |_: &Home| Connection::open(library, &place);
    let (server, connection) = Server::start(spec(&postgres, args), &home, connect)?;
    Ok((server, Session::new(connection, WHOLE, &place, open.durability)))
}

/// Creates a database cluster in a folder of the server's user, then moves it to a template's.
fn make_template(initdb: &Path, home: &Home, dir: &Path) -> Result<()> {
    let first = home.emptied("first")?;
    initialise(initdb, home, &first, None)?;
    template::take(NAME, &first, dir)
}

/// Creates a database cluster in `data`. Connections by TCP need the password in that file, if there
/// is one.
fn initialise(initdb: &Path, home: &Home, data: &Path, password: Option<&Path>) -> Result<()> {
    // The whole cluster is synced afterwards, if asked for.
    let words = "--no-sync -U postgres -A trust -E UTF8 --locale=C -D".split(' ');
    let mut args: Vec<OsString> = words.map(OsString::from).collect();
    args.push(data.into());
    if let Some(file) = password {
        args.extend(["--auth-host=scram-sha-256".into(), "--pwfile".into(), file.into()]);
    }
    run_to_end(spec(initdb, args), home).inspect_err(|_| {
        // A killed initdb leaves the memory of the server that it had started.
        shared_memory::remove_once_unused(data);
    })
}

fn spec(program: &Path, args: Vec<OsString>) -> ServerSpec<'_> {
    ServerSpec {
        // https://www.postgresql.org/docs/18/server-shutdown.html: SIGINT is the fast shutdown,
        // which ends sessions and writes a checkpoint. SIGQUIT is the immediate shutdown, which
        // also ends the children, because each of them has left the process group.
        stop: Signal::SIGINT,
        abort: Signal::SIGQUIT,
        ..ServerSpec::new(program, args)
    }
}

const MIB: u64 = 1024 * 1024;

/// Returns the server's settings. Everything else has PostgreSQL's defaults, including autovacuum,
/// parallel queries, and compilation of long ones (jit), as for any user.
fn configuration(open: &OpenOptions) -> Vec<String> {
    let buffers = open.memory.max(16 * MIB) / 1024;
    // Memory of one sort or hash, in addition to the cache. The default of 4 MiB would make any
    // larger cache pointless for analytical queries, and 64 MiB for each is plenty.
    let work = (open.memory / 4).clamp(4 * MIB, 64 * MIB) / 1024;
    let of_tier = TIERS.for_tier(open.durability).words.split(", ");
    let of_tier = of_tier.filter(|setting| setting.contains('='));
    let mut all: Vec<String> = of_tier.map(str::to_owned).collect();
    all.extend([
        format!("shared_buffers={buffers}kB"),
        format!("work_mem={work}kB"),
        // A table filled in the transaction that created or truncated it needs no log
        // (https://www.postgresql.org/docs/18/populate.html), and there is no replication that
        // needs more.
        "wal_level=minimal".to_owned(),
        "max_wal_senders=0".to_owned(),
        // Checkpoints come from `maintain`, and not at a random moment of a trial, unless a load is
        // large (same page).
        "max_wal_size=2GB".to_owned(),
        "checkpoint_timeout=15min".to_owned(),
        // One connection for this process, and three reserved for superusers. A few more are for
        // observers. Each further client needs one, and a second if it runs queries of a workload
        // file.
        format!("max_connections={}", 7 + 2 * open.clients.max(1)),
        // A crash must be visible, and not be recovered from while the clock runs.
        "restart_after_crash=off".to_owned(),
        "unix_socket_permissions=0700".to_owned(),
        "logging_collector=off".to_owned(),
        "log_checkpoints=off".to_owned(),
        "timezone=UTC".to_owned(),
    ]);
    all
}
