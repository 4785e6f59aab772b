//! Reads rows of files, or of a query over files, with DuckDB or SQLite.

mod block;
mod database;
mod delimited;
mod dialect;
mod fields;
mod file_states;
mod files;
mod json;
mod kind;
mod line_lengths;
mod locate;
mod options;
mod reader_call;
mod rejected;
mod sqlite;
mod working_folder;

use std::path::{Path, PathBuf};

use embermark_libraries::duckdb::connection::Connection;
use embermark_libraries::duckdb::stream::Cell;
use embermark_model::choice::unknown;
use embermark_model::table::RowsFile;

use crate::{DataError, compressed};
pub(super) use block::Block;
pub(super) use dialect::Dialect;
pub(super) use fields::SourceField;
pub(super) use fields::quoted;
pub(super) use files::Files;
pub(super) use kind::Kind;
use line_lengths::LineLengths;
pub(super) use options::given;
use options::{check_options, list, options};
pub(super) use rejected::Rejected;
use working_folder::WorkingFolder;

pub use file_states::FileStates;
pub use options::{CODES, OptionFault, check_option, option_names, unknown_codes};
pub use sqlite::{SqliteTable, is_sqlite, sqlite_tables, sqlite_views};

/// Source of rows.
pub(super) struct Source {
    reader: Reader,
    /// Working folder of a query.
    _working_folder: Option<WorkingFolder>,
    /// SQL text after FROM.
    from: String,
    /// The same for the conditions of [`SourceField::is_other`], which need values of JSON as they
    /// are.
    values: String,
    fields: Vec<SourceField>,
    /// The files that are read.
    pub(super) files: Option<Files>,
    /// Dialect of the first CSV file.
    pub(super) dialect: Option<Dialect>,
    /// Whether CSV files are written in different ways.
    pub(super) dialects_differ: bool,
    /// Parquet times whose nanoseconds DuckDB cuts off: INT96, and those in UTC.
    pub(super) coarse: Vec<String>,
    /// Whether a row without any value is a line that could not be read.
    pub(super) has_broken: bool,
    /// What the lines of delimited text need.
    lengths: LineLengths,
    /// State of the files before any of their rows is read.
    pub(super) states: FileStates,
    /// Name in messages.
    pub(super) name: PathBuf,
}

/// Database that reads the rows.
enum Reader {
    DuckDb(Connection),
    Sqlite(rusqlite::Connection),
}

impl Source {
    /// Opens files or a query. Names are relative to `base`, and temporary files are in `scratch`.
    /// JSON has no header, so `wanted` are the names of fields that it must have. Without `wanted`
    /// all lines are examined.
    pub(super) fn open(
        rows: &RowsFile,
        base: &Path,
        scratch: &Path,
        wanted: Option<&[&str]>,
    ) -> Result<Self, DataError> {
        check_options(&rows.read)?;
        let has_files = !rows.files.is_empty();
        let files = has_files.then(|| Files::find(&rows.files, base)).transpose()?;
        let paths = files.as_ref().map(|files| files.paths.clone()).unwrap_or_default();
        let base = &*std::path::absolute(base).map_err(DataError::unreadable(base))?;
        let folder = rows.query.as_ref().map(|_| base);
        let working_folder = folder.map(WorkingFolder::enter).transpose();
        let working_folder = working_folder.map_err(DataError::unreadable(base))?;
        let mut lengths = LineLengths::default();
        let reader = match files.as_ref().map(|files| files.kind) {
            Some(Kind::Sqlite) => Reader::Sqlite(sqlite::open(&paths[0])?),
            Some(Kind::Csv) => {
                if !rows.read.iter().any(|(name, _)| database::sets_buffer(name)) {
                    lengths = LineLengths::measure(&paths)?;
                }
                let memory = database::memory(&compressed::head(&paths[0])?).ok_or_else(|| {
                    let what = format!(
                        "its first line has more than {} fields: if they are values of one column, write each on \
                         a line of its own, for example with `tr ',' '\\n'`",
                        database::COLUMNS
                    );
                    DataError::not_tabular(&paths[0], what)
                })?;
                let memory = memory + database::further_memory(lengths.buffer);
                Reader::DuckDb(database::open(&paths, folder, scratch, memory)?)
            }
            Some(Kind::Json) if rows.query.is_none() => {
                Reader::DuckDb(database::open(&paths, folder, scratch, database::MEMORY_OF_JSON)?)
            }
            _ => Reader::DuckDb(database::open(&paths, folder, scratch, database::MEMORY)?),
        };
        let states = FileStates::new(&paths, rows.query.as_deref(), base);
        let name = paths.first().cloned().unwrap_or_else(|| "its query".into());
        let mut source = Self {
            reader,
            _working_folder: working_folder,
            from: String::new(),
            values: String::new(),
            fields: Vec::new(),
            files,
            dialect: None,
            dialects_differ: false,
            coarse: Vec::new(),
            has_broken: false,
            lengths,
            states,
            name,
        };
        match (&rows.query, source.files.as_ref().map(|files| files.kind)) {
            (Some(query), _) => source.query(query)?,
            (None, Some(Kind::Csv)) => source.csv(&paths, &rows.read, wanted.is_none())?,
            (None, Some(Kind::Json)) => source.json(&paths, &rows.read, wanted)?,
            (None, Some(Kind::Parquet)) => {
                let options = options(&rows.read, &[]);
                source.from =
                    format!("read_parquet({}, union_by_name = true{options})", list(&paths));
                source.describe("")?;
                let old = format!(
                    "SELECT DISTINCT name FROM parquet_schema({}) WHERE type = 'INT96' \
                     OR logical_type LIKE '%isAdjustedToUTC=1%NANOS=Nano%'",
                    list(&paths)
                );
                source.coarse = source.texts(&old)?.into_iter().flatten().flatten().collect();
            }
            (None, _) => {
                let what = "an SQLite database: choose the rows with query = \"SELECT …\"";
                return Err(source.not_tabular(what));
            }
        }
        Ok(source)
    }

    fn query(&mut self, query: &str) -> Result<(), DataError> {
        let query = query.trim().trim_end_matches(';');
        // On separate lines, so that a comment at its end ends there.
        self.from = format!("(\n{query}\n)");
        if let Reader::Sqlite(connection) = &self.reader {
            let fields = sqlite::fields(connection, &format!("SELECT * FROM {}", self.from));
            self.fields = fields.map_err(|cause| sqlite::failed(&self.name, &cause))?;
            self.values.clone_from(&self.from);
            return Ok(());
        }
        self.describe("")
    }

    /// Asks DuckDB for the fields. For JSON the type of each is the name of the field that contains
    /// it.
    fn describe(&mut self, kind: &str) -> Result<(), DataError> {
        let described = self.texts(&format!("DESCRIBE SELECT * FROM {}", self.from))?;
        for row in described {
            let [Some(name), Some(of)] = &row[..2] else { continue };
            match kind {
                "json" => self.add_json(name, name, "$", of)?,
                _ => self.add(name, &quoted(name), of)?,
            }
        }
        // A name with a dot may also be that of a nested field.
        for place in 1..self.fields.len() {
            let (before, field) = self.fields.split_at_mut(place);
            while before.iter().any(|other| other.name == field[0].name) {
                field[0].name.push_str("_1");
            }
        }
        Ok(())
    }

    /// Whether it is an SQLite database, whose values keep their kind.
    pub(super) const fn is_sqlite(&self) -> bool {
        matches!(self.reader, Reader::Sqlite(_))
    }

    /// Returns all fields.
    pub(super) fn fields(&self) -> &[SourceField] {
        &self.fields
    }

    /// Finds a field by name.
    ///
    /// # Errors
    /// If there is no such field. The error names the nearest one.
    pub(super) fn field(&self, name: &str) -> Result<usize, DataError> {
        let place = self.fields.iter().position(|field| field.name == name);
        place.ok_or_else(|| {
            let names = self.fields.iter().map(|field| &field.name);
            let unknown = unknown("field", name, names);
            DataError::NoField { path: self.name.clone(), unknown: vec![unknown] }
        })
    }

    /// Passes rows of these expressions to `sink`, in the order of the files, until it returns
    /// `false`.
    pub(super) fn read(
        &self,
        select: &[String],
        mut sink: impl FnMut(&Block<'_>) -> Result<bool, DataError>,
    ) -> Result<(), DataError> {
        let sql = format!("SELECT {} FROM {}", select.join(", "), self.from);
        let connection = match &self.reader {
            Reader::DuckDb(connection) => connection,
            Reader::Sqlite(connection) => return sqlite::read(connection, &self.name, &sql, sink),
        };
        let mut stream = connection.stream(&sql).map_err(|error| self.failed(error))?;
        while let Some(chunk) = stream.next_chunk().map_err(|error| self.failed(error))? {
            if !sink(&Block::Chunk(&chunk))? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Whether a row with this many fields is a line of JSON that could not be read.
    #[inline]
    pub(super) fn is_broken(&self, block: &Block<'_>, row: usize, fields: usize) -> bool {
        self.has_broken && (0..fields).all(|at| block.cell(at, row) == Cell::Null)
    }

    /// Counts over all values of a field. `counts` makes expressions from that of the field without
    /// the blanks around it.
    pub(super) fn count(
        &self,
        field: usize,
        counts: impl FnOnce(&str) -> String,
    ) -> Result<Vec<Option<u64>>, DataError> {
        let counts = counts(&format!("trim({})", self.fields[field].sql));
        let row = self.texts(&format!("SELECT {counts} FROM {}", self.from))?.into_iter().next();
        Ok(row.into_iter().flatten().map(|count| count?.parse().ok()).collect())
    }

    /// Counts the values among the first `rows` rows of some fields that are neither texts nor
    /// missing, if a field may have values of every kind, as in SQLite and JSON.
    pub(super) fn count_other_than_texts(
        &self,
        fields: &[usize],
        rows: Option<u64>,
    ) -> Result<u64, DataError> {
        let others = fields.iter().filter_map(|field| self.fields[*field].is_other.as_ref());
        let others = others.map(|is_other| format!("CASE WHEN {is_other} THEN 1 ELSE 0 END"));
        let others: Vec<String> = others.collect();
        if others.is_empty() {
            return Ok(0);
        }
        let limit = rows.map_or_else(String::new, |rows| format!(" LIMIT {rows}"));
        let sql = format!(
            "SELECT CAST(coalesce(sum({}), 0) AS BIGINT) FROM (SELECT * FROM {}{limit})",
            others.join(" + "),
            self.values
        );
        match &self.reader {
            Reader::DuckDb(_) => {
                let count = self.texts(&sql)?.into_iter().flatten().flatten().next();
                Ok(count.and_then(|count| count.parse().ok()).unwrap_or(0))
            }
            Reader::Sqlite(connection) => {
                let count = connection.query_row(&sql, [], |row| row.get::<_, i64>(0));
                count.map(i64::cast_unsigned).map_err(|cause| sqlite::failed(&self.name, &cause))
            }
        }
    }

    /// Returns the small result of a statement, as texts.
    pub(super) fn texts(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>, DataError> {
        match &self.reader {
            Reader::DuckDb(connection) => connection.texts(sql).map_err(|error| self.failed(error)),
            Reader::Sqlite(_) => Err(self.not_tabular(
                "its times cannot have a format, because SQLite does not parse formats",
            )),
        }
    }

    fn failed(&self, cause: embermark_libraries::Error) -> DataError {
        let cause = cause.to_string();
        let path = self.name.clone();
        match &*cause {
            cause if cause.contains("not latin-1 encoded") => self.not_tabular(
                "it is neither UTF-8 nor Latin-1: convert it, for example with `iconv -f WINDOWS-1252 -t UTF-8`",
            ),
            cause if cause.contains("Out of Memory") => self.not_tabular(
                "reading it needs more memory than its limit, as some 2,000 very long rows do: convert it to CSV, or \
                 use a query with fewer columns or rows or with shorter texts, such as left(body, 1000)",
            ),
            cause if cause.contains("invalid state") => DataError::MixedEnds(path),
            // The rest shows the statement, which is not the user's.
            cause => {
                let cause = cause.split("\n\n").next().unwrap_or_default();
                let more = match cause.contains("file system operations are disabled") {
                    true => {
                        ": a query reads files below the folder of its workload file, and those that \
                         are named beside it"
                    }
                    false => "",
                };
                DataError::Unread { path, cause: format!("{cause}{more}") }
            }
        }
    }

    pub(super) fn not_tabular(&self, what: impl Into<String>) -> DataError {
        DataError::not_tabular(&self.name, what)
    }
}
