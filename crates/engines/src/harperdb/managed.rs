//! A private HarperDB server.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use embermark_model::Durability;

use super::NAME;
use super::installation::{self, Installation};
use super::rest::{self, Rest};
use super::session::Session;
use super::tier::TIERS;
use crate::http::HttpClient;
use crate::server::address::Listening;
use crate::server::{self, Account, Home, Server, ServerSpec, template};
use crate::{EngineError, Link, OpenOptions, Result};

/// The database of its tables.
pub(super) const DATABASE: &str = "data";

/// The super user; the password is made up for each template.
const USER: &str = "embermark";

/// In a template, where the paths of the directory it was made in would stand.
const PLACE: &str = "@EMBERMARK@";

/// The file of a template that holds the password, for its owner's eyes alone.
const PASSWORD: &str = "password";

/// A script of its first start that sets it.
const SCRIPT: &str = "password.cjs";

/// Its operations API: the Unix socket in its directory, and the setting of its port.
const SOCKET: &str = "root/operations-server";
const PORT: &str = "OPERATIONSAPI_NETWORK_PORT";

/// Files with paths of the directory they are in; the second tells where that was.
const WITH_PATHS: [&str; 2] =
    ["home/.harperdb/hdb_boot_properties.file", "root/harperdb-config.yaml"];

/// Starts a server on what is there, or on a copy of the template, which is made first if need be,
/// and connects.
pub(super) fn start(options: &OpenOptions) -> Result<(Server, Session)> {
    let by_rest = rest::is_chosen(options);
    let installation = installation::find().map_err(|missing| missing.error(NAME))?;
    let home = Home::open(NAME, &options.dir, Account::ourselves())?;
    let data = home.made(NAME, "data", options.durability, |data| {
        let name = format!("harperdb-{}-1", installation.version);
        // Programs that copy it do not know the number under which the server reaches it.
        let real = fs::canonicalize(data).map_err(|e| EngineError::file(NAME, "find", data, e))?;
        template::fill(NAME, &name, &real, |dir| install(&installation, &home, dir))
    })?;
    place(&data)?;
    rest::place(&data, by_rest)?;
    // Of a server that was killed. It names a process, and the next server refuses to start where
    // another has that number by now. Its socket it makes anew.
    home.remove(NAME, "data/root/hdb.pid")?;
    let password = data.join(PASSWORD);
    let password = fs::read_to_string(&password)
        .map_err(|error| EngineError::file(NAME, "read", password, error))?;
    let (settings, link) = (settings(options.durability), options.link);
    launch(&installation, &home, &data, &password, settings, link, by_rest)
}

/// Starts the server in `data` and connects.
fn launch(
    installation: &Installation,
    home: &Home,
    data: &Path,
    password: &str,
    settings: Vec<(&'static str, &str)>,
    link: Link,
    by_rest: bool,
) -> Result<(Server, Session)> {
    let mut env = environment(data);
    env.extend(settings.into_iter().map(|(name, value)| (name.into(), value.into())));
    let listening = |socket: &str| {
        let socket = data.strip_prefix(home.path()).unwrap_or(data).join(socket);
        Listening::at(NAME, link, home, socket, |port| format!("http://127.0.0.1:{port}"))
    };
    let operations = listening(SOCKET)?;
    // Later than the setting that there is none.
    env.extend(operations.port.map(|port| (PORT.into(), port.to_string().into())));
    let rest = if by_rest { Some(listening(rest::SOCKET)?) } else { None };
    if let Some(Listening { port, .. }) = &rest {
        // A port that is a path is a Unix socket's.
        let socket = || data.join(rest::SOCKET).into_os_string();
        env.push((rest::PORT.into(), port.map_or_else(socket, |port| port.to_string().into())));
    }
    let user = format!("{USER}:{password}");
    let client = |Listening { here, elsewhere, .. }: &Listening| {
        HttpClient::new(NAME, DATABASE, Some(&user), here, elsewhere)
    };
    let connect = |_: &Home| {
        let session = Session::connect(client(&operations)).map_err(|error| error.to_string())?;
        Ok(session.with_rest(rest.as_ref().map(|rest| Rest::new(client(rest)))))
    };
    // It listens on a port of its own choice on every address as well, which no setting prevents.
    // With a port for us its network is ours already.
    if link == Link::Loopback {
        server::alone(NAME)?;
    }
    let args = vec![installation.program.clone().into_os_string()];
    let spec = ServerSpec {
        env,
        alone: link == Link::Socket,
        ready_within: Duration::from_secs(120),
        ..ServerSpec::new(NAME, &installation.node, args)
    };
    Server::start(spec, home, connect)
}

/// Makes a template: a first start in the server's home, which creates everything, its files then
/// copied with their paths replaced by [`PLACE`].
fn install(installation: &Installation, home: &Home, dir: &Path) -> Result<()> {
    let password = server::random(NAME)?;
    let data = home.emptied(NAME, "first")?;
    let home_of_it = data.join("home");
    fs::create_dir(&home_of_it)
        .map_err(|error| EngineError::file(NAME, "create", home_of_it, error))?;
    home.write(NAME, &format!("first/{PASSWORD}"), &password)?;
    // Its own installation cannot open what it makes without syncs.
    let mut settings = settings(Durability::Power);
    // It takes its password from its environment alone, which others may read of a process: a file that
    // only this user may read puts it there when the process runs.
    let script = format!("process.env.HDB_ADMIN_PASSWORD = {password:?};\n");
    let script = home.write(NAME, &format!("first/{SCRIPT}"), &script)?;
    let preload = format!("--require {:?}", script.to_string_lossy());
    settings.extend([
        ("HDB_ADMIN_USERNAME", USER),
        ("NODE_OPTIONS", &preload),
        ("DEFAULTS_MODE", "prod"),
    ]);
    let (server, session) =
        launch(installation, home, &data, &password, settings, Link::Socket, false)?;
    drop(session);
    server.stop()?;
    home.remove(NAME, &format!("first/{SCRIPT}"))?;
    replace(&data, &data.to_string_lossy(), PLACE)?;
    let done = || {
        fs::set_permissions(dir, Permissions::from_mode(0o700))?;
        template::copy(&data, dir)?;
        fs::remove_dir_all(&data)
    };
    done().map_err(|error| EngineError::file(NAME, "make a template in", dir, error))
}

/// Where it lives, and the consent to its licence that its user has given: without it, it does
/// not start.
fn environment(dir: &Path) -> Vec<(OsString, OsString)> {
    vec![
        ("HOME".into(), dir.join("home").into()),
        ("ROOTPATH".into(), dir.join("root").into()),
        ("TC_AGREEMENT".into(), "yes".into()),
        ("REPLICATION_HOSTNAME".into(), "localhost".into()),
    ]
}

/// What a server is started with (<https://docs.harperdb.io/docs/deployments/configuration>). What
/// is not named here is HarperDB's default.
fn settings(durability: Durability) -> Vec<(&'static str, &'static str)> {
    let write_async = if TIERS.of(durability).set { "true" } else { "false" };
    let mut all = vec![
        ("STORAGE_WRITEASYNC", write_async),
        // One connection of ours needs one thread.
        ("THREADS_COUNT", "1"),
        // A second copy of every change, for replication and for asking who changed what.
        ("LOGGING_AUDITLOG", "false"),
        // Messages go to the log beside the server's directory, where an error shows them.
        ("LOGGING_LEVEL", "error"),
        ("LOGGING_FILE", "false"),
        ("LOGGING_STDSTREAMS", "true"),
        ("ANALYTICS_AGGREGATEPERIOD", "0"),
        // The password is checked once, not again every half minute of a measured phase, and a
        // connection that rests between two phases is kept.
        ("AUTHENTICATION_CACHETTL", "86400000"),
        ("OPERATIONSAPI_NETWORK_KEEPALIVETIMEOUT", "86400000"),
        ("CLUSTERING_ENABLED", "false"),
        ("LOCALSTUDIO_ENABLED", "false"),
        ("MQTT_WEBSOCKET", "false"),
    ];
    // Nothing but the operations API on its Unix socket, and the REST interface where it is chosen.
    all.extend(
        [
            "HTTP_PORT",
            "HTTP_SECUREPORT",
            PORT,
            "OPERATIONSAPI_NETWORK_SECUREPORT",
            "MQTT_NETWORK_PORT",
            "MQTT_NETWORK_SECUREPORT",
            "REPLICATION_PORT",
            "REPLICATION_SECUREPORT",
        ]
        .map(|port| (port, "null")),
    );
    all
}

/// Makes the files that have paths in them say where `data` is now: as a template has it, or by the
/// number of the start before.
fn place(data: &Path) -> Result<()> {
    let now = data.to_string_lossy();
    let path = data.join(WITH_PATHS[1]);
    let text = fs::read_to_string(&path).map_err(|e| EngineError::file(NAME, "read", &path, e))?;
    // The line `rootPath: PLACE/root`.
    let root = text.lines().find_map(|line| line.strip_prefix("rootPath: "));
    let before = root.and_then(|root| root.trim().strip_suffix("/root")).ok_or_else(|| {
        EngineError::failed(NAME, format!("read {}", path.display()), "it has no line rootPath")
    })?;
    if before == now { Ok(()) } else { replace(data, before, &now) }
}

/// Replaces a text by another in the files that have paths in them.
fn replace(dir: &Path, old: &str, new: &str) -> Result<()> {
    for name in WITH_PATHS {
        let file = dir.join(name);
        let replace = || {
            let text = fs::read_to_string(&file)?.replace(old, new);
            // Whole at any moment: it may be a database's.
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
