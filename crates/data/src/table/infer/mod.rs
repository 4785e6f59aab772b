//! Infers the columns, types and keys of rows.

mod columns;
mod examine;
mod formats;
mod guess;
mod hints;
mod inferred;
mod keys;
mod names;
mod numbers;

use std::path::{Path, PathBuf};

use embermark_model::table::{Keep, Literal, RowsFile, RowsFrom, Table};

use self::columns::{columns, dialect_notes, is_local};
use self::examine::examine;
use self::guess::{Guess, without_nuls};
use self::hints::hints;
pub use self::inferred::{Inferred, InferredColumn, NearKey, time_text};
use super::fault::Fault;
use super::select::Selection;
use super::source::{Kind, Rejected, Source, SqliteTable};
use crate::DataError;

/// Number of different values of a column that are shown.
const EXAMPLES: usize = 3;
/// Largest share of rows with the key of another one for that key to be proposed.
const MAX_DUPLICATE_SHARE: f64 = 0.1;

/// Reads all rows of files or of a query, and describes them. Names are relative to `base`.
///
/// Integers are unsigned if none is negative. They have at least 16 bits, with room for twice the
/// greatest value: numbers and counts grow, and saving one byte per row is not worth a row that
/// does not match later. Integers with leading zeros are texts.
///
/// Integers are times if they are in the years 1990 to 2100 as seconds, milliseconds, microseconds
/// or nanoseconds, and if the name of the field or its ascending values suggest that. Times get the
/// coarsest unit that is exact. Up to a hundredth of a field's values may be anything: their rows
/// do not match. Words for missing values are listed.
///
/// The rows are in a temporary file meanwhile, with the size of a staged table. Each key that is
/// tried takes 16 more bytes per row. Memory does not grow with the number of rows.
///
/// # Errors
/// The errors of reading a file, and [`DataError::NotTabular`] if it has no rows.
pub fn infer(from: &RowsFile, base: &Path) -> Result<Inferred, DataError> {
    let folder = tempfile::tempdir().map_err(DataError::unwritable(&std::env::temp_dir()))?;
    let mut from = from.clone();
    let mut notes = Vec::new();
    let (mut source, mut survey) = match survey_fields(&from, base, folder.path()) {
        Err(DataError::MixedEnds(_)) => {
            notes.push("lines end in more than one way".to_owned());
            from.read.push(("strict_mode".to_owned(), Literal::Bool(false)));
            survey_fields(&from, base, folder.path())?
        }
        other => other?,
    };
    let states = source.states.clone();
    // A quote that is not closed swallows lines. Without quotes there may be fewer such lines.
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
        let (another, surveyed) = survey_fields(&other, base, folder.path())?;
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
    notes.extend(dialect_notes(&source, &mut from));
    let repeated = source.dialect.iter().flat_map(|dialect| &dialect.repeated);
    notes.extend(repeated.map(|name| {
        format!("the header has {name:?} more than once: the next is \"{name}_1\", and so on")
    }));
    let columns = columns(&source, &survey, &mut from, &mut notes)?;
    notes.extend(hints(&source, &survey, &columns, &from, base)?);
    let local: Vec<bool> =
        columns.iter().map(|column| is_local(column, &source, &survey)).collect();
    let table = Table {
        name: "rows".to_owned(),
        columns,
        key: Vec::new(),
        indexes: Vec::new(),
        rows: RowsFrom::File(Box::new(from.clone())),
    };
    let kind = source.files.as_ref().map(|files| files.kind);
    let format = match (kind, source.dialect.as_ref().map(|dialect| &*dialect.delimiter)) {
        (Some(Kind::Csv), Some(";")) => "CSV with semicolons",
        (Some(Kind::Csv), Some("\t")) => "CSV with tabs",
        (Some(Kind::Csv), Some("|")) => "CSV with bars",
        (Some(Kind::Csv), Some(" ")) => "CSV with blanks",
        (Some(Kind::Sqlite), _) => "SQLite",
        (Some(kind), _) => kind.name(),
        (None, _) => "a query",
    };
    let format = format.to_owned();
    source.states = states;
    examine(&source, table, &local, base, folder.path(), format, notes)
}

/// Examines a table of an SQLite database, with its key and indexes there.
///
/// # Errors
/// The errors of [`infer`].
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
        (inferred.near_key, inferred.from.keep) = (None, Keep::One);
        inferred.take_time_of_key();
    }
    inferred.schema = Some((table.name.clone(), indexes));
    Ok(inferred)
}

/// Groups files by their fields: files with the same fields are one table.
///
/// # Errors
/// The errors of opening files.
pub fn group_by_fields(files: &[PathBuf]) -> Result<Vec<Vec<PathBuf>>, DataError> {
    let mut groups: Vec<(Vec<String>, Vec<PathBuf>)> = Vec::new();
    for file in files {
        let path = std::path::absolute(file).map_err(DataError::unreadable(file))?;
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

/// Statistics on every field, and the lines that are not rows.
struct Survey {
    rows: u64,
    guesses: Vec<Guess>,
    rejected: Vec<Rejected>,
}

fn survey_fields(
    from: &RowsFile,
    base: &Path,
    scratch: &Path,
) -> Result<(Source, Survey), DataError> {
    let source = Source::open(from, base, scratch, None)?;
    let selection = Selection::all(&source);
    let mut guesses = vec![Guess::default(); source.fields().len()];
    let (mut rows, is_text) = (0, source.dialect.is_some());
    source.read(&selection.sql, |block| {
        let is_row = |row: usize| {
            !source.is_broken(block, row, guesses.len()) && !selection.is_header(block, row)
        };
        let are_rows: Vec<bool> = (0..block.rows()).map(is_row).collect();
        rows += are_rows.iter().filter(|is_row| **is_row).count() as u64;
        for (at, guess) in guesses.iter_mut().enumerate() {
            block.each(at, 0..block.rows(), |row, cell| {
                if are_rows[row] {
                    guess.take(if is_text { without_nuls(cell) } else { cell });
                }
            });
        }
        Ok(true)
    })?;
    let rejected = source.rejected()?;
    Ok((source, Survey { rows, guesses, rejected }))
}

/// Formats a count with its noun.
fn format_count(count: u64, of: &str) -> String {
    format!("{count} {of}{}", if count == 1 { "" } else { "s" })
}

/// Lists the names of columns, or only the first and the last of many.
fn count_names(names: &[String]) -> String {
    match names {
        [first, .., last] if names.len() > 4 => {
            format!("{} columns, {first} to {last}", names.len())
        }
        names => names.join(", "),
    }
}
