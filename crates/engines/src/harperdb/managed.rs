//! A private HarperDB server.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use embermark_model::Durability;

use super::NAME;
use super::installation::{self, Installation};
use super::rest::{self, Rest};
use super::session::Session;
use super::tier::TIERS;
use crate::http::HttpClient;
use crate::server::address::ListenAddresses;
use crate::server::{self, Account, Home, Server, ServerSpec, template};
use crate::{EngineError, Link, OpenOptions, Result};

/// The database that holds the tables.
const DATABASE: &str = "data";

/// The super user. Each template has a new password.
const USER: &str = "embermark";

/// Placeholder in a template for the path of the folder in which the template was made.
const PATH_PLACEHOLDER: &str = "@EMBERMARK@";

/// The file of a template that holds the password, readable only by its owner.
const PASSWORD: &str = "password";

/// The script that sets the password at the first start.
const SCRIPT: &str = "password.cjs";

/// Unix socket of the operations API in the server's folder, and the setting of its port.
const SOCKET: &str = "root/operations-server";
const PORT: &str = "OPERATIONSAPI_NETWORK_PORT";

/// Files that contain paths of their own folder. The second one records the path of that folder.
const FILES_WITH_PATHS: [&str; 2] =
    ["home/.harperdb/hdb_boot_properties.file", "root/harperdb-config.yaml"];

/// Starts a server on the existing data, or on a copy of the template, which is made first if
/// necessary, and connects.
pub(super) fn start(options: &OpenOptions) -> Result<(Server, Session)> {
    let by_rest = rest::is_chosen(options);
    let installation = installation::find().map_err(|missing| missing.error(NAME))?;
    let home = Home::open(NAME, &options.dir, Account::ourselves())?;
    let data = home.create_once("data", options.durability, |data| {
        let name = format!("harperdb-{}-1", installation.version);
        // A program that copies the folder does not have the file descriptor through which the
        // server reaches it.
        let real = fs::canonicalize(data).map_err(|e| EngineError::file(NAME, "find", data, e))?;
        template::fill(NAME, &name, &real, |dir| install(&installation, &home, dir))
    })?;
    update_paths(&data)?;
    rest::install_component(&data, by_rest)?;
    // A killed server leaves this file with its process id. The next server refuses to start if
    // another process has that id. The server replaces its socket by itself.
    home.remove("data/root/hdb.pid")?;
    launch(&installation, &home, &data, settings(options.durability), options.link, by_rest)
}

/// Starts the server in `data` and connects.
fn launch(
    installation: &Installation,
    home: &Home,
    data: &Path,
    settings: Vec<(&'static str, &str)>,
    link: Link,
    by_rest: bool,
) -> Result<(Server, Session)> {
    // Without the user's consent to the licence the server does not start.
    let mut env: Vec<(OsString, OsString)> = vec![
        ("HOME".into(), data.join("home").into()),
        ("ROOTPATH".into(), data.join("root").into()),
        ("TC_AGREEMENT".into(), "yes".into()),
        ("REPLICATION_HOSTNAME".into(), "localhost".into()),
    ];
    env.extend(settings.into_iter().map(|(name, value)| (name.into(), value.into())));
    let listening = |socket: &str| {
        let socket = data.strip_prefix(home.path()).unwrap_or(data).join(socket);
        ListenAddresses::at(link, home, socket, |port| format!("http://127.0.0.1:{port}"))
    };
    let operations = listening(SOCKET)?;
    // This overrides the earlier setting that disables the port.
    env.extend(operations.port.map(|port| (PORT.into(), port.to_string().into())));
    let rest = if by_rest { Some(listening(rest::SOCKET)?) } else { None };
    if let Some(ListenAddresses { port, .. }) = &rest {
        // A port given as a path is a Unix socket.
        let socket = || data.join(rest::SOCKET).into_os_string();
        env.push((rest::PORT.into(), port.map_or_else(socket, |port| port.to_string().into())));
    }
    let password = data.join(PASSWORD);
    let password = fs::read_to_string(&password)
        .map_err(|error| EngineError::file(NAME, "read", password, error))?;
    let user = format!("{USER}:{password}");
    let client = |ListenAddresses { local, for_others, .. }: &ListenAddresses| {
        HttpClient::new(NAME, DATABASE, Some(&user), local, for_others)
    };
    let connect = |_: &Home| {
        let session = Session::connect(client(&operations));
        let mut session = session.map_err(|error| error.to_string())?;
        session.rest = rest.as_ref().map(|rest| Rest::new(client(rest)));
        Ok(session)
    };
    // The server also listens on a port of its own choice on every address, which no setting
    // prevents. If we have a port, the server's network namespace is already isolated.
    if link == Link::Loopback {
        server::require_isolated_network(NAME)?;
    }
    let args = vec![installation.program.clone().into_os_string()];
    let spec = ServerSpec {
        env,
        alone: link == Link::Socket,
        ready_within: Duration::from_secs(120),
        ..ServerSpec::new(&installation.node, args)
    };
    Server::start(spec, home, connect)
}

/// Makes a template: starts the server for the first time in its home, which creates everything,
/// then copies its files with their paths replaced by [`PATH_PLACEHOLDER`].
fn install(installation: &Installation, home: &Home, dir: &Path) -> Result<()> {
    let password = server::random(NAME)?;
    let data = home.emptied("first")?;
    let home_of_it = data.join("home");
    fs::create_dir(&home_of_it)
        .map_err(|error| EngineError::file(NAME, "create", home_of_it, error))?;
    home.write(&format!("first/{PASSWORD}"), &password)?;
    // Without syncs, HarperDB's own installation cannot open what it has made.
    let mut settings = settings(Durability::Power);
    // The server takes its password only from its environment, which other users may be able to
    // read: a file that only this user may read puts it there when the process runs.
    let script = format!("process.env.HDB_ADMIN_PASSWORD = {password:?};\n");
    let script = home.write(&format!("first/{SCRIPT}"), &script)?;
    let preload = format!("--require {:?}", script.to_string_lossy());
    settings.extend([
        ("HDB_ADMIN_USERNAME", USER),
        ("NODE_OPTIONS", &preload),
        ("DEFAULTS_MODE", "prod"),
    ]);
    let (server, session) = launch(installation, home, &data, settings, Link::Socket, false)?;
    drop(session);
    server.stop()?;
    home.remove(&format!("first/{SCRIPT}"))?;
    replace(&data, &data.to_string_lossy(), PATH_PLACEHOLDER)?;
    template::take(NAME, &data, dir)
}

/// Returns the settings that a server is started with
/// (<https://docs.harperdb.io/docs/deployments/configuration>). Everything not listed here has
/// HarperDB's default.
fn settings(durability: Durability) -> Vec<(&'static str, &'static str)> {
    let write_async = if TIERS.for_tier(durability).set { "true" } else { "false" };
    vec![
        ("STORAGE_WRITEASYNC", write_async),
        // One connection needs one thread.
        ("THREADS_COUNT", "1"),
        // The audit log is a second copy of every change, for replication and for finding out who
        // changed what.
        ("LOGGING_AUDITLOG", "false"),
        // Messages go to the log next to the server's folder, which is shown with an error.
        ("LOGGING_LEVEL", "error"),
        ("LOGGING_FILE", "false"),
        ("LOGGING_STDSTREAMS", "true"),
        ("ANALYTICS_AGGREGATEPERIOD", "0"),
        // The password is checked once, not again every half minute of a measured phase, and a
        // connection that is idle between two phases is kept.
        ("AUTHENTICATION_CACHETTL", "86400000"),
        ("OPERATIONSAPI_NETWORK_KEEPALIVETIMEOUT", "86400000"),
        ("CLUSTERING_ENABLED", "false"),
        ("LOCALSTUDIO_ENABLED", "false"),
        ("MQTT_WEBSOCKET", "false"),
        // Only the operations API is on, on its Unix socket, and the REST interface if it is chosen.
        ("HTTP_PORT", "null"),
        ("HTTP_SECUREPORT", "null"),
        (PORT, "null"),
        ("OPERATIONSAPI_NETWORK_SECUREPORT", "null"),
        ("MQTT_NETWORK_PORT", "null"),
        ("MQTT_NETWORK_SECUREPORT", "null"),
        ("REPLICATION_PORT", "null"),
        ("REPLICATION_SECUREPORT", "null"),
    ]
}

/// Writes the current path of `data` into the files that contain paths. Before, they have the
/// placeholder of a template, or the file descriptor of the previous start.
fn update_paths(data: &Path) -> Result<()> {
    let now = data.to_string_lossy();
    let path = data.join(FILES_WITH_PATHS[1]);
    let text = fs::read_to_string(&path).map_err(|e| EngineError::file(NAME, "read", &path, e))?;
    // The line is `rootPath: PATH_PLACEHOLDER/root`.
    let root = text.lines().find_map(|line| line.strip_prefix("rootPath: "));
    let before = root.and_then(|root| root.trim().strip_suffix("/root")).ok_or_else(|| {
        EngineError::failed(NAME, format!("read {}", path.display()), "it has no line rootPath")
    })?;
    if before == now { Ok(()) } else { replace(data, before, &now) }
}

/// Replaces a text by another in the files that contain paths.
fn replace(dir: &Path, old: &str, new: &str) -> Result<()> {
    for name in FILES_WITH_PATHS {
        let file = dir.join(name);
        let replace = || {
            let text = fs::read_to_string(&file)?.replace(old, new);
            // The file must be complete at any time, because it may belong to a database.
            let next = file.with_extension("next");
            File::create(&next).and_then(|mut next| {
                next.write_all(text.as_bytes())?;
                next.sync_all()
            })?;
            fs::rename(&next, &file)
        };
        replace().map_err(|error| EngineError::file(NAME, "rewrite", &file, error))?;
    }
    Ok(())
}
