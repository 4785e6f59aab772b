//! How Valkey makes each durability tier.

use embermark_model::Durability;

use crate::{TierSetting, TierTable};

pub(super) const APPEND_ONLY: &str = "appendonly";
pub(super) const FSYNC: &str = "appendfsync";
pub(super) const ON_REWRITE: &str = "no-appendfsync-on-rewrite";

/// What a private server is started with.
#[derive(Clone, Copy)]
pub(super) struct Persistence {
    /// Whether each change goes to the append-only file.
    pub appends: bool,
    pub fsync: &'static str,
}

/// The server writes its append-only file before it sends the answers of a round of its event loop
/// (`beforeSleep`, <https://github.com/valkey-io/valkey/blob/unstable/src/server.c>).
///
/// - `no` and `always` write each time, and `always` syncs as well, once for all that were answered
///   together (<https://valkey.io/topics/persistence/>).
/// - `everysec` keeps neither tier: while a sync is under way in the background it puts the write off, by
///   up to two seconds, and answers all the same (`flushAppendOnlyFile`,
///   <https://github.com/valkey-io/valkey/blob/unstable/src/aof.c>).
pub(super) static TIERS: TierTable<Persistence> = TierTable {
    none: TierSetting::of(
        Durability::None,
        Persistence { appends: false, fsync: "no" },
        "appendonly=no, save=\"\"; written to a file when it is stopped",
        "https://valkey.io/topics/persistence/#no-persistence",
    ),
    process: TierSetting::of(
        Durability::Process,
        Persistence { appends: true, fsync: "no" },
        "appendonly=yes, appendfsync=no",
        MANUAL,
    )
    .reads(&[(APPEND_ONLY, &["yes"]), (FSYNC, &["no", "always"])]),
    power: TierSetting::of(
        Durability::Power,
        Persistence { appends: true, fsync: "always" },
        "appendonly=yes, appendfsync=always",
        MANUAL,
    )
    .reads(&[(APPEND_ONLY, &["yes"]), (FSYNC, &["always"]), (ON_REWRITE, &["no"])]),
};

const MANUAL: &str = "https://valkey.io/topics/persistence/#how-durable-is-the-append-only-file";
