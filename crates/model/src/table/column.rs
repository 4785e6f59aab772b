//! A column of a table and its type.

use std::fmt;

use super::Make;

/// The source fields of a column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Field {
    /// The names of the fields, whose texts are joined by a blank. If empty, the column's own name.
    pub names: Vec<String>,
    /// The format of a time, as `strptime` takes it.
    pub format: Option<String>,
    /// Words and numbers that mean a missing value in this column, instead of those of the table.
    pub absent: Option<Vec<String>>,
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name: letters, digits and underscores, but no keyword of SQL.
    pub name: String,
    /// Its source, if that is not a field with its name.
    pub from: Option<Box<Field>>,
    /// Its type.
    pub of: ColumnType,
    /// The most characters of a text, if the file limits it: `text(25)`.
    pub longest: Option<u32>,
    /// Whether a value may be absent.
    pub nullable: bool,
    /// How its values are generated, in a table whose rows are.
    pub make: Option<Make>,
    /// The JSON document that contains it, if it is a field of one.
    pub within: Option<Box<Within>>,
}

/// The place of a column that is a field of a JSON document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Within {
    /// The name of the column of documents.
    pub document: String,
    /// The name of the field.
    pub field: String,
    /// Whether documents are stored in the engine's binary form instead of as text.
    pub binary: bool,
}

impl Column {
    /// Makes a column that is never absent and has no further properties.
    pub fn new(name: impl Into<String>, of: ColumnType) -> Self {
        let name = name.into();
        Self { name, from: None, of, longest: None, nullable: false, make: None, within: None }
    }
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnType {
    /// `bool`: stored as the integers 0 and 1.
    Bool,
    /// `u8` to `u64`, `i8` to `i64`. A `u64` is at most 2^63 - 1, because engines' integers are
    /// signed.
    Int {
        /// 8, 16, 32 or 64.
        bits: u8,
        /// Whether it may be negative.
        signed: bool,
    },
    /// `f64`: finite.
    Float,
    /// `text`: UTF-8 without NUL.
    Text,
    /// `bytes`.
    Bytes,
    /// `timestamp`: stored as an integer of its unit since 1970-01-01 UTC.
    Timestamp(TimeUnit),
}

/// The unit of a timestamp column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// `s`
    Seconds,
    /// `ms`
    Milliseconds,
    /// `us`
    Microseconds,
    /// `ns`
    Nanoseconds,
}

impl TimeUnit {
    /// The number of units per second.
    pub const fn per_second(self) -> i64 {
        match self {
            Self::Seconds => 1,
            Self::Milliseconds => 1_000,
            Self::Microseconds => 1_000_000,
            Self::Nanoseconds => 1_000_000_000,
        }
    }

    /// The unit as a workload file writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
            Self::Nanoseconds => "ns",
        }
    }
}

impl ColumnType {
    /// Bytes of a value, for counting user bytes. `None` for text and bytes, whose length depends
    /// on the value.
    pub const fn width(self) -> Option<u64> {
        match self {
            Self::Bool => Some(1),
            Self::Int { bits, .. } => Some(bits as u64 / 8),
            Self::Float | Self::Timestamp(_) => Some(8),
            Self::Text | Self::Bytes => None,
        }
    }
}

/// Returns the least and the greatest integer of a type, of those that an `i64` holds.
#[inline]
pub const fn int_range(bits: u8, signed: bool) -> (i64, i64) {
    let greatest = match (bits, signed) {
        (64, _) => i64::MAX,
        (bits, false) => (1 << bits) - 1,
        (bits, true) => (1 << (bits - 1)) - 1,
    };
    (if signed { -greatest - 1 } else { 0 }, greatest)
}

impl fmt::Display for ColumnType {
    /// Writes the type as a workload file does, a timestamp without its unit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("bool"),
            Self::Int { bits, signed } => write!(f, "{}{bits}", if *signed { 'i' } else { 'u' }),
            Self::Float => f.write_str("f64"),
            Self::Text => f.write_str("text"),
            Self::Bytes => f.write_str("bytes"),
            Self::Timestamp(_) => f.write_str("timestamp"),
        }
    }
}
