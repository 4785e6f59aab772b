//! What a file of rows holds: its columns, their types, and which of them are a key.

mod distinct;
mod guess;
mod keys;
mod names;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use embermark_model::choice::UnknownName;
use embermark_model::table::{Column, ColumnType, OwnedValue, RowsFrom, Table, Value};

use self::distinct::Distinct;
use self::guess::Guess;
use super::fault::Fault;
use super::record::{Names, Record, Sink};
use super::source::Source;
use super::stage::stage;
use super::{Format, StagedTable, compare, time};
use crate::DataError;

/// Different values that are shown of a column.
const EXAMPLES: usize = 3;

/// What a file of rows holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Inferred {
    /// The file.
    pub file: PathBuf,
    /// Its format.
    pub format: Format,
    /// Rows that fit the columns below.
    pub rows: u64,
    /// Rows that do not, by reason: of another number of fields than the first line, or with a
    /// number that is not finite.
    pub dropped: BTreeMap<String, u64>,
    /// Its columns in the order of the file.
    pub columns: Vec<InferredColumn>,
    /// Places of columns that are a key: over all rows no two have the same values in them. The best
    /// first; none where there is none of up to three columns.
    pub keys: Vec<Vec<usize>>,
    /// The place of the column of time, if there is one.
    pub time: Option<usize>,
}

/// What a column of a file holds. All figures are of the rows that fit.
#[derive(Clone, Debug, PartialEq)]
pub struct InferredColumn {
    /// The name of the field as the file has it, which need not be a name for a column of a table;
    /// of CSV it may be empty.
    pub name: String,
    /// The narrowest type that all values fit, integers with room: see [`infer`].
    pub of: ColumnType,
    /// Whether values are absent.
    pub nullable: bool,
    /// How many are.
    pub absent: u64,
    /// The least value, of texts by their bytes; [`OwnedValue::Null`] where all are absent.
    pub least: OwnedValue,
    /// The greatest.
    pub greatest: OwnedValue,
    /// How many different values there are.
    pub distinct: u64,
    /// Whether that is counted; otherwise it is an estimate with a standard error of 0.8 %.
    pub exact: bool,
    /// The first different values.
    pub examples: Vec<OwnedValue>,
    /// Whether no value is less than the one before it, in the order of the file.
    pub ascending: bool,
}

/// Reads all rows of a file twice and says what they hold.
///
/// Integers are unsigned where none is negative, and of at least 16 bits with room for twice the
/// greatest: what numbers things or counts grows, one byte less a row is hardly worth a row that
/// does not fit later. Integers with zeros in front are texts. Integers are times where all lie in
/// the years 1990 to 2100 as seconds, milliseconds, microseconds or nanoseconds and the name of the
/// field or its ascending values say so. Times that are dates get the coarsest unit that cuts
/// nothing off. A field of numbers of which up to a hundredth is not finite is one of numbers.
///
/// The rows lie in a temporary file meanwhile, of the size of a staged table, and for each key that
/// is tried 16 bytes a row; memory does not grow with their number.
///
/// # Errors
/// Those of reading a file, and [`DataError::NotTabular`] where it has no rows or its first line no
/// names.
pub fn infer(path: &Path) -> Result<Inferred, DataError> {
    let source = Source::open(path)?;
    let mut survey = Survey::default();
    let names = source.read(&mut survey)?;
    let names: Vec<String> = names.iter().map(str::to_owned).collect();
    if matches!(source.format, Format::Csv { .. }) && are_values(&names) {
        let first = names.join(" ");
        return Err(source.not_tabular(format!("its first line has no names but values: {first}")));
    }
    if survey.rows == 0 {
        return Err(source.not_tabular("it has no rows"));
    }
    survey.guesses.resize_with(names.len(), Guess::default);
    let columns = names.iter().zip(&survey.guesses).map(|(name, guess)| Column {
        nullable: guess.seen() < survey.rows,
        ..Column::new(name, guess.column_type(name))
    });
    let table = Table {
        name: "rows".to_owned(),
        columns: columns.collect(),
        key: Vec::new(),
        indexes: Vec::new(),
        rows: RowsFrom::File(path.to_owned()),
    };
    look(&source, &table)
}

/// Whether what stands for names is values: the first is a number, or one is a time.
fn are_values(names: &[String]) -> bool {
    let first = names.first().map(fast_float2::parse::<f64, _>);
    matches!(first, Some(Ok(_))) || names.iter().any(|name| time::parse(name.as_bytes()).is_some())
}

/// Stages the rows and looks at them.
fn look(source: &Source, table: &Table) -> Result<Inferred, DataError> {
    let unwritable = |cause| DataError::Unwritable { path: std::env::temp_dir(), cause };
    let folder = tempfile::tempdir().map_err(unwritable)?;
    let to = folder.path().join("rows");
    let here = Path::new("");
    let staged = stage(std::slice::from_ref(table), 0, here, None, 0, 1.0, &to)?;
    let rows = StagedTable::open(&to)?;
    if rows.rows() == 0 {
        return Err(source.not_tabular("none of its rows fits the others"));
    }
    let mut columns: Vec<InferredColumn> =
        table.columns.iter().enumerate().map(|(at, column)| column_of(&rows, at, column)).collect();
    let time = keys::time(&columns);
    let keys = keys::find(&rows, &columns, time, folder.path()).map_err(unwritable)?;
    for &key in keys.iter().filter_map(|key| <&[usize; 1]>::try_from(&key[..]).ok()).flatten() {
        (columns[key].distinct, columns[key].exact) = (staged.rows, true);
    }
    Ok(Inferred {
        file: source.path.clone(),
        format: source.format,
        rows: staged.rows,
        dropped: staged.dropped,
        columns,
        keys,
        time,
    })
}

/// Looks at all values of a column.
fn column_of(rows: &StagedTable, at: usize, column: &Column) -> InferredColumn {
    let mut distinct = Distinct::default();
    let (mut absent, mut ascending) = (0, true);
    let mut examples: Vec<Value<'_>> = Vec::new();
    let (mut least, mut greatest, mut last) = (Value::Null, Value::Null, Value::Null);
    for row in 0..rows.rows() {
        let value = rows.value(row, at);
        if value == Value::Null {
            absent += 1;
            continue;
        }
        distinct.take(&value);
        // Null comes before all values.
        ascending &= compare(&last, &value).is_le();
        last = value;
        if least == Value::Null || compare(&value, &least).is_lt() {
            least = value;
        }
        if compare(&value, &greatest).is_gt() {
            greatest = value;
        }
        if examples.len() < EXAMPLES && !examples.contains(&value) {
            examples.push(value);
        }
    }
    InferredColumn {
        name: column.name.clone(),
        of: column.of,
        nullable: column.nullable,
        absent,
        least: least.to_owned(),
        greatest: greatest.to_owned(),
        distinct: distinct.count().min(rows.rows() as u64 - absent),
        exact: distinct.is_exact(),
        examples: examples.into_iter().map(Value::to_owned).collect(),
        ascending,
    }
}

/// Guesses the types of all fields.
#[derive(Debug, Default)]
struct Survey {
    rows: u64,
    guesses: Vec<Guess>,
}

impl Sink for Survey {
    fn begin(&mut self, names: &mut Names) -> Result<(), UnknownName> {
        names.want_all();
        Ok(())
    }

    #[inline]
    fn record<R: Record>(&mut self, record: &R) -> Result<bool, DataError> {
        self.rows += 1;
        if self.guesses.len() < record.width() {
            self.guesses.resize_with(record.width(), Guess::default);
        }
        for (place, guess) in self.guesses.iter_mut().enumerate() {
            guess.take(record.field(place));
        }
        Ok(true)
    }

    fn broken(&mut self, _line: u64, _fault: Fault, _found: &[u8]) {}
}
