//! Settings that the server runs with.

use super::session::Session;
use crate::Result;
use crate::server::engine::ReadBack;

/// The settings that decide durability, speed and who can reach the server.
const NAMES: [&str; 18] = [
    super::tier::SETTING,
    "storage.caching",
    "storage.compression",
    "storage.noReadAhead",
    "storage.prefetchWrites",
    "threads.count",
    "logging.auditLog",
    "logging.level",
    "analytics.aggregatePeriod",
    "authentication.cacheTTL",
    "clustering.enabled",
    "localStudio.enabled",
    "http.port",
    "http.securePort",
    "operationsApi.network.port",
    "operationsApi.network.securePort",
    "mqtt.network.port",
    "replication.port",
];

/// Reads the version, and the settings under their own names; one that this version lacks is left
/// out.
pub(super) fn read_back(session: &mut Session) -> Result<ReadBack> {
    session.request.plain("registration_info");
    let version = session.answer()?["version"].as_str().unwrap_or("unknown").to_owned();
    // HarperDB has no cache of its own.
    Ok(ReadBack { version, settings: configuration(session)?, cache: None })
}

/// Reads the settings that decide what a commit survives.
pub(super) fn tier_settings(session: &mut Session) -> Result<Vec<(String, String)>> {
    let mut settings = configuration(session)?;
    settings.retain(|(name, _)| name == super::tier::SETTING);
    Ok(settings)
}

/// Reads the settings as the server has them.
fn configuration(session: &mut Session) -> Result<Vec<(String, String)>> {
    session.request.plain("get_configuration");
    let configuration = session.answer()?;
    let found = NAMES.iter().filter_map(|name| {
        let value = name.split('.').try_fold(&configuration, |within, part| within.get(part))?;
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Some(((*name).to_owned(), text))
    });
    Ok(found.collect())
}
