//! Description of rows that is inferred from their values.

use std::collections::BTreeMap;
use std::path::Path;

use embermark_model::table::{ColumnType, Field, OwnedValue, RowsFile, TimeUnit};

use super::guess::YEARS;
use super::names;
use crate::table::source::FileStates;
use crate::table::time::clock_of;

/// Columns, keys and format of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Inferred {
    /// The files or the query, with the options that read them.
    pub from: RowsFile,
    /// Name of their format: `CSV with tabs`.
    pub format: String,
    /// Number of rows that match `columns`.
    pub rows: u64,
    /// Number of rows that do not match, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// The columns, in the order of the file.
    pub columns: Vec<InferredColumn>,
    /// Keys of up to three columns, the best first. A key is a list of indexes into `columns`; no
    /// two rows have the same values in these columns.
    pub keys: Vec<Vec<usize>>,
    /// If there is no key, the columns that come nearest to one.
    pub near_key: Option<NearKey>,
    /// Index of the time column.
    pub time: Option<usize>,
    /// For a table of a database, its name and the columns of each of its indexes.
    pub schema: Option<(String, Vec<Vec<usize>>)>,
    /// Remarks on what is skipped and what is unusual.
    pub notes: Vec<String>,
    /// State of the files before they were read.
    pub states: FileStates,
}

impl Inferred {
    /// Returns the first and the last time and the average rate of the rows as text, or `None` if
    /// they have no time column.
    pub fn span(&self) -> Option<String> {
        let column = &self.columns[self.time?];
        let ColumnType::Timestamp(unit) = column.of else { return None };
        let (OwnedValue::Int(from), OwnedValue::Int(to)) = (&column.least, &column.greatest) else {
            return None;
        };
        let [first, last] = [*from, *to].map(|time| time_text(time, unit));
        let seconds = (*to as f64 - *from as f64) / unit.per_second() as f64;
        // A clock that was not set, and a time for no end, make the rate meaningless.
        let is_odd = *from < YEARS.0 * unit.per_second() || *to >= YEARS.1 * unit.per_second();
        // From the first row to the last there is one period less than there are rows.
        let often = match self.rows.saturating_sub(1) as f64 / seconds {
            _ if seconds <= 0.0 || is_odd => String::new(),
            often if often >= 1.0 => format!(": {often:.1} rows per second"),
            often => format!(": a row every {}", period(1.0 / often)),
        };
        Some(format!("{} from {first} to {last}{often}", column.name))
    }

    /// Takes the time in the best key for the time column, if there is one.
    pub(super) fn take_time_of_key(&mut self) {
        let key = self.keys.first().into_iter().flatten().copied();
        let is_time = |at: &usize| matches!(self.columns[*at].of, ColumnType::Timestamp(_));
        let times: Vec<usize> = key.filter(is_time).collect();
        if !self.time.is_some_and(|time| times.contains(&time)) {
            self.time = times.first().copied().or(self.time);
        }
    }

    /// Returns a name for the rows: the name of their table in a database, or the common prefix of
    /// their files' names.
    pub fn label(&self) -> String {
        if let Some((name, _)) = &self.schema {
            return name.clone();
        }
        let mut names = self.from.files.iter().map(|file| {
            // Up to the first dot, because `readings.csv.gz` has two, or to a sign of a pattern.
            let mut stems = Path::new(file).iter().rev().map(|part| {
                let part = part.to_string_lossy();
                part.split(['.', '*', '?']).next().unwrap_or_default().to_owned()
            });
            stems.find(|stem| !stem.is_empty()).unwrap_or_else(|| "rows".to_owned())
        });
        let Some(first) = names.next() else { return "rows".to_owned() };
        let mut shared = first.clone();
        for name in names {
            let same = shared.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
            shared = shared.chars().take(same).collect();
        }
        let trimmed = match shared == first {
            true => &*shared,
            false => shared.trim_end_matches(|char: char| !char.is_alphabetic()),
        };
        if trimmed.is_empty() { first } else { trimmed.to_owned() }
    }
}

/// Columns that are unique together except in a few rows.
#[derive(Clone, Debug, PartialEq)]
pub struct NearKey {
    /// Indexes of the columns.
    pub key: Vec<usize>,
    /// Number of rows whose key an earlier row has.
    pub rows: u64,
    /// Positions of the first two rows that have the same key.
    pub first: (String, String),
}

/// A column. All counts are of the matching rows.
#[derive(Clone, Debug, PartialEq)]
pub struct InferredColumn {
    /// Name of the field in the file, which may be invalid as a column name.
    pub name: String,
    /// Fields and format that it is read from, if not simply the field of that name.
    pub from: Option<Field>,
    /// The narrowest type that all values match. Integers have room to grow: see [`super::infer`].
    pub of: ColumnType,
    /// Whether any value is missing.
    pub nullable: bool,
    /// Number of missing values.
    pub absent: u64,
    /// The smallest value, by bytes for texts; [`OwnedValue::Null`] if all are missing.
    pub least: OwnedValue,
    /// The largest value.
    pub greatest: OwnedValue,
    /// Number of different values, as far as they are counted.
    pub distinct: u64,
    /// Whether all different values are counted; otherwise there are more.
    pub exact: bool,
    /// The first different values.
    pub examples: Vec<OwnedValue>,
    /// Whether the values never decrease in the order of the file.
    pub ascending: bool,
}

impl InferredColumn {
    /// Whether its name is one of what has a series of rows, such as a sensor.
    pub fn is_named_series(&self) -> bool {
        names::is_series(&self.name)
    }
}

/// Returns a time of a column as text, or its number if that is out of range.
pub fn time_text(time: i64, unit: TimeUnit) -> String {
    let nanos = i128::from(time) * i128::from(1_000_000_000 / unit.per_second());
    clock_of(nanos).map_or_else(|| time.to_string(), |clock| format!("{clock}Z"))
}

/// Returns a duration in the largest unit of which it has at least two.
fn period(seconds: f64) -> String {
    let units = [("days", 86_400.0), ("h", 3_600.0), ("min", 60.0)];
    let unit = units.into_iter().find(|(_, length)| seconds >= 2.0 * length);
    let (name, length) = unit.unwrap_or(("s", 1.0));
    format!("{:.1} {name}", seconds / length)
}
