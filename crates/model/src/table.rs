//! Tables as a workload file describes them: columns and their types, keys, indexes, and where the
//! rows come from. And the values that stand in them.

use std::fmt;

/// A table of a workload file, checked: names are distinct, places of columns exist, and no column of
/// the key may be absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name: letters, digits and underscores, no word of SQL.
    pub name: String,
    /// Its columns in order.
    pub columns: Vec<Column>,
    /// The places of the columns of its unique key, in order.
    pub key: Vec<usize>,
    /// The places of the columns of each secondary index, in order.
    pub indexes: Vec<Vec<usize>>,
    /// Where its rows come from.
    pub rows: RowsFrom,
}

/// Where the rows of a table come from.
#[derive(Clone, Debug, PartialEq)]
pub enum RowsFrom {
    /// Files that are there, or a query over them.
    File(Box<RowsFile>),
    /// They are made from the seed, so many of them: the same on every machine.
    Made(u64),
    /// `make = "sensor-log"`: they are those of a log of room sensors, so many, made from the seed; or those of the file
    /// that a run names, of which so many are a sample.
    Log(u64),
    /// `make = "telemetry"`: they are a year of places, carbon dioxide and log lines, so many, made from the seed.
    Telemetry(u64),
}

/// Files of rows, and how they are read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowsFile {
    /// Files, globs and folders, as the workload file names them: relative to its folder.
    pub files: Vec<String>,
    /// A SELECT whose rows they are: of DuckDB's over its readers, or of SQLite's where the file is an
    /// SQLite database.
    pub query: Option<String>,
    /// Options of DuckDB's reader by name.
    pub read: Vec<(String, Literal)>,
    /// Words and numbers that say that there is no value, in any column that may be absent.
    pub absent: Vec<String>,
    /// The time zone of times that name none; UTC where that is `None`.
    pub zone: Option<String>,
    /// Which row of a key stays.
    pub keep: Keep,
}

/// The value of an option of a reader; shown as a literal of SQL.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// A text.
    Text(String),
    /// An integer.
    Int(i64),
    /// A number.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// Several.
    List(Vec<Self>),
    /// Several by name.
    Map(Vec<(String, Self)>),
}

impl Literal {
    /// The text that it is.
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
        match self {
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::List(all) => {
                let all: Vec<_> = all.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", all.join(", "))
            }
            Self::Map(all) => {
                let all = all.iter().map(|(name, value)| format!("{}: {value}", quoted(name)));
                write!(f, "{{{}}}", all.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// Which of several rows of one key stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// The first; the others are rows that do not fit.
    #[default]
    One,
    /// The first, and that is meant so.
    First,
    /// The last, as where a sensor sends again.
    Last,
}

impl From<&str> for RowsFile {
    fn from(file: &str) -> Self {
        Self { files: vec![file.to_owned()], ..Self::default() }
    }
}

/// What a column is read from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Field {
    /// The names of the fields, whose texts are joined by a blank; without one, the column's own name.
    pub names: Vec<String>,
    /// How a time is written, in the words of `strptime`.
    pub format: Option<String>,
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name: letters, digits and underscores, no word of SQL.
    pub name: String,
    /// What it is read from, where that is not a field of its name.
    pub from: Option<Box<Field>>,
    /// What stands in it.
    pub of: ColumnType,
    /// The most characters of a text, where the file says so: `text(25)`.
    pub longest: Option<u32>,
    /// Whether a value may be absent.
    pub nullable: bool,
    /// How its values are made, of a table whose rows are.
    pub make: Option<Make>,
    /// The JSON document in which it is kept, where it is a field of one.
    pub within: Option<Box<Within>>,
}

/// Where a column stands that is a field of a JSON document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Within {
    /// The name of the column of documents.
    pub document: String,
    /// The name of the field.
    pub field: String,
    /// Whether documents are kept in the engine's binary form, and not as text.
    pub binary: bool,
}

impl Column {
    /// A column that is never absent, and of which nothing more is said.
    pub fn new(name: impl Into<String>, of: ColumnType) -> Self {
        let name = name.into();
        Self { name, from: None, of, longest: None, nullable: false, make: None, within: None }
    }
}

/// What stands in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnType {
    /// `bool`: kept as the integers 0 and 1.
    Bool,
    /// `u8` to `u64`, `i8` to `i64`. No value of a `u64` is above 2^63 - 1, which no engine's integers
    /// hold.
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
    /// `timestamp`: kept as an integer of its unit since 1970-01-01 UTC.
    Timestamp(TimeUnit),
}

/// The unit of a column of times.
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
    /// How many there are in a second.
    pub const fn per_second(self) -> i64 {
        match self {
            Self::Seconds => 1,
            Self::Milliseconds => 1_000,
            Self::Microseconds => 1_000_000,
            Self::Nanoseconds => 1_000_000_000,
        }
    }

    /// As a workload file writes it.
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
    /// Bytes of a value at the width of the type, which is how user bytes are counted; of text and bytes
    /// their length, which depends on the value.
    pub const fn width(self) -> Option<u64> {
        match self {
            Self::Bool => Some(1),
            Self::Int { bits, .. } => Some(bits as u64 / 8),
            Self::Float | Self::Timestamp(_) => Some(8),
            Self::Text | Self::Bytes => None,
        }
    }
}

impl fmt::Display for ColumnType {
    /// As a workload file writes it; of a timestamp without its unit.
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

/// How the values of a column are made. Each follows from the seed, the table, the column and the
/// number of the row alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Make {
    /// What they are.
    pub kind: MakeKind,
    /// The share of rows in which it is absent, from 0 to 1.
    pub absent: f64,
    /// A value that stands in exactly a share of the rows, rounded down, and that share.
    pub often: Option<(OwnedValue, f64)>,
    /// Of a time: by how much rows come later than it.
    pub late: Option<Late>,
}

/// Rows that come later than their time, behind rows that were made after them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Late {
    /// The share of rows that do, from 0 to 1.
    pub share: f64,
    /// By less than so many units of the time, all as likely.
    pub within: i64,
}

impl Make {
    /// Values of a kind in every row.
    pub const fn of(kind: MakeKind) -> Self {
        Self { kind, absent: 0.0, often: None, late: None }
    }
}

/// What made values are.
#[derive(Clone, Debug, PartialEq)]
pub enum MakeKind {
    /// `sequence`: `from`, `from + step`, … in the order of the rows, each in `repeat` rows before the
    /// next comes.
    Sequence {
        /// The first; of a timestamp in its unit since 1970.
        from: i64,
        /// From one to the next.
        step: i64,
        /// Rows of each; 1 unless said otherwise.
        repeat: u64,
    },
    /// `cycle`: `from`, `from + 1`, … and after `distinct` of them from the first again. Beside a
    /// sequence that repeats as often: every sensor at every time.
    Cycle {
        /// The first.
        from: i64,
        /// How many there are.
        distinct: u64,
    },
    /// `random` integers from `from` to `to`, both among them, all as likely.
    RandomInt {
        /// The least.
        from: i64,
        /// The greatest.
        to: i64,
    },
    /// `random` numbers from `from` up to but without `to`.
    RandomFloat {
        /// The least.
        from: f64,
        /// Above the greatest.
        to: f64,
    },
    /// `random` characters or bytes, so many: printable ASCII in a text.
    Random {
        /// The least length.
        from: u64,
        /// The greatest length.
        to: u64,
    },
    /// `words`: one of so many made words, the k-th with a likelihood of 1 / k^skew.
    Words {
        /// How many different ones.
        distinct: u64,
        /// 0: all as likely; 0.99 as in YCSB.
        skew: f64,
    },
    /// `hashed` texts: the prefix, and the row's number scrambled by a one-to-one function of 64 bits,
    /// in decimal digits. As the keys of YCSB, each row's is another, and they come in no order.
    Hashed {
        /// `user` in YCSB.
        prefix: String,
    },
    /// `uuid`: random UUIDs (version 4, RFC 9562) in their usual 36 characters.
    Uuid,
    /// `walk`: starts at `from` and goes by a normal step of that deviation each row.
    Walk {
        /// Where it starts.
        from: f64,
        /// The standard deviation of a step.
        step: f64,
        /// It turns back here.
        lowest: f64,
        /// And here.
        highest: f64,
    },
    /// `choice`: one of these, by their weights.
    Choice {
        /// The values, of the column's type.
        values: Vec<OwnedValue>,
        /// As many weights; none: all as likely.
        weights: Vec<f64>,
    },
    /// `reference`: a value of the only key column of another made table, by skew.
    Reference {
        /// The place of that table in the file.
        table: usize,
        /// As in [`MakeKind::Words`].
        skew: f64,
    },
}

/// A value of a column, that owns what it holds.
#[derive(Clone, Debug, PartialEq)]
pub enum OwnedValue {
    /// Absent.
    Null,
    /// An integer, a bool as 0 or 1, a time in its unit.
    Int(i64),
    /// A number.
    Float(f64),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl OwnedValue {
    /// The same, borrowed.
    pub fn as_value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Int(value) => Value::Int(*value),
            Self::Float(value) => Value::Float(*value),
            Self::Text(value) => Value::Text(value),
            Self::Bytes(value) => Value::Bytes(value),
        }
    }
}

/// A value of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Absent.
    Null,
    /// An integer, a bool as 0 or 1, a time in its unit.
    Int(i64),
    /// A number.
    Float(f64),
    /// A text.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
}

impl Value<'_> {
    /// The same, with a copy of what it refers to.
    pub fn to_owned(self) -> OwnedValue {
        match self {
            Self::Null => OwnedValue::Null,
            Self::Int(value) => OwnedValue::Int(value),
            Self::Float(value) => OwnedValue::Float(value),
            Self::Text(value) => OwnedValue::Text(value.to_owned()),
            Self::Bytes(value) => OwnedValue::Bytes(value.to_vec()),
        }
    }
}
