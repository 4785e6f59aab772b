//! The settings that the server runs with.

use super::NAME;
use super::session::{Session, failed};
use super::tier::{APPEND_ONLY, FSYNC, ON_REWRITE};
use crate::server::engine::ReadBack;
use embermark_model::Durability;

use crate::settings::lines;
use crate::{Candidate, EngineError, OpenOptions, Result, Setting, SettingValues, Settings};

pub(super) const SAVE: &str = "save";
pub(super) const STOP: &str = "shutdown-on-sigterm";
pub(super) const MAX_MEMORY: &str = "maxmemory";

/// Name of the memory allocator in the server's information.
const ALLOCATOR: &str = "mem_allocator";

/// Directives that decide durability, speed, or who can connect.
const READ: [&str; 12] = [
    APPEND_ONLY,
    FSYNC,
    ON_REWRITE,
    SAVE,
    STOP,
    MAX_MEMORY,
    "maxmemory-policy",
    "aof-load-truncated",
    "auto-aof-rewrite-percentage",
    "auto-aof-rewrite-min-size",
    "io-threads",
    "bind",
];

/// Directives of `valkey.conf` (<https://github.com/valkey-io/valkey/blob/unstable/valkey.conf>).
/// The server refuses to start with an unknown one.
pub(super) const SETTINGS: Settings = Settings {
    known: &[
        Setting::new(APPEND_ONLY, SettingValues::Word(&["no", "yes"])).by_default("no"),
        Setting::new(FSYNC, SettingValues::Word(&["no", "everysec", "always"]))
            .by_default("everysec"),
        Setting::new(SAVE, SettingValues::Any).engine_default(),
        Setting::new(STOP, SettingValues::Any).by_default("default"),
        Setting::new(MAX_MEMORY, SettingValues::Any).by_default("0"),
    ],
    others: Some("directives of valkey.conf"),
    reserved: &[
        ("dir", "embermark chooses its folder"),
        ("port", "it is reached by its socket, or by the port that is counted"),
        ("bind", "it listens on 127.0.0.1 at most"),
        ("unixsocket", "embermark puts its socket in its folder"),
        ("requirepass", "embermark sets a password if it needs one"),
        ("daemonize", "it is a child of the process that measures it"),
        ("logfile", "embermark writes its log next to its folder"),
        ("include", "it reads no settings file"),
    ],
    candidates: CANDIDATES,
    written: |set| lines("# valkey.conf", set, |name, value| format!("{name} {value}")),
};

const PERSISTENCE: &str = "https://valkey.io/topics/persistence/";
const DIRECTIVES: &str = "https://github.com/valkey-io/valkey/blob/unstable/valkey.conf";

const CANDIDATES: &[Candidate] = &[
    Candidate::new(
        &[("auto-aof-rewrite-percentage", "0")],
        "the file grows until a client requests a rewrite",
        PERSISTENCE,
    ),
    Candidate::new(
        &[("auto-aof-rewrite-min-size", "268435456")],
        "a file of up to 256 MB is read at the start",
        PERSISTENCE,
    ),
    Candidate::new(
        &[("aof-rewrite-incremental-fsync", "no")],
        "the end of a rewrite waits for all of it to be synced",
        DIRECTIVES,
    ),
    Candidate::new(&[("io-threads", "2")], "a second processor", DIRECTIVES),
    Candidate::new(
        &[(ON_REWRITE, "yes")],
        "a power cut during a rewrite loses what was committed since it began",
        DIRECTIVES,
    )
    .keeping(Durability::Process),
    Candidate::new(
        &[(FSYNC, "no")],
        "a power cut loses what the system had not yet written, usually the last 30 s",
        PERSISTENCE,
    )
    .keeping(Durability::Process),
    Candidate::new(
        &[(FSYNC, "everysec")],
        "a killed server may lose two seconds of commits, as its writes wait for a sync in the background",
        PERSISTENCE,
    )
    .keeping(Durability::None),
];

/// Returns the version, and the settings by the server's names. Its data are in memory, so it has
/// no cache.
pub(super) fn read_back(session: &mut Session, options: &OpenOptions) -> Result<ReadBack> {
    let version =
        value(&session.info("server").map_err(failed("report its version"))?, "valkey_version");
    let version = version.ok_or_else(|| {
        EngineError::failed(NAME, "report its version", "the server is not Valkey")
    })?;
    let own = options.configured().map(|(name, _)| name).filter(|name| !READ.contains(name));
    let names: Vec<&str> = READ.into_iter().chain(own).collect();
    let mut settings = session.config(&names).map_err(failed("read its settings back"))?;
    settings.sort_by_key(|(name, _)| names.iter().position(|known| known == name));
    let memory = session.info("memory").map_err(failed("report its memory allocator"))?;
    settings.extend(value(&memory, ALLOCATOR).map(|value| (ALLOCATOR.to_owned(), value)));
    Ok(ReadBack { version, settings, cache: None })
}

/// Returns the value of a line `name:value`.
pub(super) fn value(info: &str, name: &str) -> Option<String> {
    let mut lines = info.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(known, _)| *known == name).map(|(_, value)| value.trim().to_owned())
}
