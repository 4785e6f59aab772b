//! What is inferred of rows.

use std::collections::BTreeMap;
use std::path::Path;

use embermark_model::table::{ColumnType, Field, OwnedValue, RowsFile};

use super::guess::YEARS;
use crate::table::source::FileStates;

/// What rows hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Inferred {
    /// The files or the query, with all that it takes to read them.
    pub from: RowsFile,
    /// What they are, in words.
    pub format: String,
    /// Rows that fit the columns below.
    pub rows: u64,
    /// Rows that do not, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Its columns in the order of the file.
    pub columns: Vec<InferredColumn>,
    /// Places of columns that are a key: over all rows no two have the same values in them. The best
    /// first; none where there is none of up to three columns.
    pub keys: Vec<Vec<usize>>,
    /// If there is no key: columns whose values are unique together, except in a few rows.
    pub nearly: Option<Nearly>,
    /// The place of the column of time, if there is one.
    pub time: Option<usize>,
    /// What the table is called, and the places of the columns of its indexes, in a database.
    pub schema: Option<(String, Vec<Vec<usize>>)>,
    /// What else was seen: what is passed over, and what is odd.
    pub notes: Vec<String>,
    /// The files as they were before they were read.
    pub states: FileStates,
}

impl Inferred {
    /// From when to when the rows are, and how many came in a second, in words; of rows that have no time
    /// `None`.
    pub fn span(&self) -> Option<String> {
        let column = &self.columns[self.time?];
        let ColumnType::Timestamp(unit) = column.of else { return None };
        let (OwnedValue::Int(from), OwnedValue::Int(to)) = (&column.least, &column.greatest) else {
            return None;
        };
        let shown = |time: i64| {
            let nanos = i128::from(time) * i128::from(1_000_000_000 / unit.per_second());
            let moment = jiff::Timestamp::from_nanosecond(nanos);
            moment.map_or_else(|_| time.to_string(), |moment| moment.to_string())
        };
        let seconds = (to - from) as f64 / unit.per_second() as f64;
        // Of a clock that was not set the span says nothing.
        let is_unset = *from < YEARS.0 * unit.per_second();
        let often = match self.rows as f64 / seconds {
            _ if seconds <= 0.0 || is_unset => String::new(),
            often if often >= 1.0 => format!(": {often:.1} rows per second"),
            often => format!(": a row every {:.1} s", 1.0 / often),
        };
        Some(format!("{} from {} to {}{often}", column.name, shown(*from), shown(*to)))
    }

    /// What the rows are called: by the beginning that the names of their files share.
    pub fn label(&self) -> String {
        if let Some((name, _)) = &self.schema {
            return name.clone();
        }
        let names = self.from.files.iter().map(|file| {
            let path = Path::new(file);
            let is_pattern = |part: &&str| part.is_empty() || part.contains(['*', '?']);
            let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
            let part = parts.iter().rev().find(|part| {
                let stem = part.split(['.', '*', '?']).next().unwrap_or_default();
                !is_pattern(&stem)
            });
            // What stands before the first dot: `readings.csv.gz` has two.
            let part = part.map_or("rows", |part| part);
            part.split(['.', '*', '?']).find(|part| !part.is_empty()).unwrap_or("rows").to_owned()
        });
        let mut names = names;
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

/// Columns that are unique together but for a few rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Nearly {
    /// The places of the columns.
    pub key: Vec<usize>,
    /// Rows whose key a row before has.
    pub rows: u64,
    /// Where the first two rows of one key stand.
    pub first: (String, String),
}

/// What a column holds. All figures are of the rows that fit.
#[derive(Clone, Debug, PartialEq)]
pub struct InferredColumn {
    /// The name of the field as the file has it, which need not be a name for a column of a table.
    pub name: String,
    /// What it is read from, where that is more than the field of its name.
    pub from: Option<Field>,
    /// The narrowest type that all values fit, integers with room: see [`super::infer`].
    pub of: ColumnType,
    /// Whether values are absent.
    pub nullable: bool,
    /// How many are.
    pub absent: u64,
    /// The least value, of texts by their bytes; [`OwnedValue::Null`] where all are absent.
    pub least: OwnedValue,
    /// The greatest.
    pub greatest: OwnedValue,
    /// How many different values there are, as far as they are counted.
    pub distinct: u64,
    /// Whether all of them are counted; otherwise there are more.
    pub exact: bool,
    /// The first different values.
    pub examples: Vec<OwnedValue>,
    /// Whether no value is less than the one before it, in the order of the file.
    pub ascending: bool,
}
