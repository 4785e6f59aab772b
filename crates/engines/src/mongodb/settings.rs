//! What the server really runs with.

use super::NAME;
use super::answer::Value;
use super::session::Session;
use super::tier::TIERS;
use crate::server::engine::ReadBack;
use crate::{EngineError, OpenOptions, Result, Settings, as_set};

/// Under this name stands whether there is a journal.
pub(super) const JOURNAL: &str = "storage.journal";

/// Under this name stands the size of the cache, in bytes.
const CACHE: &str = "wiredTiger.cache.maximum bytes configured";

/// Under this name stands how writes are acknowledged.
pub(super) const CONCERN: &str = "writeConcern";

/// Options given at the start that decide durability, speed, or who can reach the server.
const OPTIONS: [&str; 6] = [
    "storage.wiredTiger.engineConfig.configString",
    "storage.wiredTiger.collectionConfig.blockCompressor",
    "storage.journal.commitIntervalMs",
    "storage.syncPeriodSecs",
    "net.bindIp",
    "net.compression.compressors",
];

/// The parameters of the server
/// (<https://www.mongodb.com/docs/v6.0/reference/parameters/>), which refuses to start with one that it
/// does not know.
pub(super) const SETTINGS: Settings = Settings {
    known: &[],
    others: Some("parameters of mongod, as --setParameter takes them"),
    reserved: &[("diagnosticDataCollectionEnabled", "no samples are written on the disk measured")],
};

/// The version, and the settings by the names that the server's answers have.
pub(super) fn read_back(session: &mut Session, options: &OpenOptions) -> Result<ReadBack> {
    let build = session.admin("buildInfo", |_| {})?;
    let unreadable = || EngineError::failed(NAME, "read its settings back", "it has no version");
    let version = build.text("version").ok_or_else(unreadable)?.to_owned();
    let mut settings = Vec::new();
    let mut keep = |name: &str, value: Option<Value<'_>>| {
        settings.extend(value.map(|value| (name.to_owned(), plain(value))));
    };
    let status = session.admin("serverStatus", |command| command.int32("wiredTiger", 1))?;
    keep("storage.engine", status.at("storageEngine.name"));
    keep("storage.persistent", status.at("storageEngine.persistent"));
    let journal = status.at("wiredTiger.log.maximum log file size");
    let size = journal.and_then(Value::as_integer).unwrap_or(0);
    keep(JOURNAL, Some(Value::Boolean(size > 0)));
    keep("wiredTiger.log.maximum log file size", journal);
    let cache = status.at(CACHE);
    keep(CACHE, cache);
    let cache = cache.and_then(Value::as_integer).and_then(|bytes| bytes.try_into().ok());
    // On somebody's server only an administrator may ask; there it is not ours to insist.
    if let Ok(started) = session.admin("getCmdLineOpts", |_| {}) {
        for name in OPTIONS {
            keep(name, started.at(&format!("parsed.{name}")));
        }
    }
    if let Ok(concern) = session.admin("getDefaultRWConcern", |command| {
        command.bool("inMemory", true);
    }) {
        keep("defaultWriteConcern", concern.at("defaultWriteConcern"));
    }
    for (name, _) in &options.settings {
        let found = session.admin("getParameter", |command| command.int32(name, 1))?;
        keep(name, found.at(name));
    }
    if session.clusters()? {
        settings.push(("clusteredIndex".to_owned(), as_set("keys of several fields")));
    }
    let waits = TIERS.of(options.durability).set.waits(session.is_given);
    settings.push((CONCERN.to_owned(), as_set(format_args!("w: 1, j: {waits}"))));
    settings.push(("libmongoc".to_owned(), session.library.version.clone()));
    Ok(ReadBack { version, settings, cache })
}

fn plain(value: Value<'_>) -> String {
    value.as_text().map_or_else(|| value.to_string(), str::to_owned)
}
