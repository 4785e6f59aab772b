//! Valkey's settings for each durability tier.

use embermark_model::Durability;

use crate::{TierSetting, TierTable};

pub(super) const APPEND_ONLY: &str = "appendonly";
pub(super) const FSYNC: &str = "appendfsync";
pub(super) const ON_REWRITE: &str = "no-appendfsync-on-rewrite";

/// Settings of a private server.
#[derive(Clone, Copy)]
pub(super) struct Persistence {
    /// Whether each change is appended to the append-only file.
    pub appends: bool,
    pub fsync: &'static str,
}

/// The settings that keep each tier. The server writes its append-only file before it sends the
/// answers of an iteration of its event loop (`beforeSleep`,
/// <https://github.com/valkey-io/valkey/blob/unstable/src/server.c>).
///
/// - `no` and `always` write each time, and `always` also syncs, once for all commands answered
///   together (<https://valkey.io/topics/persistence/>).
/// - `everysec` keeps neither tier: while a sync runs in the background it postpones the write by
///   up to two seconds, and still answers (`flushAppendOnlyFile`,
///   <https://github.com/valkey-io/valkey/blob/unstable/src/aof.c>).
pub(super) static TIERS: TierTable<Persistence> = TierTable {
    none: TierSetting::new(
        Durability::None,
        Persistence { appends: false, fsync: "no" },
        "appendonly=no, save=\"\"; written to a file when it is stopped",
        "https://valkey.io/topics/persistence/#no-persistence",
    ),
    process: TierSetting::new(
        Durability::Process,
        Persistence { appends: true, fsync: "no" },
        "appendonly=yes, appendfsync=no",
        MANUAL,
    )
    .reads(&[(APPEND_ONLY, &["yes"]), (FSYNC, &["no", "always"])]),
    power: TierSetting::new(
        Durability::Power,
        Persistence { appends: true, fsync: "always" },
        "appendonly=yes, appendfsync=always",
        MANUAL,
    )
    .reads(&[(APPEND_ONLY, &["yes"]), (FSYNC, &["always"]), (ON_REWRITE, &["no"])]),
};

const MANUAL: &str = "https://valkey.io/topics/persistence/#how-durable-is-the-append-only-file";
