//! What the server really runs with.

use embermark_model::Durability;
use mongodb::bson::{Bson, Document, doc};

use super::session::Session;
use super::{NAME, tier};
use crate::{EngineError, Result};

type Settings = Vec<(String, String)>;

/// Under this name stands whether there is a journal.
pub(super) const JOURNAL: &str = "storage.journal";

/// Options given at the start that decide durability, speed, or who can reach the server.
const OPTIONS: [&str; 6] = [
    "storage.wiredTiger.engineConfig.configString",
    "storage.wiredTiger.collectionConfig.blockCompressor",
    "storage.journal.commitIntervalMs",
    "storage.syncPeriodSecs",
    "net.bindIp",
    "net.compression.compressors",
];

/// The version, and the settings by the names that the server's answers have.
///
/// # Errors
/// When the server reports one.
pub(super) fn read_back(session: &Session, durability: Durability) -> Result<(String, Settings)> {
    let build = session.admin(doc! { "buildInfo": 1 })?;
    let version = build.get_str("version").map_err(|e| unreadable(&e))?.to_owned();
    let status = session.admin(doc! { "serverStatus": 1, "wiredTiger": 1 })?;
    let mut settings = Settings::new();
    let mut keep = |name: &str, value: Option<&Bson>| {
        settings.extend(value.map(|value| (name.to_owned(), plain(value))));
    };
    keep("storage.engine", at(&status, "storageEngine.name"));
    keep("storage.persistent", at(&status, "storageEngine.persistent"));
    let journal = at(&status, "wiredTiger.log.maximum log file size");
    let size = journal.and_then(number).unwrap_or(0);
    keep(JOURNAL, Some(&Bson::Boolean(size > 0)));
    keep("wiredTiger.log.maximum log file size", journal);
    let cache = "wiredTiger.cache.maximum bytes configured";
    keep(cache, at(&status, cache));
    // On somebody's server only an administrator may ask; there it is not ours to insist.
    if let Ok(started) = session.admin(doc! { "getCmdLineOpts": 1 }) {
        for name in OPTIONS {
            keep(name, at(&started, &format!("parsed.{name}")));
        }
    }
    if let Ok(concern) = session.admin(doc! { "getDefaultRWConcern": 1, "inMemory": true }) {
        keep("defaultWriteConcern", at(&concern, "defaultWriteConcern"));
    }
    settings.push((
        "writeConcern".to_owned(),
        format!("w: 1, j: {}", tier::waits(durability, session.is_given())),
    ));
    Ok((version, settings))
}

fn unreadable(error: &dyn std::fmt::Display) -> EngineError {
    EngineError::failed(NAME, "read its settings back", error)
}

/// What stands at a path of names.
fn at<'a>(document: &'a Document, path: &str) -> Option<&'a Bson> {
    match path.split_once('.') {
        Some((name, rest)) => at(document.get_document(name).ok()?, rest),
        None => document.get(path),
    }
}

fn number(value: &Bson) -> Option<i64> {
    match value {
        Bson::Int32(int) => Some(i64::from(*int)),
        Bson::Int64(int) => Some(*int),
        Bson::Double(float) => Some(*float as i64),
        _ => None,
    }
}

fn plain(value: &Bson) -> String {
    match value {
        Bson::String(text) => text.clone(),
        other => other.to_string(),
    }
}
