//! The settings that the server runs with.

use serde_json::Value;

use super::session::{Session, Version};
use super::{TIERS, failed, idle, udp, version_2, version_3};
use crate::server::engine::ReadBack;
use crate::settings::lines;
use crate::{Candidate, OpenOptions, Result, Setting, SettingValues, Settings};

/// Sections of the server's diagnostics
/// (<https://docs.influxdata.com/influxdb/v1.8/query_language/spec/#show-diagnostics>) that decide
/// durability and speed.
const SECTIONS: [&str; 4] = ["config-data", "config-coordinator", "config-udp", "runtime"];

/// Paths of files, which are irrelevant and differ each time.
const IGNORED_SETTINGS: [&str; 2] = ["dir", "wal-dir"];

/// Setting of the bytes that the cache collects before they are written.
const SNAPSHOT: &str = "data.cache-snapshot-memory-size";

/// Lines of the configuration, with their section
/// (<https://docs.influxdata.com/influxdb/v1.8/administration/config/>), which the server reports.
/// It ignores unknown lines silently, so the known ones are listed here. Lines that embermark sets
/// differently have InfluxDB's default next to them.
pub(super) const SETTINGS: Settings = Settings {
    known: &[
        Setting::new("data.cache-max-memory-size", SettingValues::Any),
        Setting::new(SNAPSHOT, SettingValues::Any).by_default("25m"),
        Setting::new(idle::COLD_SETTINGS[0], SettingValues::Any).by_default("10m"),
        Setting::new(idle::COLD_SETTINGS[1], SettingValues::Any).by_default("4h"),
        Setting::new("data.max-concurrent-compactions", SettingValues::Number),
        Setting::new("data.max-index-log-file-size", SettingValues::Any),
        Setting::new("data.series-id-set-cache-size", SettingValues::Number),
        Setting::new(FSYNC_DELAY, SettingValues::Any),
        Setting::new("data.index-version", SettingValues::Word(&["inmem", "tsi1"])),
        Setting::new("coordinator.max-concurrent-queries", SettingValues::Number),
        Setting::new("coordinator.write-timeout", SettingValues::Any),
    ],
    others: None,
    reserved: &[
        ("data.dir", "its files lie in its folder"),
        ("data.wal-dir", "its files lie in its folder"),
    ],
    candidates: CANDIDATES,
    written: |set| {
        lines("# the server's environment", set, |name, value| {
            format!("{}={value}", super::managed::variable(name).display())
        })
    },
};

const MANUAL: &str = "https://docs.influxdata.com/influxdb/v1/administration/config/";

const CANDIDATES: &[Candidate] = &[
    Candidate::new(&[("data.index-version", "tsi1")], "an index in files, for many series", MANUAL),
    Candidate::new(&[(SNAPSHOT, "8m")], "more files, merged more often", MANUAL),
    Candidate::new(&[(SNAPSHOT, "100m")], "memory, and a longer log to read at the start", MANUAL),
    Candidate::new(&[("data.max-index-log-file-size", "10m")], "memory for the index", MANUAL),
    Candidate::new(&[(FSYNC_DELAY, "10ms")], WAITS, MANUAL),
    Candidate::new(&[(FSYNC_DELAY, "100ms")], WAITS, MANUAL),
];

const WAITS: &str = "a lone writer waits for others to be synced with it";

/// Setting of the time that a write waits for other writes, to be synced with them.
const FSYNC_DELAY: &str = "data.wal-fsync-delay";

/// Returns the settings that decide what a commit survives.
pub(super) fn tier_settings(session: &mut Session) -> Result<Vec<(String, String)>> {
    let keeping = [FSYNC_DELAY, "storage-wal-fsync-delay", version_3::NO_SYNC];
    let (_, mut settings) = reported(session)?;
    settings.retain(|(name, _)| keeping.contains(&&**name));
    Ok(settings)
}

/// Returns the version, and the settings with their section. Those of UDP are irrelevant on a given
/// server.
///
/// # Errors
/// Returns the engine's message. On a given server the user must be an administrator.
pub(super) fn read_back(session: &mut Session, options: &OpenOptions) -> Result<ReadBack> {
    let given = options.url.is_some();
    let (version, mut settings) = reported(session)?;
    settings.retain(|(name, _)| !(given && name.starts_with("udp.")));
    let size = settings.iter().find(|(name, _): &&(String, String)| name == SNAPSHOT);
    // A private server uses twice this: the data being written, and the data that arrives then.
    let cache = size.and_then(|(_, bytes)| bytes.parse::<u64>().ok()).map(|bytes| 2 * bytes);
    if !given && TIERS.for_tier(options.durability).set {
        settings.push(("udp.read-buffer granted".to_owned(), udp::granted().to_string()));
    }
    Ok(ReadBack { version, settings, cache })
}

/// Returns the version and the settings that the server reports. One of version 3 reports no
/// settings, so there it is that of the requests.
fn reported(session: &mut Session) -> Result<(String, Vec<(String, String)>)> {
    match &session.version {
        Version::First => {}
        Version::Second(version) => {
            return Ok((version.clone(), version_2::settings(&session.client)));
        }
        Version::Third(version) => {
            let no_sync = (version_3::NO_SYNC.to_owned(), session.no_sync.to_string());
            return Ok((version.clone(), vec![no_sync]));
        }
    }
    let answer = session.json("SHOW DIAGNOSTICS")?;
    let mut version = None;
    let mut settings = Vec::new();
    for section in answer["series"].as_array().into_iter().flatten() {
        let name = section["name"].as_str().unwrap_or_default();
        if name == "build" {
            version = named(section).find(|(name, _)| *name == "Version").map(|(_, value)| value);
        }
        if SECTIONS.contains(&name) {
            let name = name.strip_prefix("config-").unwrap_or(name);
            let kept = named(section).filter(|(name, _)| !IGNORED_SETTINGS.contains(name));
            settings.extend(kept.map(|(setting, value)| (format!("{name}.{setting}"), value)));
        }
    }
    let no_version = "SHOW DIAGNOSTICS has no section `build`";
    let version = version.ok_or_else(|| failed("report its version", no_version))?;
    Ok((version, settings))
}

fn named(section: &Value) -> impl Iterator<Item = (&str, String)> {
    let names = section["columns"].as_array().into_iter().flatten();
    let values = section["values"][0].as_array().into_iter().flatten();
    names.zip(values).filter_map(|(name, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Some((name.as_str()?, text))
    })
}
