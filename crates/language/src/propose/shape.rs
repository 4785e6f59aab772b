//! Determines which columns of a table can be used for what.

use embermark_data::table::{Inferred, InferredColumn};
use embermark_model::table::{ColumnType, OwnedValue, TimeUnit};

use super::names::Names;
use crate::draft::time_among;

/// A table, and what its columns can be used for. Columns are given by index.
pub struct Shape<'a> {
    /// What was found in the rows.
    pub table: &'a Inferred,
    /// Its name.
    pub name: String,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// The key. `None` if there is none, and the row's number is used.
    pub key: Option<Vec<usize>>,
    /// Name of the row's number if that is the key.
    pub number: String,
    /// Time column.
    pub time: Option<Time>,
    /// Column with few values, each in many rows: a sensor, a customer.
    pub by: Option<usize>,
    /// Columns of numbers that are neither key nor time nor `by`.
    pub numbers: Vec<usize>,
    /// Columns that are neither key nor time.
    pub free: Vec<usize>,
}

/// A time column that every row has.
#[derive(Clone, Copy)]
pub struct Time {
    /// Index of the column.
    pub column: usize,
    /// Whether it must be specified, because the language would choose another one or none.
    pub named: bool,
    /// Range from the first to the last time in seconds.
    pub seconds: f64,
}

impl<'a> Shape<'a> {
    /// Examines a table.
    pub fn of(table: &'a Inferred, tables: &mut Names) -> Self {
        let key = table.keys.first().cloned();
        let time = time(table, key.as_deref().unwrap_or_default());
        let mut names = Names::default();
        let mut columns: Vec<_> =
            table.columns.iter().map(|column| names.column(&column.name)).collect();
        for (place, name) in columns.iter_mut().enumerate().filter(|(_, name)| *name == "time") {
            // A column with this name is the time of its table.
            if time.is_none_or(|time| time.column != place || time.named) {
                *name = names.column("time_");
            }
        }
        let number = names.column("row");
        let is_key = |place: &usize| key.iter().flatten().any(|key| key == place);
        let is_time = |place: &usize| time.is_some_and(|time| time.column == *place);
        let by = by(table, key.as_deref().unwrap_or_default(), time);
        let all = 0..table.columns.len();
        let free: Vec<_> = all.filter(|place| !is_key(place) && !is_time(place)).collect();
        let is_number = |place: &&usize| {
            matches!(table.columns[**place].of, ColumnType::Float | ColumnType::Int { .. })
                && by != Some(**place)
        };
        let mut numbers: Vec<_> = free.iter().filter(is_number).copied().collect();
        // Measured ones before those that may be codes.
        numbers.sort_by_key(|place| table.columns[*place].of != ColumnType::Float);
        let name = tables.table(&table.label());
        Self { table, name, columns, key, number, time, by, numbers, free }
    }

    /// Returns whether it is the table of the database with this name.
    pub fn is_of(&self, name: &str) -> bool {
        self.table.schema.as_ref().is_some_and(|(table, _)| table.eq_ignore_ascii_case(name))
    }

    /// Returns the index of the column that has this name in the rows.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.table.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// Returns the name of a column.
    pub fn column(&self, place: usize) -> &str {
        &self.columns[place]
    }
}

/// Returns the unit of a column of times that every row has.
fn unit(column: &InferredColumn) -> Option<TimeUnit> {
    match column.of {
        ColumnType::Timestamp(unit) if !column.nullable => Some(unit),
        _ => None,
    }
}

fn time(table: &Inferred, key: &[usize]) -> Option<Time> {
    let column = table.time?;
    let inferred = &table.columns[column];
    let unit = unit(inferred)?;
    let (OwnedValue::Int(first), OwnedValue::Int(last)) = (&inferred.least, &inferred.greatest)
    else {
        return None;
    };
    let seconds = (*last as f64 - *first as f64) / unit.per_second() as f64;
    let is_time = |place: &usize| self::unit(&table.columns[*place]).is_some();
    let own = time_among(table.columns.len(), key, is_time);
    Some(Time { column, named: own != Some(column), seconds })
}

/// Largest number of values of a column that is queried for the newest row of each.
const MOST: u64 = 1_000;
/// Longest text, in bytes, that names a series. Longer ones are contents, and make large indexes.
const LONGEST_NAME: usize = 100;

fn by(table: &Inferred, key: &[usize], time: Option<Time>) -> Option<usize> {
    let rows = table.rows;
    let few = |place: &usize| {
        let column = &table.columns[*place];
        let kind =
            !matches!(column.of, ColumnType::Float | ColumnType::Bytes | ColumnType::Timestamp(_));
        let is_time = time.is_some_and(|time| time.column == *place);
        let is_few = (2..=(rows / 4).min(MOST)).contains(&column.distinct);
        let mut known = [&column.least, &column.greatest].into_iter().chain(&column.examples);
        let is_content =
            known.any(|value| matches!(value, OwnedValue::Text(text) if text.len() > LONGEST_NAME));
        kind && !is_time && !column.nullable && is_few && !is_content
    };
    // The first column of the key, otherwise one with a name of a series, then a text or a truth
    // value. Whole numbers are rather measured. Of several it is the one with the most values.
    let leads = key.first().copied().filter(|_| key.len() > 1).filter(few);
    let rank = |place: &usize| {
        let column = &table.columns[*place];
        let is_number = matches!(column.of, ColumnType::Int { .. });
        (column.is_named_series(), !is_number, column.distinct)
    };
    leads.or_else(|| (0..table.columns.len()).filter(few).max_by_key(rank))
}
