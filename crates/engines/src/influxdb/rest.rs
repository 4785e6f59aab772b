//! Bringing the server to rest.
//!
//! It has no command for it. It writes the cache of a shard to a file, and then all files of the
//! shard into one, when the shard has not been written to for a while: `COLD`, by the settings
//! `cache-snapshot-write-cold-duration` and `compact-full-write-cold-duration`
//! (<https://docs.influxdata.com/influxdb/v1.8/administration/config/#cache-snapshot-write-cold-duration--10m>),
//! which are 10 minutes and 4 hours as shipped. It looks once a second.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::bucket;
use super::session::Session;
use crate::{OpenOptions, Result};

/// The settings that say when a shard comes to rest.
pub(super) const WHEN: [&str; 2] =
    ["data.cache-snapshot-write-cold-duration", "data.compact-full-write-cold-duration"];

/// How long a shard of a private server has not been written to when it is brought to rest.
pub(super) const COLD: Duration = Duration::from_secs(1);

/// Between two looks of ours.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long nothing may have changed when it counts as rest: twice the server's own pace, and
/// some, since it starts a compaction at a look and the next only at a later one.
const QUIET: Duration = Duration::from_millis(2_500);

/// How long it may take.
const WITHIN: Duration = Duration::from_secs(300);

/// What the server is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    /// Bytes in caches.
    cached: i64,
    /// Files.
    files: i64,
    /// Shards.
    shards: i64,
    /// Compactions that run. (Those that wait are counted by the server too, but a deletion lets
    /// that number stand as it is for good.)
    busy: i64,
    /// Compactions that have ended, well or not.
    done: i64,
}

/// Whether a private server comes to rest in [`COLD`]: with a configuration's own [`WHEN`] it is
/// waited for as for one that is [given].
pub(super) fn is_ours(options: &OpenOptions) -> bool {
    options.url.is_none() && WHEN.iter().all(|name| options.setting(name).is_none())
}

/// Waits until the caches are empty and nothing is compacted any more. After writes alone one
/// file a shard says so. After deletions a file may still be due for a rewrite, and nothing but
/// quiet shows that it is not. Fails when its maintenance does not end in time.
pub(super) fn ours(session: &mut Session, deleted: bool) -> Result<()> {
    wait(session, |state, quiet| {
        state.busy == 0
            && state.cached == 0
            && (quiet >= QUIET || (!deleted && state.files <= state.shards))
    })
}

/// Waits until nothing is compacted, on a server whose settings are not ours: its cache is left
/// as it is.
pub(super) fn given(session: &mut Session) -> Result<()> {
    if session.third().is_some() {
        // It tells of no compaction.
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
