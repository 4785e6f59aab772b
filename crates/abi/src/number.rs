//! The numbers of the header, by its names without `EMBERMARK_`.

/// Version of the interface.
pub const ABI: u32 = 2;

/// Success.
pub const OK: i32 = 0;
/// The key does not exist.
pub const NOT_FOUND: i32 = 1;
/// Nothing was done because of another client. The call may be repeated.
pub const CONFLICT: i32 = 2;
/// The engine does not support it.
pub const UNSUPPORTED: i32 = 3;
/// It failed.
pub const FAILED: i32 = 4;

/// A commit survives nothing.
pub const NONE: u32 = 0;
/// A commit survives the death of its process.
pub const PROCESS: u32 = 1;
/// A commit survives a power cut.
pub const POWER: u32 = 2;

/// The family of key-value engines.
pub const KEY_VALUE: u32 = 1;
/// The family of SQL engines.
pub const SQL: u32 = 2;

/// Flag: a single operation is a transaction.
pub const AUTOCOMMIT: u32 = 1;
/// Flag: reads in a batch see its changes.
pub const READS_BATCH: u32 = 2;
/// Flag: `del` does not report whether the key existed.
pub const BLIND_DELETE: u32 = 4;
/// Flag: the licence forbids publishing figures.
pub const FORBIDS_PUBLISHING: u32 = 8;
/// Flag: rows are only added and read.
pub const APPENDS_ONLY: u32 = 16;

/// A setting accepts any value.
pub const ANY: u32 = 0;
/// A setting accepts a whole number.
pub const NUMBER: u32 = 1;
/// A setting accepts one of several words.
pub const WORD: u32 = 2;

/// A scope that reads one snapshot.
pub const SNAPSHOT: u32 = 0;
/// A scope that is one transaction.
pub const BATCH: u32 = 1;

/// A NULL value.
pub const NULL: u32 = 0;
/// An integer value.
pub const INTEGER: u32 = 1;
/// A double value.
pub const DOUBLE: u32 = 2;
/// A text value.
pub const TEXT: u32 = 3;
/// A value of bytes.
pub const BLOB: u32 = 4;

/// A column of 32-bit integers.
pub const TYPE_INT: u32 = 1;
/// A column of 64-bit integers.
pub const TYPE_BIG: u32 = 2;
/// A column of doubles.
pub const TYPE_DOUBLE: u32 = 3;
/// A column of texts.
pub const TYPE_TEXT: u32 = 4;
/// A column of bytes.
pub const TYPE_BYTES: u32 = 5;

/// A dialect compares row values.
pub const ROW_VALUES: u32 = 1;
/// A dialect has window functions.
pub const WINDOWS: u32 = 2;
/// A dialect reads from queries (derived tables).
pub const DERIVED_TABLES: u32 = 4;
/// A dialect finds the newest rows by their key.
pub const SEEKS_BY_KEY: u32 = 16;
/// A dialect skips from group to group in a key.
pub const SKIPS_IN_GROUPS: u32 = 32;

/// Rows to load come in the order of their key.
pub const BULK_SORTED: u32 = 1;
