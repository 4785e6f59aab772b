//! The numbers of the header, by its names without `EMBERMARK_`.

/// The version of the interface.
pub const ABI: u32 = 2;

/// Done.
pub const OK: i32 = 0;
/// There is no such key.
pub const NOT_FOUND: i32 = 1;
/// Nothing was done, for the sake of another client.
pub const CONFLICT: i32 = 2;
/// The engine has no such thing.
pub const UNSUPPORTED: i32 = 3;
/// It failed.
pub const FAILED: i32 = 4;

/// A commit survives nothing.
pub const NONE: u32 = 0;
/// It survives the death of its process.
pub const PROCESS: u32 = 1;
/// It survives a power cut.
pub const POWER: u32 = 2;

/// The family of key-value engines.
pub const KEY_VALUE: u32 = 1;
/// The family of SQL engines.
pub const SQL: u32 = 2;

/// A flag: an operation by itself is a transaction.
pub const AUTOCOMMIT: u32 = 1;
/// A flag: reads in a batch see its changes.
pub const READS_BATCH: u32 = 2;
/// A flag: `del` does not tell whether the key was there.
pub const BLIND_DELETE: u32 = 4;
/// A flag: its licence forbids publishing figures.
pub const FORBIDS_PUBLISHING: u32 = 8;
/// A flag: rows are only added and read.
pub const APPENDS_ONLY: u32 = 16;

/// A setting takes anything.
pub const ANY: u32 = 0;
/// It takes a whole number.
pub const NUMBER: u32 = 1;
/// It takes one of some words.
pub const WORD: u32 = 2;

/// A scope that reads one state.
pub const SNAPSHOT: u32 = 0;
/// A scope that is one transaction.
pub const BATCH: u32 = 1;

/// A value that is NULL.
pub const NULL: u32 = 0;
/// One that is an integer.
pub const INTEGER: u32 = 1;
/// One that is a double.
pub const DOUBLE: u32 = 2;
/// One that is a text.
pub const TEXT: u32 = 3;
/// One that is bytes.
pub const BLOB: u32 = 4;

/// A column of integers of 32 bits.
pub const TYPE_INT: u32 = 1;
/// One of integers of 64 bits.
pub const TYPE_BIG: u32 = 2;
/// One of doubles.
pub const TYPE_DOUBLE: u32 = 3;
/// One of texts.
pub const TYPE_TEXT: u32 = 4;
/// One of bytes.
pub const TYPE_BYTES: u32 = 5;

/// A dialect compares rows.
pub const ROW_VALUES: u32 = 1;
/// It has window functions.
pub const WINDOWS: u32 = 2;
/// It reads from queries.
pub const DERIVED_TABLES: u32 = 4;
/// It groups by expressions.
pub const GROUP_BY_EXPRESSION: u32 = 8;
/// It finds the newest rows by their key.
pub const SEEKS_BY_KEY: u32 = 16;
/// It goes from group to group in a key.
pub const SKIPS_IN_GROUPS: u32 = 32;

/// Rows to load come in the order of their key.
pub const BULK_SORTED: u32 = 1;
