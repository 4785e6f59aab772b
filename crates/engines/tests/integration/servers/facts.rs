//! What a test needs to know of each server engine to inspect its server from outside.

use std::fs;
use std::ops::RangeInclusive;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use embermark_engines::registry::ENGINES;
use embermark_engines::sql::{ResultRow, SqlStore};
use embermark_engines::{Kind, Link, Store};
use embermark_model::Durability;

use crate::server::ServerEngine;
use embermark_skips::sampled;

/// Names and values of settings.
type Settings = &'static [(&'static str, &'static str)];

pub struct Facts {
    pub engine: ServerEngine,
    /// The variable that names its programs.
    pub variable: &'static str,
    pub library: Option<ClientLibrary>,
    /// The number of processes of its server.
    pub processes: RangeInclusive<usize>,
    /// Whether the server refuses to run as root.
    pub refuses_root: bool,
    /// The Unix socket, below the server's folder, and its mode if the server restricts access
    /// by it.
    pub socket: &'static str,
    pub socket_mode: Option<u32>,
    /// The protocols by which it can also be reached over the loopback address.
    pub loopback: &'static [&'static str],
    /// The settings read back in every tier, and in each tier, from the weakest on.
    pub settings: Settings,
    pub tiers: [Settings; 3],
    pub refusal: Refusal,
    /// Words of its log when it refuses to start, of which one must appear.
    pub refusal_words: &'static [&'static str],
    /// Inspects what a stopped server has left behind.
    pub left: fn(&Path),
    /// How it is given by URL, if a private server can stand for a user's own.
    pub given: Option<Given>,
    /// The URL of a server that does not exist, and the words for where it was looked for.
    pub unreached: (&'static str, &'static str),
    /// The form of its URLs.
    pub url_form: &'static str,
}

/// A client library that is opened at run time.
pub struct ClientLibrary {
    /// The variable that names its folder.
    pub variable: &'static str,
    pub file: &'static str,
    /// The setting that holds its version, the text before the version, and the minimum of its
    /// first number.
    pub setting: &'static str,
    pub before: &'static str,
    pub major: RangeInclusive<u32>,
}

/// What a server refuses to start with.
pub enum Refusal {
    /// This much memory.
    Memory(u64),
    /// A program, made in a folder.
    Program(fn(ServerEngine, &Path) -> PathBuf),
}

/// How a private server acts as a user's server.
pub struct Given {
    /// The tier of that server, and how it is reached.
    pub owner: Durability,
    pub link: Link,
    /// Returns its URL from its folder and from how another process joins its database.
    pub url: fn(&Path, &str) -> String,
    /// The tier that is requested by URL, and the settings read back.
    pub tier: Durability,
    pub settings: Settings,
    /// The tier that it keeps then.
    pub keeps: Durability,
    /// Whether it has a cache.
    pub caches: bool,
    /// If this is read back, it is too weak for the tier `power`.
    pub too_weak: Option<(&'static str, &'static str)>,
    /// Returns its databases or schemas, from the owner's store or from the URL.
    pub databases: fn(&mut Store, &str) -> Vec<String>,
}

/// Returns the facts of every server engine of this build that starts a server.
pub fn all() -> impl Iterator<Item = &'static Facts> {
    let servers = ENGINES.iter().filter(|e| e.info().kind == Kind::Server && !e.is_given());
    servers.map(|engine| {
        let id = engine.info().id;
        let found = FACTS.iter().find(|facts| facts.engine.0 == id);
        let found = found.unwrap_or_else(|| panic!("no facts of {id}"));
        println!("{id}");
        found
    })
}

/// Returns those that can run here: one, as [`sampled`], or all.
pub fn here() -> impl Iterator<Item = &'static Facts> {
    sampled(all().filter(|facts| facts.engine.is_here()), 1).into_iter()
}

static FACTS: &[Facts] = &[
    Facts {
        engine: ServerEngine("postgres"),
        variable: "EMBERMARK_POSTGRES_BIN",
        library: Some(ClientLibrary {
            variable: "LIBPQ_LIB_DIR",
            file: "libpq.so",
            setting: "libpq",
            before: "",
            major: 9..=u32::MAX,
        }),
        processes: 4..=usize::MAX,
        refuses_root: true,
        socket: "run/.s.PGSQL.5432",
        socket_mode: Some(0o700),
        loopback: &[],
        settings: &[
            ("work_mem", "8MB"),
            ("max_wal_size", "2GB"),
            ("checkpoint_timeout", "15min"),
            ("shared_buffers", "32MB"),
            ("wal_level", "minimal"),
            ("listen_addresses", ""),
        ],
        tiers: [
            &[
                ("fsync", "off"),
                ("synchronous_commit", "off"),
                ("full_page_writes", "off"),
                ("relpersistence", "unlogged"),
            ],
            &[
                ("fsync", "off"),
                ("synchronous_commit", "on"),
                ("full_page_writes", "on"),
                ("relpersistence", "permanent"),
            ],
            &[
                ("fsync", "on"),
                ("synchronous_commit", "on"),
                ("full_page_writes", "on"),
                ("relpersistence", "permanent"),
            ],
        ],
        refusal: Refusal::Memory(1 << 50),
        refusal_words: &["shared_buffers"],
        left: run_is_empty,
        given: Some(Given {
            owner: Durability::Process,
            link: Link::Socket,
            url: |dir, _| format!("postgres://postgres@{}/postgres", encoded(&dir.join("run"))),
            tier: Durability::None,
            settings: &[("synchronous_commit", "off"), ("fsync", "off")],
            keeps: Durability::None,
            caches: true,
            too_weak: Some(("fsync", "off")),
            databases: |owner, _| {
                texts(owner, "SELECT nspname::text FROM pg_namespace WHERE nspname !~ '^pg_'")
            },
        }),
        unreached: ("postgres://me:hunter2@127.0.0.1:1/db", "connect to 127.0.0.1, port 1"),
        url_form: "postgres://user:password@host",
    },
    Facts {
        engine: ServerEngine("mariadb"),
        variable: "EMBERMARK_MARIADB_DIR",
        library: Some(ClientLibrary {
            variable: "MARIADB_LIB_DIR",
            file: "libmariadb.so",
            setting: "client library",
            before: "MariaDB Connector/C ",
            major: 3..=u32::MAX,
        }),
        processes: 1..=1,
        refuses_root: false,
        socket: "run/socket",
        socket_mode: None,
        loopback: &[],
        settings: &[
            ("innodb_buffer_pool_size", "33554432"),
            ("innodb_log_file_size", "100663296"),
            ("tmp_table_size", "33554432"),
            ("max_heap_table_size", "33554432"),
            ("log_bin", "OFF"),
            ("skip_networking", "ON"),
        ],
        tiers: [
            &[
                ("innodb_flush_log_at_trx_commit", "0"),
                ("innodb_flush_log_at_timeout", "2700"),
                ("innodb_doublewrite", "OFF"),
                ("innodb_flush_method", "O_DIRECT_NO_FSYNC"),
            ],
            &[
                ("innodb_flush_log_at_trx_commit", "2"),
                ("innodb_flush_log_at_timeout", "2700"),
                ("innodb_doublewrite", "ON"),
                ("innodb_flush_method", "O_DIRECT"),
            ],
            &[
                ("innodb_flush_log_at_trx_commit", "1"),
                ("innodb_flush_log_at_timeout", "1"),
                ("innodb_doublewrite", "ON"),
                ("innodb_flush_method", "O_DIRECT"),
            ],
        ],
        refusal: Refusal::Memory(1 << 50),
        refusal_words: &["buffer_pool_size", "buffer pool"],
        left: |dir| {
            run_is_empty(dir);
            let log = fs::read_to_string(dir.with_extension("log")).unwrap();
            assert!(log.contains("Shutdown complete") && !log.contains("[ERROR]"), "{log}");
        },
        given: Some(Given {
            owner: Durability::Process,
            link: Link::Socket,
            url: |dir, _| {
                format!("mysql://root@localhost/mysql?socket={}", dir.join("run/socket").display())
            },
            tier: Durability::None,
            settings: &[("innodb_flush_log_at_trx_commit", "2")],
            keeps: Durability::Process,
            caches: true,
            too_weak: Some(("innodb_flush_log_at_trx_commit", "2")),
            databases: |owner, _| texts(owner, "SHOW DATABASES"),
        }),
        unreached: ("mysql://me:hunter2@127.0.0.1:1/db", "connect to 127.0.0.1, port 1"),
        url_form: "mysql://user:password@host",
    },
    Facts {
        engine: ServerEngine("mongodb"),
        variable: "EMBERMARK_MONGOD",
        library: Some(ClientLibrary {
            variable: "MONGOC_LIB_DIR",
            file: "libmongoc-1.0.so",
            setting: "libmongoc",
            before: "",
            major: 1..=1,
        }),
        processes: 1..=1,
        refuses_root: false,
        socket: "mongod.sock",
        socket_mode: Some(0o700),
        loopback: &[],
        settings: &[
            ("wiredTiger.cache.maximum bytes configured", "33554432"),
            ("storage.engine", "wiredTiger"),
        ],
        tiers: [
            &[
                ("writeConcern", "w: 1, j: false (as set)"),
                (
                    "storage.wiredTiger.engineConfig.configString",
                    "cache_size=33554432B,log=(file_max=16MB),checkpoint_sync=false",
                ),
            ],
            &[
                ("writeConcern", "w: 1, j: false (as set)"),
                (
                    "storage.wiredTiger.engineConfig.configString",
                    "cache_size=33554432B,log=(file_max=16MB),\
                     transaction_sync=(enabled=true,method=none),checkpoint_sync=false",
                ),
                ("storage.journal", "true"),
                ("wiredTiger.log.maximum log file size", "16777216"),
            ],
            &[
                ("writeConcern", "w: 1, j: true (as set)"),
                (
                    "storage.wiredTiger.engineConfig.configString",
                    "cache_size=33554432B,log=(file_max=16MB)",
                ),
                ("storage.journal", "true"),
                ("wiredTiger.log.maximum log file size", "16777216"),
            ],
        ],
        refusal: Refusal::Memory(1 << 60),
        refusal_words: &["cache_size"],
        // A clean shutdown empties its lock file and removes its socket.
        left: |dir| {
            assert_eq!(fs::metadata(dir.join("data/mongod.lock")).unwrap().len(), 0);
            assert!(!dir.join("mongod.sock").exists());
        },
        given: Some(Given {
            owner: Durability::None,
            link: Link::Socket,
            url: |dir, _| {
                let socket = encoded(&dir.join("mongod.sock"));
                format!("mongodb://{socket}/?directConnection=true")
            },
            tier: Durability::None,
            settings: &[],
            keeps: Durability::None,
            caches: true,
            // From 6.1 on there is always a journal.
            too_weak: Some(("storage.journal", "false")),
            #[cfg(feature = "mongodb")]
            databases: |_, url| crate::mongodb::client::Client::new(url).databases(),
            #[cfg(not(feature = "mongodb"))]
            databases: |_, _| Vec::new(),
        }),
        unreached: (
            "mongodb://me:hunter2@127.0.0.1:1/?directConnection=true&serverSelectionTimeoutMS=300",
            "connect to 127.0.0.1:1",
        ),
        url_form: "mongodb://user:password@host",
    },
    #[cfg(feature = "valkey")]
    Facts {
        engine: ServerEngine("valkey"),
        variable: "EMBERMARK_VALKEY",
        library: None,
        processes: 1..=1,
        refuses_root: false,
        socket: "socket",
        socket_mode: Some(0o700),
        loopback: &[],
        settings: &[("save", ""), ("maxmemory", "0"), ("maxmemory-policy", "noeviction")],
        tiers: [
            &[("appendonly", "no"), ("shutdown-on-sigterm", "save")],
            &[("appendonly", "yes"), ("appendfsync", "no")],
            &[("appendonly", "yes"), ("appendfsync", "always")],
        ],
        // This is the real program with a directive that it does not know.
        refusal: Refusal::Program(|engine, dir| {
            let script = format!(
                "#!/bin/sh\n[ \"$1\" = --version ] && exec {0} --version\n\
                 exec {0} --nowhere 1\n",
                engine.program("valkey-server").display()
            );
            let program = dir.join("valkey-server");
            fs::write(&program, script).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            program
        }),
        refusal_words: &["nowhere"],
        left: |dir| assert!(!dir.join("socket").exists()),
        given: Some(Given {
            owner: Durability::Process,
            link: Link::Loopback,
            url: |_, at| at.split_once(' ').unwrap().1.to_owned(),
            tier: Durability::None,
            settings: &[("appendonly", "yes"), ("appendfsync", "no")],
            keeps: Durability::Process,
            caches: false,
            too_weak: Some(("appendfsync", "no")),
            databases: |_, url| super::valkey::guests(url),
        }),
        unreached: ("valkey://me:hunter2@127.0.0.1:1", "127.0.0.1:1"),
        url_form: "valkey://user:password@host",
    },
    Facts {
        engine: ServerEngine("influxdb"),
        variable: "EMBERMARK_INFLUXD",
        library: None,
        processes: 1..=1,
        refuses_root: false,
        socket: "socket",
        socket_mode: Some(0o700),
        // Its listeners cannot be turned off, and in the tier `none` points are sent over UDP.
        loopback: &["tcp", "udp"],
        settings: &[
            ("data.wal-fsync-delay", "0s"),
            ("data.cache-snapshot-memory-size", "16777216"),
        ],
        tiers: [
            &[("udp.batch-timeout", "10ms")],
            &[("udp.batch-timeout", "absent")],
            &[("udp.batch-timeout", "absent")],
        ],
        // This is the real program with a configuration that does not exist.
        refusal: Refusal::Program(|engine, dir| {
            let script = format!(
                "#!/bin/sh\n[ \"$1\" = version ] && exec {0} version\n\
                 exec {0} run -config /nowhere.conf\n",
                engine.program("influxd").display()
            );
            let program = dir.join("influxd");
            fs::write(&program, script).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            program
        }),
        refusal_words: &["/nowhere.conf"],
        left: |_| {},
        given: Some(Given {
            owner: Durability::Process,
            link: Link::Loopback,
            url: |_, at| url_of(at),
            tier: Durability::Power,
            settings: &[("data.wal-fsync-delay", "0s")],
            keeps: Durability::Power,
            caches: true,
            too_weak: None,
            databases: |owner, _| {
                let Store::Series(owner) = owner else { panic!("no series store") };
                let mut names = Vec::new();
                let mut visit = |row: &dyn ResultRow| {
                    names.extend(row.text(0)?.map(str::to_owned));
                    Ok(())
                };
                owner.query("SHOW DATABASES", &["name"], &mut visit).unwrap();
                names
            },
        }),
        unreached: ("http://me:hunter2@127.0.0.1:1", "127.0.0.1:1"),
        url_form: "http://user:password@host",
    },
    Facts {
        engine: ServerEngine("harperdb"),
        variable: "EMBERMARK_HARPERDB",
        library: None,
        processes: 1..=usize::MAX,
        refuses_root: false,
        socket: "data/root/operations-server",
        socket_mode: None,
        loopback: &[],
        settings: &[
            ("threads.count", "1"),
            ("logging.auditLog", "false"),
            ("http.port", "null"),
            ("operationsApi.network.port", "null"),
            ("mqtt.network.port", "null"),
        ],
        tiers: [
            &[("storage.writeAsync", "true")],
            &[("storage.writeAsync", "false")],
            &[("storage.writeAsync", "false")],
        ],
        // This is a package of that name that gives up.
        refusal: Refusal::Program(|_, dir| {
            fs::create_dir(dir.join("bin")).unwrap();
            let package = r#"{"name": "harperdb", "version": "0.0.0"}"#;
            fs::write(dir.join("package.json"), package).unwrap();
            let program = "console.error('no licence'); process.exit(3);";
            fs::write(dir.join("bin/harperdb.js"), program).unwrap();
            dir.to_owned()
        }),
        refusal_words: &["no licence"],
        left: |dir| assert!(!dir.join("data/root/operations-server").exists()),
        // A private one is reached only by its socket; `harperdb.rs` tests a user's own.
        given: None,
        unreached: ("http://me:hunter2@127.0.0.1:1", "127.0.0.1:1"),
        url_form: "http://user:password@host",
    },
];

fn run_is_empty(dir: &Path) {
    assert!(fs::read_dir(dir.join("run")).unwrap().next().is_none());
}

/// Returns the URL of a private InfluxDB from how another process joins it: a database, a user, a
/// URL.
fn url_of(at: &str) -> String {
    let [_, user, url] = at.split(' ').collect::<Vec<_>>().try_into().unwrap();
    url.replace("http://", &format!("http://{user}@"))
}

/// Returns a path as the host of a URL.
fn encoded(path: &Path) -> String {
    path.to_str().unwrap().replace('/', "%2F")
}

/// Returns the texts with which an SQL store answers.
fn texts(store: &mut Store, sql: &str) -> Vec<String> {
    let Store::Sql(store) = store else { panic!("no SQL store") };
    let store: &mut dyn SqlStore = &mut **store;
    let statement = store.prepare(sql).unwrap();
    let mut found = Vec::new();
    let mut visit = |row: &dyn ResultRow| {
        found.extend(row.text(0)?.map(str::to_owned));
        Ok(())
    };
    store.query(statement, &[], &mut visit).unwrap();
    found
}
