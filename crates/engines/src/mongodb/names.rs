//! Names of settings that tiers and what is read back have in common.

/// Under this name stands whether there is a journal.
pub(super) const JOURNAL: &str = "storage.journal";

/// Under this name stands whether the journal has a write before it is acknowledged: handed to the
/// operating system by the storage engine, or synced for one that waits for it.
pub(super) const HANDED: &str = "journal before acknowledgement";

pub(super) const JOURNAL_ENABLED: &str = "storage.journal.enabled";

/// Under this name stands how writes are acknowledged.
pub(super) const CONCERN: &str = "writeConcern";
