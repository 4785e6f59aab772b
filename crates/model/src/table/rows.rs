//! Where the rows of a table come from: files and queries over them, or generators.

use std::fmt;

/// Where the rows of a table come from.
#[derive(Clone, Debug, PartialEq)]
pub enum RowsFrom {
    /// Existing files, or a query over them.
    File(Box<RowsFile>),
    /// This number of rows, generated from the seed: the same on every machine.
    Made(u64),
    /// `make = "sensor-log"`: this number of rows of a log of room sensors, generated from the
    /// seed, or a sample of this size of the file that a run names.
    Log(u64),
    /// `make = "telemetry"`: this number of rows, a year of locations, carbon dioxide and log
    /// lines, generated from the seed.
    Telemetry(u64),
}

/// Files of rows, and how to read them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowsFile {
    /// Files, globs and folders, relative to the folder of the workload file.
    pub files: Vec<String>,
    /// A SELECT that returns the rows: in DuckDB over its readers, or in SQLite if the file is an
    /// SQLite database.
    pub query: Option<String>,
    /// Options of DuckDB's reader, by name.
    pub read: Vec<(String, Literal)>,
    /// Words and numbers that mean a missing value, in any column that may be absent.
    pub absent: Vec<String>,
    /// The time zone of times that name none; `None` means UTC.
    pub zone: Option<String>,
    /// Which of several rows with one key is kept.
    pub keep: Keep,
}

/// The value of a reader's option, shown as an SQL literal.
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
    /// A list.
    List(Vec<Self>),
    /// Values by name.
    Map(Vec<(String, Self)>),
}

impl Literal {
    /// Returns the text, if the value is one.
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

/// Which of several rows with one key is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// The first; the others count as rows that do not fit.
    #[default]
    One,
    /// The first, on purpose.
    First,
    /// The last, for example when a sensor sends again.
    Last,
}

impl From<&str> for RowsFile {
    fn from(file: &str) -> Self {
        Self { files: vec![file.to_owned()], ..Self::default() }
    }
}
