//! Waits until the server is idle.
//!
//! It has no command for maintenance. It writes the cache of a shard to a file, and then all files
//! of the shard to one, when the shard has not been written to for a while. That time is `COLD`, by
//! the settings `cache-snapshot-write-cold-duration` and `compact-full-write-cold-duration`
//! (<https://docs.influxdata.com/influxdb/v1.8/administration/config/#cache-snapshot-write-cold-duration--10m>).
//! Their defaults are 10 minutes and 4 hours. It checks once per second.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::bucket;
use super::session::Session;
use crate::{OpenOptions, Result};

/// Settings of when a shard becomes idle.
pub(super) const WHEN: [&str; 2] =
    ["data.cache-snapshot-write-cold-duration", "data.compact-full-write-cold-duration"];

/// How long a shard of a private server must not have been written to.
pub(super) const COLD: Duration = Duration::from_secs(1);

/// Interval between two checks.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long nothing must have changed for the server to count as idle: twice the server's own
/// interval and some more, because it starts one compaction per check.
const QUIET: Duration = Duration::from_millis(2_500);

/// How long it may take.
const WITHIN: Duration = Duration::from_secs(300);

/// State of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    /// Bytes in caches.
    cached: i64,
    /// Number of files.
    files: i64,
    /// Number of shards.
    shards: i64,
    /// Number of running compactions. (The server counts waiting ones too, but after a deletion
    /// that number never changes again.)
    busy: i64,
    /// Number of compactions that have ended, successfully or not.
    done: i64,
}

/// Returns whether a private server becomes idle within [`COLD`]. With a configuration's own
/// [`WHEN`] it is waited for like a [given] server.
pub(super) fn is_ours(options: &OpenOptions) -> bool {
    options.url.is_none() && WHEN.iter().all(|name| options.setting(name).is_none())
}

/// Waits until the caches are empty and nothing is compacted any more. After writes only, one file
/// per shard shows that. After deletions a file can still be due for a rewrite, and only quiet
/// shows that it is not. Fails when its maintenance does not end in time.
pub(super) fn ours(session: &mut Session, deleted: bool) -> Result<()> {
    wait(session, |state, quiet| {
        state.busy == 0
            && state.cached == 0
            && (quiet >= QUIET || (!deleted && state.files <= state.shards))
    })
}

/// Waits until nothing is compacted, on a given server with its own settings. Its cache is left as
/// it is.
pub(super) fn given(session: &mut Session) -> Result<()> {
    if session.third().is_some() {
        // It reports no compactions.
        return Ok(());
    }
    if session.second().is_some() {
        let deadline = Instant::now() + WITHIN;
        while bucket::compactions(&session.client)? > 0.0 {
            if Instant::now() > deadline {
                let why = format!("after {WITHIN:?} compactions run");
                return Err(Session::failed("finish its maintenance", why));
            }
            sleep(LOOK_EVERY);
        }
        return Ok(());
    }
    wait(session, |state, _| state.busy == 0)
}

fn wait(session: &mut Session, at_rest: impl Fn(&State, Duration) -> bool) -> Result<()> {
    let deadline = Instant::now() + WITHIN;
    let (mut state, mut since) = (look(session)?, Instant::now());
    while !at_rest(&state, since.elapsed()) {
        if Instant::now() > deadline {
            let why = format!(
                "after {WITHIN:?} its caches hold {} bytes and {} compactions run",
                state.cached, state.busy
            );
            return Err(Session::failed("finish its maintenance", why));
        }
        sleep(LOOK_EVERY);
        let now = look(session)?;
        if now != state {
            (state, since) = (now, Instant::now());
        }
    }
    Ok(())
}

fn look(session: &mut Session) -> Result<State> {
    let mut state = State::default();
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
