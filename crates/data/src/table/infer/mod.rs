//! What rows hold: their columns, the types of these, and which of them are a key.

mod columns;
mod formats;
mod guess;
mod hints;
mod keys;
mod look;
mod names;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use embermark_model::table::{
    ColumnType, Field, Keep, Literal, OwnedValue, RowsFile, RowsFrom, Table,
};

use self::columns::{columns, told};
use self::guess::{Guess, without_nuls};
use self::hints::hints;
use self::look::look;
use super::fault::Fault;
use super::select::Selection;
use super::source::{FileStates, Kind, Rejected, Source, SqliteTable};
use crate::DataError;

/// Different values that are shown of a column.
const EXAMPLES: usize = 3;
/// The share of rows that may have the key of another for that key to be proposed.
const NEARLY: f64 = 0.1;

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
        let is_unset = *from < guess::YEARS.0 * unit.per_second();
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
    /// How many different values there are, as far as they are counted.
    pub distinct: u64,
    /// Whether all of them are counted; otherwise there are more.
    pub exact: bool,
    /// The first different values.
    pub examples: Vec<OwnedValue>,
    /// Whether no value is less than the one before it, in the order of the file.
    pub ascending: bool,
}

/// Reads all rows of files or of a query, and says what they hold. Names count from `base`.
///
/// Integers are unsigned where none is negative, and of at least 16 bits with room for twice the
/// greatest: what numbers things or counts grows, one byte less a row is hardly worth a row that
/// does not fit later. Integers with zeros in front are texts. Integers are times where they lie in
/// the years 1990 to 2100 as seconds, milliseconds, microseconds or nanoseconds and the name of the
/// field or its ascending values say so. Times get the coarsest unit that cuts nothing off. Of up to
/// a hundredth of a field's values it does not matter what they are: their rows do not fit. Words
/// that stand for no value are named.
///
/// The rows lie in a temporary file meanwhile, of the size of a staged table, and for each key that
/// is tried 16 bytes a row; memory does not grow with their number.
///
/// # Errors
/// Those of reading a file, and [`DataError::NotTabular`] where it has no rows.
pub fn infer(from: &RowsFile, base: &Path) -> Result<Inferred, DataError> {
    let unwritable = |cause| DataError::Unwritable { path: std::env::temp_dir(), cause };
    let folder = tempfile::tempdir().map_err(unwritable)?;
    let mut from = from.clone();
    let mut notes = Vec::new();
    let (mut source, mut survey) = match look_over(&from, base, folder.path()) {
        Err(DataError::MixedEnds(_)) => {
            notes.push("lines end in more than one way".to_owned());
            from.read.push(("strict_mode".to_owned(), Literal::Bool(false)));
            look_over(&from, base, folder.path())?
        }
        looked => looked?,
    };
    let states = source.states.clone();
    // A quote that is not closed takes lines with it: without quotes there may be fewer.
    let lost = |survey: &Survey| survey.rejected.iter().map(|line| line.lines).sum::<u64>();
    let has = |survey: &Survey, fault| survey.rejected.iter().any(|line| line.fault == fault);
    let text = |text: &str| Literal::Text(text.to_owned());
    for (fault, name, value) in [
        (Fault::StrayQuote, "escape", text("\\")),
        (Fault::StrayQuote, "quote", text("")),
        (Fault::NotUtf8, "encoding", text("latin-1")),
        (Fault::TooFewFields, "null_padding", Literal::Bool(true)),
    ] {
        let is_few = lost(&survey) as f64 <= guess::MISFITS * survey.rows as f64;
        if !has(&survey, fault)
            || fault == Fault::TooFewFields && is_few
            || from.read.iter().any(|(key, _)| key == name)
        {
            continue;
        }
        let first = survey.rejected.iter().find(|line| line.fault == fault);
        let first = first.map_or(0, |line| line.line);
        let mut other = from.clone();
        other.read.push((name.to_owned(), value.clone()));
        let (another, surveyed) = look_over(&other, base, folder.path())?;
        if lost(&surveyed) < lost(&survey) {
            notes.push(format!(
                "line {first} has {}: read with {name} = {}",
                fault.reason(),
                value.to_string().replace('\'', "\"")
            ));
            (from, source, survey) = (other, another, surveyed);
        }
    }
    if survey.rows == 0 {
        return Err(match survey.rejected.first() {
            Some(line) => source.not_tabular(format!(
                "it has no rows: line {} has {}, {:?}",
                line.line,
                line.fault.reason(),
                line.text.chars().take(60).collect::<String>()
            )),
            None => DataError::NoRows(source.name.clone()),
        });
    }
    notes.extend(told(&source, &mut from));
    let columns = columns(&source, &survey, &mut from, &mut notes)?;
    notes.extend(hints(&source, &survey, &columns));
    let table = Table {
        name: "rows".to_owned(),
        columns,
        key: Vec::new(),
        indexes: Vec::new(),
        rows: RowsFrom::File(Box::new(from.clone())),
    };
    let format = match (source.files.as_ref().map(|files| files.kind), &source.dialect) {
        (Some(Kind::Csv), Some(dialect)) => match &*dialect.delimiter {
            ";" => "CSV with semicolons".to_owned(),
            "\t" => "CSV with tabs".to_owned(),
            "|" => "CSV with bars".to_owned(),
            " " => "CSV with blanks".to_owned(),
            _ => "CSV".to_owned(),
        },
        (Some(Kind::Sqlite), _) => "SQLite".to_owned(),
        (Some(kind), _) => kind.to_string(),
        (None, _) => "a query".to_owned(),
    };
    source.states = states;
    look(&source, table, base, folder.path(), format, notes)
}

/// Looks at a table of an SQLite database: with the key and the indexes that it has there.
///
/// # Errors
/// As of [`infer`].
pub fn infer_sqlite(file: &str, table: &SqliteTable, base: &Path) -> Result<Inferred, DataError> {
    let from = RowsFile { query: Some(table.query.clone()), ..RowsFile::from(file) };
    let mut inferred = infer(&from, base)?;
    let place = |name: &String| {
        inferred.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
    };
    let places = |names: &Vec<String>| names.iter().map(place).collect::<Option<Vec<_>>>();
    let key = places(&table.key);
    let indexes = table.indexes.iter().filter_map(places).collect();
    let is_able = |key: &Vec<usize>| key.iter().all(|at| !inferred.columns[*at].nullable);
    if let Some(key) = key.filter(is_able) {
        inferred.keys.retain(|other| *other != key);
        inferred.keys.insert(0, key);
        (inferred.nearly, inferred.from.keep) = (None, Keep::One);
    }
    inferred.schema = Some((table.name.clone(), indexes));
    Ok(inferred)
}

/// Files grouped by their fields: those of the same fields are one table.
///
/// # Errors
/// Those of opening files.
pub fn alike(files: &[PathBuf]) -> Result<Vec<Vec<PathBuf>>, DataError> {
    let mut groups: Vec<(Vec<String>, Vec<PathBuf>)> = Vec::new();
    for file in files {
        let path = std::path::absolute(file);
        let path = path.map_err(|cause| DataError::Unreadable { path: file.clone(), cause })?;
        let from = RowsFile::from(&*path.to_string_lossy());
        let source = Source::open(&from, Path::new("/"), &std::env::temp_dir(), Some(&[]))?;
        let names: Vec<_> = source.fields().iter().map(|field| field.name.clone()).collect();
        match groups.iter_mut().find(|(others, _)| *others == names) {
            Some((_, group)) => group.push(file.clone()),
            None => groups.push((names, vec![file.clone()])),
        }
    }
    Ok(groups.into_iter().map(|(_, group)| group).collect())
}

/// What was seen of every field, and the lines that are no rows.
struct Survey {
    rows: u64,
    guesses: Vec<Guess>,
    rejected: Vec<Rejected>,
}

fn look_over(from: &RowsFile, base: &Path, scratch: &Path) -> Result<(Source, Survey), DataError> {
    let source = Source::open(from, base, scratch, None)?;
    let selection = Selection::all(&source);
    let mut guesses = vec![Guess::default(); source.fields().len()];
    let (mut rows, is_text) = (0, source.dialect.is_some());
    source.read(&selection.sql, |block| {
        for row in 0..block.rows() {
            if source.is_broken(block, row, guesses.len()) || selection.is_header(block, row) {
                continue;
            }
            rows += 1;
            for (at, guess) in guesses.iter_mut().enumerate() {
                let cell = block.cell(at, row);
                guess.take(if is_text { without_nuls(cell) } else { cell });
            }
        }
        Ok(true)
    })?;
    let rejected = source.rejected()?;
    Ok((source, Survey { rows, guesses, rejected }))
}

/// So many of something, in words.
fn counted(count: u64, of: &str) -> String {
    format!("{count} {of}{}", if count == 1 { "" } else { "s" })
}
