//! Names of settings in both tiers and results.

/// Name of the setting of whether there is a journal.
pub(super) const JOURNAL: &str = "storage.journal";

/// Name of the setting of whether the journal has a write before it is acknowledged: passed to the
/// operating system by the storage engine, or synced if the write waits for it.
pub(super) const HANDED: &str = "journal before acknowledgement";

pub(super) const JOURNAL_ENABLED: &str = "storage.journal.enabled";

/// Name of the setting of how writes are acknowledged.
pub(super) const CONCERN: &str = "writeConcern";
