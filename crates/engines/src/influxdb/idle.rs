//! Waits until the server is idle.
//!
//! It has no command for maintenance. It writes the cache of a shard to a file, and then all files
//! of the shard to one, when the shard has not been written to for a while. That time is `COLD`, by
//! the settings `cache-snapshot-write-cold-duration` and `compact-full-write-cold-duration`
//! (<https://docs.influxdata.com/influxdb/v1.8/administration/config/#cache-snapshot-write-cold-duration--10m>).
//! Their defaults are 10 minutes and 4 hours. It checks once per second.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::managed::DATA;
use super::session::{Session, Version};
use super::{failed, version_2};
use crate::{OpenOptions, Result};

/// Names of the settings that decide when a shard becomes cold.
pub(super) const COLD_SETTINGS: [&str; 2] =
    ["data.cache-snapshot-write-cold-duration", "data.compact-full-write-cold-duration"];

/// Time without writes after which a shard of a private server is cold.
pub(super) const COLD: Duration = Duration::from_secs(1);

/// Interval between two checks.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Time without a change after which the server counts as idle, whatever its files are. It is more
/// than twice the server's own interval, because the server starts one compaction per check.
const QUIET_PERIOD: Duration = Duration::from_millis(2_500);

/// Maximum time until the server is idle.
const TIMEOUT: Duration = Duration::from_secs(300);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    /// Bytes in caches.
    cached: i64,
    files: i64,
    shards: i64,
    /// Number of running compactions. (The server counts waiting ones too, but after a deletion
    /// that number never changes again.)
    busy: i64,
    /// Number of compactions that have ended, successfully or not.
    done: i64,
    /// Whether a file has deleted points, which a list beside it names until it is rewritten.
    has_tombstones: bool,
}

/// Returns the folder of a private server's shards, if they become cold after [`COLD`]. If a
/// configuration sets [`COLD_SETTINGS`], only [compactions](wait_for_compactions) are waited for.
pub(super) fn cold_shards(options: &OpenOptions) -> Option<PathBuf> {
    let are_cold =
        options.url.is_none() && COLD_SETTINGS.iter().all(|name| options.setting(name).is_none());
    are_cold.then(|| options.dir.join("server").join(DATA))
}

/// Waits until the caches are empty, no compaction runs, and each shard in the folder `data` has one
/// file without deleted points, or nothing changed for the [`QUIET_PERIOD`]. Fails after
/// [`TIMEOUT`].
pub(super) fn wait_until_cold(session: &mut Session, data: &Path) -> Result<()> {
    wait(session, Some(data), |state, quiet| {
        let is_rewritten = state.files <= state.shards && !state.has_tombstones;
        state.busy == 0 && state.cached == 0 && (is_rewritten || quiet >= QUIET_PERIOD)
    })
}

/// Waits until no compaction runs, on a given server with its own settings. Does not wait for its
/// cache. A server of version 3 reports no compactions.
pub(super) fn wait_for_compactions(session: &mut Session) -> Result<()> {
    match session.version {
        Version::First => return wait(session, None, |state, _| state.busy == 0),
        Version::Third(_) => return Ok(()),
        Version::Second(_) => {}
    }
    let deadline = Instant::now() + TIMEOUT;
    while version_2::compactions(&session.client)? > 0.0 {
        if Instant::now() > deadline {
            let why = format!("compactions still run after {TIMEOUT:?}");
            return Err(failed("finish its maintenance", why));
        }
        sleep(POLL_INTERVAL);
    }
    Ok(())
}

fn wait(
    session: &mut Session,
    data: Option<&Path>,
    is_idle: impl Fn(&State, Duration) -> bool,
) -> Result<()> {
    let deadline = Instant::now() + TIMEOUT;
    let (mut state, mut since) = (read_state(session, data)?, Instant::now());
    while !is_idle(&state, since.elapsed()) {
        if Instant::now() > deadline {
            let why = format!(
                "after {TIMEOUT:?} its caches hold {} bytes and {} compactions run",
                state.cached, state.busy
            );
            return Err(failed("finish its maintenance", why));
        }
        sleep(POLL_INTERVAL);
        let now = read_state(session, data)?;
        if now != state {
            (state, since) = (now, Instant::now());
        }
    }
    Ok(())
}

fn read_state(session: &mut Session, data: Option<&Path>) -> Result<State> {
    // First, because a file may be rewritten meanwhile.
    let has_tombstones = data.is_some_and(has_tombstones);
    let mut state = State { has_tombstones, ..State::default() };
    session.statistics("tsm1_cache", &mut |name, value| {
        if name == "memBytes" {
            state.cached += value;
            state.shards += 1;
        }
    })?;
    session.statistics("tsm1_engine", &mut |name, value| {
        if name.ends_with("CompactionsActive") {
            state.busy += value;
        } else if name.ends_with("Compactions") || name.ends_with("CompactionErr") {
            state.done += value;
        }
    })?;
    session.statistics("tsm1_filestore", &mut |name, value| {
        if name == "numFiles" {
            state.files += value;
        }
    })?;
    Ok(state)
}

/// Whether a file in a folder has deleted points, which are in a file `.tombstone` beside it.
fn has_tombstones(folder: &Path) -> bool {
    // What is removed meanwhile has none.
    fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        let path = entry.path();
        path.extension().is_some_and(|end| end == "tombstone") || has_tombstones(&path)
    })
}
