//! The settings that the server runs with.

use super::NAME;
use super::answer::{Document, Value};
use super::session::Session;
use super::tier::{self, CONCERN, HANDED, HANDS_OVER, JOURNAL, JOURNAL_ENABLED};
use crate::server::engine::ReadBack;
use crate::settings::{ENGINE_DEFAULT, lines};
use crate::{
    Candidate, EngineError, OpenOptions, Result, Setting, SettingValues, Settings, as_set,
};

/// Option of the server that is set here, and that a configuration can leave to it.
pub(super) const ENGINE_CONFIG: &str = "storage.wiredTiger.engineConfig.configString";
pub(super) const COMPRESSORS: &str = "net.compression.compressors";

/// Name of the setting of the size of a journal file, if there is a journal.
const LOG_SIZE: &str = "wiredTiger.log.maximum log file size";

/// Name of the setting of how writes without a concern are acknowledged.
const DEFAULT_CONCERN: &str = "defaultWriteConcern";

/// Name of the setting of the cache's size, in bytes.
const CACHE: &str = "wiredTiger.cache.maximum bytes configured";

/// Command-line options that a configuration can set, each with its name
/// (<https://www.mongodb.com/docs/v6.0/reference/program/mongod/>).
pub(super) const AT_START: [(&str, &str); 6] = [
    (COLLECTIONS, "--wiredTigerCollectionBlockCompressor"),
    (JOURNAL_COMPRESSOR, "--wiredTigerJournalCompressor"),
    (PREFIXES, "--wiredTigerIndexPrefixCompression"),
    (INDEX_FOLDER, "--wiredTigerDirectoryForIndexes"),
    (COMMIT_INTERVAL, "--journalCommitInterval"),
    (CHECKPOINTS, "--syncdelay"),
];
const COLLECTIONS: &str = "storage.wiredTiger.collectionConfig.blockCompressor";
const JOURNAL_COMPRESSOR: &str = "storage.wiredTiger.engineConfig.journalCompressor";
const PREFIXES: &str = "storage.wiredTiger.indexConfig.prefixCompression";
const INDEX_FOLDER: &str = "storage.wiredTiger.engineConfig.directoryForIndexes";
const COMMIT_INTERVAL: &str = "storage.journal.commitIntervalMs";
const CHECKPOINTS: &str = "storage.syncPeriodSecs";

/// Other command-line options that decide durability, speed, or who can connect.
const OPTIONS: [&str; 3] = [ENGINE_CONFIG, "net.bindIp", COMPRESSORS];

/// Returns the server's arguments for a setting.
pub(super) fn arguments(name: &str, value: &str) -> Vec<String> {
    let option = AT_START.iter().find(|(known, _)| *known == name).map(|(_, option)| *option);
    match option {
        // A switch without a value.
        Some(option) if name == INDEX_FOLDER => {
            (value == "true").then(|| option.to_owned()).into_iter().collect()
        }
        Some(option) => vec![option.to_owned(), value.to_owned()],
        None => vec!["--setParameter".to_owned(), format!("{name}={value}")],
    }
}

/// Parameters of the server (<https://www.mongodb.com/docs/v6.0/reference/parameters/>), which
/// refuses to start with an unknown one.
pub(super) const SETTINGS: Settings = Settings {
    known: &[
        engine_default(ENGINE_CONFIG),
        engine_default(JOURNAL_ENABLED),
        engine_default(COMPRESSORS),
        engine_default(CONCERN),
        Setting::new(COLLECTIONS, SettingValues::Word(COMPRESSED)),
        Setting::new(JOURNAL_COMPRESSOR, SettingValues::Word(COMPRESSED)),
        Setting::new(PREFIXES, SettingValues::Word(&["false", "true"])),
        Setting::new(INDEX_FOLDER, SettingValues::Word(&["false", "true"])),
        Setting::new(COMMIT_INTERVAL, SettingValues::Number),
        Setting::new(CHECKPOINTS, SettingValues::Number),
    ],
    others: Some("parameters of mongod, as --setParameter takes them"),
    reserved: &[("diagnosticDataCollectionEnabled", "no samples are written on the disk measured")],
    candidates: CANDIDATES,
    written: |set| {
        let place = "# options of mongod; not among them: the write concern j: true of each write, \
                     to survive a power cut";
        lines(place, set, |name, value| arguments(name, value).join(" "))
    },
};

const COMPRESSED: &[&str] = &["none", "snappy", "zlib", "zstd"];
const MANUAL: &str = "https://www.mongodb.com/docs/v6.0/reference/configuration-options/";

/// Values that tuning tries. The journal's interval affects no write that waits for the journal, as
/// those of the tier `power` do (`j: true`), and none whose log record was passed to the system.
const CANDIDATES: &[Candidate] = &[
    Candidate::new(&[(COLLECTIONS, "none")], "more bytes on disk", MANUAL),
    Candidate::new(&[(COLLECTIONS, "zstd")], "processor time for fewer bytes", MANUAL),
    Candidate::new(&[(JOURNAL_COMPRESSOR, "none")], "more bytes of journal", MANUAL),
    Candidate::new(&[(PREFIXES, "false")], "larger indexes", MANUAL),
    Candidate::new(&[(INDEX_FOLDER, "true")], "none if both folders are on one disk", MANUAL),
    Candidate::new(
        &[(COMMIT_INTERVAL, "500")],
        "a write that does not wait for the journal may be lost for half a second",
        MANUAL,
    ),
];

/// Returns a setting that is not a parameter: it can only be left to the server.
const fn engine_default(name: &'static str) -> Setting {
    Setting::new(name, SettingValues::Word(&[ENGINE_DEFAULT])).engine_default()
}

/// Returns the version, and the settings with the names in the server's answers.
pub(super) fn read_back(session: &mut Session, options: &OpenOptions) -> Result<ReadBack> {
    let build = session.admin("buildInfo", |_| {})?;
    let unreadable = || EngineError::failed(NAME, "read its settings back", "it has no version");
    let version = build.text("version").ok_or_else(unreadable)?.to_owned();
    let mut settings = Vec::new();
    let status = session.admin("serverStatus", |command| command.int32("wiredTiger", 1))?;
    settings.extend(named("storage.engine", status.at("storageEngine.name")));
    settings.extend(named("storage.persistent", status.at("storageEngine.persistent")));
    settings.push(journal(status));
    settings.extend(named(LOG_SIZE, status.at(LOG_SIZE)));
    let cache = status.at(CACHE);
    settings.extend(named(CACHE, cache));
    let cache = cache.and_then(Value::as_integer).and_then(|bytes| bytes.try_into().ok());
    let waits = tier::waits_for_journal(options, session.is_given);
    let mut handed = waits == Some(true);
    // On a given server only an administrator may ask, so it is not required there.
    if let Ok(started) = session.admin("getCmdLineOpts", |_| {}) {
        for name in OPTIONS.into_iter().chain(AT_START.map(|(name, _)| name)) {
            let value = started.at(&format!("parsed.{name}"));
            let sync = value.and_then(Value::as_text).is_some_and(|text| text.contains(HANDS_OVER));
            handed |= name == ENGINE_CONFIG && sync;
            settings.extend(named(name, value));
        }
    }
    settings.extend(default_concern(session));
    settings.push((HANDED.to_owned(), handed.to_string()));
    let is_parameter = |name: &str| AT_START.iter().all(|(known, _)| *known != name);
    for (name, _) in options.configured().filter(|(name, _)| is_parameter(name)) {
        let found = session.admin("getParameter", |command| command.int32(name, 1))?;
        settings.extend(named(name, found.at(name)));
    }
    if session.clusters()? {
        settings.push(("clusteredIndex".to_owned(), as_set("keys of several fields")));
    }
    settings.push(waits.map_or_else(|| (CONCERN.to_owned(), as_set(ENGINE_DEFAULT)), concern));
    settings.push(("libmongoc".to_owned(), session.uri.library.version.clone()));
    Ok(ReadBack { version, settings, cache })
}

/// Returns the settings that decide what a commit survives and that can change while the server
/// runs: whether there is a journal, and how writes are acknowledged, with the server's default for
/// those that do not say it. How the journal is synced is only set at start.
pub(super) fn of_tier(session: &mut Session, waits: Option<bool>) -> Result<Vec<(String, String)>> {
    let status = session.admin("serverStatus", |command| command.int32("wiredTiger", 1))?;
    let mut settings = vec![journal(status)];
    settings.extend(waits.map(concern).or_else(|| default_concern(session)));
    Ok(settings)
}

/// Returns how the server acknowledges writes that do not say it, if it can be asked.
fn default_concern(session: &mut Session) -> Option<(String, String)> {
    let answer = session.admin("getDefaultRWConcern", |command| command.bool("inMemory", true));
    named(DEFAULT_CONCERN, answer.ok()?.at(DEFAULT_CONCERN))
}

/// Returns how writes are acknowledged, as the client requests it.
fn concern(waits: bool) -> (String, String) {
    (CONCERN.to_owned(), as_set(format!("w: 1, j: {waits}")))
}

/// Returns whether there is a journal.
fn journal(status: Document<'_>) -> (String, String) {
    let has_journal = status.at(LOG_SIZE).and_then(Value::as_integer).unwrap_or(0) > 0;
    (JOURNAL.to_owned(), has_journal.to_string())
}

fn named(name: &str, value: Option<Value<'_>>) -> Option<(String, String)> {
    let plain = |value: Value<'_>| value.as_text().map_or_else(|| value.to_string(), str::to_owned);
    Some((name.to_owned(), plain(value?)))
}
