//! A private MariaDB server.

use std::ffi::OsString;
use std::path::Path;

use nix::unistd::geteuid;

use super::NAME;
use super::installation::{self, Installation};
use super::library::LIBRARY;
use super::session::Session;
use super::target::Target;
use super::tier::{TIERS, Variables};
use crate::server::address::{self, Address};
use crate::server::{self, Account, Home, Server, ServerSpec, run_to_end, template};
use crate::{EngineError, Link, OpenOptions, Result};

/// The database of a private server.
pub(super) const DATABASE: &str = "embermark";

const MIB: u64 = 1024 * 1024;

/// The least that InnoDB starts with: "innodb_page_size=16384 requires innodb_buffer_pool_size >=
/// 6 MiB", it says.
const LEAST_MEMORY: u64 = 6 * MIB;

/// Of the log while the system tables are made. The server makes its own when it starts; this one
/// only has to be copied.
const TEMPLATE_LOG: &str = "--innodb-log-file-size=4M";

/// Starts a server as `options` say, on the data directory that is there or a new one, and
/// connects.
pub(super) fn start(options: &OpenOptions) -> Result<(Server, Session)> {
    let library = LIBRARY.get()?;
    let found = installation::find().map_err(|missing| missing.error(NAME))?;
    let home = Home::open(NAME, &options.dir, Account::ourselves())?;
    home.subdirectory(NAME, "tmp")?;
    let data = home.made(NAME, "data", options.durability, |data| {
        template::fill(NAME, &template_name(&found), data, |data| initialise(&found, &home, data))
    })?;
    // The socket and the file of the process's number, of a server that was killed perhaps: it
    // stands for /run/mysqld, which is empty after a boot. What else such a server left is the next
    // one's to deal with: it removes its temporary tables, and the kernel has let go of its locks.
    let run = home.emptied(NAME, "run")?;
    let socket = run.join("socket");
    let mut args = first_arguments(&found);
    args.push(temporary(&home));
    args.push(path_argument("--datadir=", &data));
    args.push(path_argument("--socket=", &socket));
    args.push(path_argument("--pid-file=", &run.join("pid")));
    args.extend(configuration(options).into_iter().map(OsString::from));
    // Of what is said twice the last counts: the settings of a configuration.
    let own = options.settings.iter().map(|(name, value)| format!("--{name}={value}"));
    args.extend(own.map(OsString::from));
    let (target, elsewhere) = match options.link {
        Link::Socket => {
            // Nothing listens but the Unix socket in the server's own directory.
            args.push("--skip-networking".into());
            let elsewhere = home.path_elsewhere().join("run/socket");
            (Target::socket(&socket), Address::Socket(elsewhere))
        }
        Link::Loopback => {
            let port = address::free_port(NAME)?;
            args.extend(["--bind-address=127.0.0.1".into(), format!("--port={port}").into()]);
            let password = server::password(NAME)?;
            if let Some(password) = &password {
                // Run before anybody is let in (https://mariadb.com/kb/en/init_file/).
                let of = |host| {
                    format!("ALTER USER IF EXISTS root@'{host}' IDENTIFIED BY '{password}';\n")
                };
                let first = ["localhost", "127.0.0.1", "::1"].map(of).concat();
                let first = home.write(NAME, "first.sql", &first)?;
                args.push(path_argument("--init-file=", &first));
            }
            let password = password.unwrap_or_default();
            let url = format!("mysql://root:{password}@127.0.0.1:{port}/");
            let target = Target::of_url(&url);
            let could_not = |why| EngineError::failed(NAME, "read its URL", why);
            (target.map_err(could_not)?, Address::Url(url))
        }
    };
    let connect = |_: &Home| {
        let session = Session::connect(library, target.clone(), elsewhere.clone());
        session.map_err(|failure| failure.to_string())
    };
    // SIGTERM is a normal shutdown: transactions are ended and pages written
    // (https://mariadb.com/kb/en/shutdown/).
    let (server, session) =
        Server::start(ServerSpec::new(NAME, &found.mariadbd, args), &home, connect)?;
    Ok((server, session.create(DATABASE, false)?))
}

/// Everything the system tables depend on. The user is part of it, because the files are his, and
/// a home may be shared: with root, say.
fn template_name(found: &Installation) -> String {
    format!("mariadb-{}-root-without-password-uid-{}", found.version, geteuid())
}

/// Makes the system tables: `root` needs no password, which is safe behind a socket in a directory
/// closed to others (<https://mariadb.com/kb/en/mariadb-install-db/>).
fn initialise(found: &Installation, home: &Home, data: &Path) -> Result<()> {
    let mut args = first_arguments(found);
    args.push(temporary(home));
    args.push(path_argument("--datadir=", data));
    let words = ["--auth-root-authentication-method=normal", "--skip-test-db"];
    args.extend(words.map(OsString::from));
    // No look-up of this machine's name, which can take as long as a name server likes.
    args.extend(["--force", "--skip-name-resolve", TEMPLATE_LOG].map(OsString::from));
    run_to_end(ServerSpec::new(NAME, &found.install_db, args), home)
}

/// `--no-defaults` has to come first. As root the server has to be told that it shall be root, and
/// that in its short form: `mariadb-install-db` takes `--user` as a wish to change the owners of
/// the *installation's* files.
fn first_arguments(found: &Installation) -> Vec<OsString> {
    let mut args = vec!["--no-defaults".into()];
    args.extend(found.base.as_ref().map(|base| path_argument("--basedir=", base)));
    if geteuid().is_root() {
        args.push("-uroot".into());
    }
    args
}

/// A folder of its own for temporary tables: when a server starts it removes all that it finds,
/// and in `/tmp` those may be another server's.
fn temporary(home: &Home) -> OsString {
    path_argument("--tmpdir=", &home.path().join("tmp"))
}

fn path_argument(name: &str, path: &Path) -> OsString {
    let mut argument = OsString::from(name);
    argument.push(path);
    argument
}

/// What the server is started with. What is not named here is MariaDB's default, the log's 96 MiB
/// among it: a smaller log would have pages written in the middle of a trial.
fn configuration(options: &OpenOptions) -> Vec<String> {
    let Variables { flush_log_at_trx_commit, doublewrite, flush_method, .. } =
        TIERS.of(options.durability).set;
    let pool = options.memory.max(LEAST_MEMORY);
    // A result in between that is larger goes to disk, whatever the cache: no less than the
    // default of 16 MiB, and of a large cache what is plenty.
    let work = options.memory.clamp(16 * MIB, 64 * MIB);
    vec![
        // At start, because the way the log is written is chosen by it then, not by SET GLOBAL.
        format!("--innodb-flush-log-at-trx-commit={flush_log_at_trx_commit}"),
        format!("--innodb-doublewrite={}", u8::from(doublewrite)),
        format!("--innodb-flush-method={flush_method}"),
        format!("--innodb-buffer-pool-size={pool}"),
        "--innodb-log-file-size=96M".to_owned(),
        "--innodb-monitor-enable=log_checkpoints".to_owned(),
        format!("--tmp-table-size={work}"),
        format!("--max-heap-table-size={work}"),
        // Caches of engines that hold no table of ours: Aria keeps system tables and results in
        // between that went to disk, MyISAM nothing.
        "--aria-pagecache-buffer-size=8M".to_owned(),
        "--key-buffer-size=1M".to_owned(),
        "--query-cache-type=OFF".to_owned(),
        "--query-cache-size=0".to_owned(),
        "--performance-schema=OFF".to_owned(),
        "--skip-log-bin".to_owned(),
        "--innodb-buffer-pool-load-at-startup=OFF".to_owned(),
        "--innodb-buffer-pool-dump-at-shutdown=OFF".to_owned(),
        // One connection of ours, one to look at it, and one more for each client that runs queries of a
        // workload file.
        format!("--max-connections={}", 9 + 2 * options.clients.max(1)),
        "--skip-name-resolve".to_owned(),
        // Nobody asks for it here, and since 11.4 a server makes a key for it whenever it starts, which
        // takes it half a minute (https://mariadb.com/kb/en/securing-connections-for-client-and-server/).
        "--skip-ssl".to_owned(),
        // No stack of a crash on some other file: the log is standard error.
        "--console".to_owned(),
    ]
}
