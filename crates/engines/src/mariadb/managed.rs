//! A private MariaDB server.

use std::ffi::OsString;
use std::path::Path;

use nix::unistd::geteuid;

use super::NAME;
use super::installation::{self, Installation};
use super::library::LIBRARY;
use super::session::Session;
use super::target::Target;
use super::tier::TIERS;
use crate::server::address::ListenAddresses;
use crate::server::{self, Account, Home, Server, ServerSpec, run_to_end, template};
use crate::{EngineError, OpenOptions, Result};

pub(super) const DATABASE: &str = "embermark";

const MIB: u64 = 1024 * 1024;

/// Least memory that InnoDB starts with: "innodb_page_size=16384 requires innodb_buffer_pool_size
/// >= 6 MiB", it reports.
const LEAST_MEMORY: u64 = 6 * MIB;

/// Size of the log while the system tables are created. The server creates another one when it
/// starts, and this one only has to be copied.
const TEMPLATE_LOG: &str = "--innodb-log-file-size=4M";

/// Starts a server with these options, on the existing data directory or a new one, and connects.
pub(super) fn start(options: &OpenOptions) -> Result<(Server, Session)> {
    let library = LIBRARY.get()?;
    let found = installation::find().map_err(|missing| missing.error(NAME))?;
    let home = Home::open(NAME, &options.dir, Account::ourselves())?;
    home.subdirectory("tmp")?;
    // Everything that the system tables depend on. The user is included because it owns the files,
    // and a home can be shared, for example with root.
    let name = format!("mariadb-{}-root-without-password-uid-{}", found.version, geteuid());
    let data = home.create_once("data", options.durability, |data| {
        template::fill(NAME, &name, data, |data| initialise(&found, &home, data))
    })?;
    // The socket and the pid file, perhaps of a killed server. The folder corresponds to
    // /run/mysqld, which is empty after a boot. The next server handles what else a killed one
    // left: it removes its temporary tables, and the kernel has released its locks.
    let run = home.emptied("run")?;
    let mut args = first_arguments(&found, &home, &data);
    args.push(path_argument("--socket=", &run.join("socket")));
    args.push(path_argument("--pid-file=", &run.join("pid")));
    args.extend(configuration(options).into_iter().map(OsString::from));
    // Later settings override earlier ones, so a configuration's come last.
    let own = options.settings.iter().map(|(name, value)| format!("--{name}={value}"));
    args.extend(own.map(OsString::from));
    let password = server::password(NAME, options.link)?;
    if let Some(password) = &password {
        // Run before anybody can connect (https://mariadb.com/kb/en/init_file/).
        let of = |host| format!("ALTER USER IF EXISTS root@'{host}' IDENTIFIED BY '{password}';\n");
        let first = ["localhost", "127.0.0.1", "::1"].map(of).concat();
        args.push(path_argument("--init-file=", &home.write("first.sql", &first)?));
    }
    let password = password.unwrap_or_default();
    let url = |port: u16| format!("mysql://root:{password}@127.0.0.1:{port}/");
    let listen = ListenAddresses::at(options.link, &home, "run/socket", url)?;
    match listen.port {
        // The server only listens on the Unix socket in its own folder.
        None => args.push("--skip-networking".into()),
        Some(port) => {
            args.extend(["--bind-address=127.0.0.1".into(), format!("--port={port}").into()]);
        }
    }
    let target = Target::of(&listen.local);
    let target = target.map_err(|why| EngineError::failed(NAME, "read its URL", why))?;
    let connect = |_: &Home| {
        let session = Session::connect(library, target.clone(), listen.for_others.clone());
        session.map_err(|failure| failure.to_string())
    };
    // SIGTERM is a normal shutdown: transactions are ended and pages written
    // (https://mariadb.com/kb/en/shutdown/).
    let (server, session) = Server::start(ServerSpec::new(&found.mariadbd, args), &home, connect)?;
    Ok((server, session.create(DATABASE, false)?))
}

/// Creates the system tables. `root` needs no password, which is safe for a socket in a folder
/// closed to others (<https://mariadb.com/kb/en/mariadb-install-db/>).
fn initialise(found: &Installation, home: &Home, data: &Path) -> Result<()> {
    let mut args = first_arguments(found, home, data);
    let words = ["--auth-root-authentication-method=normal", "--skip-test-db"];
    args.extend(words.map(OsString::from));
    // Without looking up this machine's name, which can wait for a name server.
    args.extend(["--force", "--skip-name-resolve", TEMPLATE_LOG].map(OsString::from));
    run_to_end(ServerSpec::new(&found.install_db, args), home)
}

/// `--no-defaults` must come first. A server run by root needs an option to run as root, in the
/// option's short form, because `mariadb-install-db` would understand `--user` as a request to
/// change the owners of the *installation's* files.
fn first_arguments(found: &Installation, home: &Home, data: &Path) -> Vec<OsString> {
    let mut args = vec!["--no-defaults".into()];
    args.extend(found.base.as_ref().map(|base| path_argument("--basedir=", base)));
    if geteuid().is_root() {
        args.push("-uroot".into());
    }
    // A separate folder for temporary tables. A starting server removes all that it finds, and
    // those in `/tmp` could be another server's.
    args.push(path_argument("--tmpdir=", &home.path().join("tmp")));
    args.push(path_argument("--datadir=", data));
    args
}

fn path_argument(name: &str, path: &Path) -> OsString {
    let mut argument = OsString::from(name);
    argument.push(path);
    argument
}

/// Returns the server's settings. Everything else has MariaDB's defaults, including the log's 96
/// MiB: a smaller log would make the server write pages in the middle of a trial.
fn configuration(options: &OpenOptions) -> Vec<String> {
    let pool = options.memory.max(LEAST_MEMORY);
    // A larger intermediate result goes to disk, whatever the cache: at least the default of 16
    // MiB, and plenty with a large cache.
    let work = options.memory.clamp(16 * MIB, 64 * MIB);
    // At start, because that determines how the log is written, and SET GLOBAL does not.
    let of_tier = TIERS.for_tier(options.durability).words.split(", ");
    let mut all: Vec<String> = of_tier.map(|setting| format!("--{setting}")).collect();
    all.extend([
        format!("--innodb-buffer-pool-size={pool}"),
        "--innodb-log-file-size=96M".to_owned(),
        "--innodb-monitor-enable=log_checkpoints".to_owned(),
        format!("--tmp-table-size={work}"),
        format!("--max-heap-table-size={work}"),
        // Caches of engines without tables of a workload: Aria has system tables and intermediate
        // results on disk, and MyISAM has nothing.
        "--aria-pagecache-buffer-size=8M".to_owned(),
        "--key-buffer-size=1M".to_owned(),
        "--query-cache-type=OFF".to_owned(),
        "--query-cache-size=0".to_owned(),
        "--performance-schema=OFF".to_owned(),
        "--skip-log-bin".to_owned(),
        "--innodb-buffer-pool-load-at-startup=OFF".to_owned(),
        "--innodb-buffer-pool-dump-at-shutdown=OFF".to_owned(),
        // A few connections for this process and for observers. Each further client needs one, and
        // a second if it runs queries of a workload file.
        format!("--max-connections={}", 9 + 2 * options.clients.max(1)),
        "--skip-name-resolve".to_owned(),
        // Nobody needs it here. Since 11.4 a server makes a key for it at every start, which takes
        // half a minute (https://mariadb.com/kb/en/securing-connections-for-client-and-server/).
        "--skip-ssl".to_owned(),
        // The stack of a crash goes to the log, which is standard error, and not to another file.
        "--console".to_owned(),
    ]);
    all
}
