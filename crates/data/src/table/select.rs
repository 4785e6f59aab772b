//! Selects the expressions to read from a source for the columns of a table.

use std::path::PathBuf;

use embermark_libraries::duckdb::stream::Cell;
use embermark_model::choice::UnknownName;
use embermark_model::table::{Column, ColumnType, Literal, MakeKind, RowsFile, TimeUnit};

use super::convert::CellConverter;
use super::source::{Block, Source};
use crate::DataError;

/// Source of a column's values.
#[derive(Clone, Copy, Debug)]
pub(super) enum ColumnSource {
    /// The cell with this index.
    Field(usize),
    /// A time by its format, and the text that it is read from.
    Time { time: usize, text: usize, unit: TimeUnit },
    /// The number of the row, if the file has no key: `make = "sequence"`.
    Number { from: i64, step: i64, repeat: u64 },
}

/// Expressions that are requested of a source.
#[derive(Debug)]
pub(super) struct Selection {
    pub(super) sql: Vec<String>,
    /// By column.
    pub(super) columns: Vec<ColumnSource>,
    /// Names of the fields of delimited text, by expression.
    headers: Vec<Option<HeaderName>>,
}

/// Name of a field of delimited text.
#[derive(Debug)]
struct HeaderName {
    name: Vec<u8>,
    /// What the header has instead if the reader made the name: nothing, or a name that it repeats.
    original: Option<Vec<u8>>,
}

/// Returns the names of the fields that a column is read from.
pub fn field_names(column: &Column) -> Vec<&str> {
    match &column.from {
        _ if column.make.is_some() => Vec::new(),
        Some(from) if !from.names.is_empty() => from.names.iter().map(String::as_str).collect(),
        _ => vec![&column.name],
    }
}

/// Checks that the rows have every field that the columns are read from.
fn check_fields(columns: &[Column], rows: &RowsFile, source: &Source) -> Result<(), DataError> {
    let mut missing: Option<(PathBuf, Vec<UnknownName>)> = None;
    for name in columns.iter().flat_map(field_names) {
        match source.field(name) {
            Ok(_) => {}
            Err(DataError::NoField { path, unknown }) => {
                let (_, all) = missing.get_or_insert_with(|| (path, Vec::new()));
                for unknown in unknown {
                    if !all.contains(&unknown) {
                        all.push(unknown);
                    }
                }
            }
            Err(error) => return Err(error),
        }
    }
    let Some((path, unknown)) = missing else { return Ok(()) };
    let given = rows.read.iter().find(|(name, _)| matches!(&**name, "delim" | "sep"));
    let names = source.dialect.as_ref().map(|dialect| &*dialect.names);
    Err(match (given, names) {
        (Some((option, delimiter)), Some([only])) if unknown.len() > 1 => DataError::NoDelimiter {
            path,
            option: option.clone(),
            delimiter: delimiter.as_text().unwrap_or_default().to_owned(),
            only: only.clone(),
        },
        _ => DataError::NoField { path, unknown },
    })
}

/// Returns SQL for the time that a text has by a format, or NULL. A year of two digits is not one of
/// `%Y`: DuckDB would take 26 for the year 26, and `%y` takes it for 2026.
pub(super) fn parsed_time(text: &str, format: &str) -> String {
    let time = format!("try_strptime({text}, {})", Literal::Text(format.to_owned()));
    match format.contains("%Y") {
        true => format!("CASE WHEN year({time}) >= 1000 THEN {time} END"),
        false => time,
    }
}

/// Returns the name of a column with these fields in the header line of delimited text.
fn header(source: &Source, names: &[&str]) -> Option<HeaderName> {
    let &[name] = names else { return None };
    let all = &source.dialect.as_ref()?.names;
    let has = |name: &str| all.iter().any(|other| other == name);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let repeated = name.rsplit_once('_').filter(|&(first, of)| is_number(of) && has(first));
    let original = match name.strip_prefix("column") {
        Some(place) if is_number(place) => Some(""),
        _ => repeated.map(|(first, _)| first),
    };
    has(name).then(|| HeaderName {
        name: name.as_bytes().to_owned(),
        original: original.map(|original| original.as_bytes().to_owned()),
    })
}

impl Selection {
    /// Selects what the columns of a table need.
    ///
    /// # Errors
    /// [`DataError::NoField`] with every field of a column that the rows do not have, and
    /// [`DataError::NoDelimiter`].
    pub(super) fn new(
        columns: &[Column],
        rows: &RowsFile,
        source: &Source,
    ) -> Result<Self, DataError> {
        check_fields(columns, rows, source)?;
        let mut all = Self { sql: Vec::new(), columns: Vec::new(), headers: Vec::new() };
        for column in columns {
            let kind = column.make.as_ref().map(|make| &make.kind);
            if let Some(&MakeKind::Sequence { from, step, repeat }) = kind {
                all.columns.push(ColumnSource::Number { from, step, repeat: repeat.max(1) });
                continue;
            }
            let names = field_names(column);
            let for_text = names.len() > 1 || matches!(column.of, ColumnType::Text);
            let fields = names.iter().map(|name| Ok(&source.fields()[source.field(name)?]));
            let fields = fields.collect::<Result<Vec<_>, DataError>>()?;
            let sql: Vec<_> = fields.iter().map(|field| field.sql(for_text)).collect();
            let sql = match &sql[..] {
                [one] => one.clone(),
                several => format!("nullif(concat_ws(' ', {}), '')", several.join(", ")),
            };
            let is_text = for_text || fields.iter().all(|field| field.type_name == "VARCHAR");
            let own = column.from.as_ref().and_then(|from| from.format.as_deref());
            let format = own.or_else(|| CellConverter::format(rows)).filter(|_| is_text);
            let header = header(source, &names);
            let from = match (column.of, format) {
                (ColumnType::Timestamp(unit), Some(format)) => {
                    let time = all.add(parsed_time(&format!("trim({sql})"), format), None);
                    ColumnSource::Time { time, text: all.add(sql, header), unit }
                }
                _ => ColumnSource::Field(all.add(sql, header)),
            };
            all.columns.push(from);
        }
        if all.sql.is_empty() {
            all.add("0".to_owned(), None);
        }
        Ok(all)
    }

    /// Selects every field of a source, unchanged.
    pub(super) fn all(source: &Source) -> Self {
        let mut all = Self { sql: Vec::new(), columns: Vec::new(), headers: Vec::new() };
        for field in source.fields() {
            let place = all.add(field.sql(false), header(source, &[&field.name]));
            all.columns.push(ColumnSource::Field(place));
        }
        all
    }

    fn add(&mut self, sql: String, header: Option<HeaderName>) -> usize {
        self.sql.push(sql);
        self.headers.push(header);
        self.sql.len() - 1
    }

    /// Whether a row of delimited text repeats the header line.
    #[inline]
    pub(super) fn is_header(&self, block: &Block<'_>, row: usize) -> bool {
        let mut has_name = false;
        for (at, header) in self.headers.iter().enumerate() {
            let Some(header) = header else { continue };
            let text: &[u8] = match block.cell(at, row) {
                Cell::Text(text) => text,
                Cell::Null => b"",
                _ => return false,
            };
            // A UTF-8 byte order mark precedes it if files were concatenated.
            let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii();
            if text != header.name && header.original.as_deref() != Some(text) {
                return false;
            }
            has_name |= !text.is_empty();
        }
        has_name
    }
}
