//! Rows as DuckDB reads them: of files, or of a query over files.

mod database;
mod dialect;
mod fields;
mod files;
mod locate;
mod sqlite;
mod within;

use std::path::{Path, PathBuf};

use embermark_libraries::duckdb::connection::Connection;
use embermark_libraries::duckdb::stream::{Cell, Chunk};
use embermark_model::choice::unknown;
use embermark_model::table::{Literal, RowsFile};

use super::fault::Fault;
use crate::DataError;
pub(super) use dialect::Dialect;
pub(super) use fields::SourceField;
use fields::{json_leaves, leaves, quoted, structure};
pub(super) use files::{Files, Kind, check_whole};
use within::Within;

pub use sqlite::{SqliteTable, is_sqlite, sqlite_reads, sqlite_tables, sqlite_views};

/// Options that the reader sets itself, and what says the same.
const OURS: [(&str, &str); 12] = [
    ("columns", "the columns of the table"),
    ("types", "the columns of the table"),
    ("dtypes", "the columns of the table"),
    ("column_types", "the columns of the table"),
    ("all_varchar", "the columns of the table"),
    ("auto_detect", "nothing: what is not given is detected"),
    ("ignore_errors", "--lenient"),
    ("store_rejects", "--lenient"),
    ("rejects_table", "--lenient"),
    ("rejects_scan", "--lenient"),
    ("rejects_limit", "--lenient"),
    ("sample_size", "nothing: the columns are given"),
];
/// Options that say how values are written, which are read here.
const VALUES: [&str; 4] = ["decimal_separator", "thousands", "dateformat", "timestampformat"];

/// What is said of lines that end otherwise than the first.
pub(super) const MIXED_ENDS: &str =
    "its lines end in more than one way: write read = { strict_mode = false }";

/// Lines of JSON by which its fields are told.
const SAMPLE: i64 = 20_480;

/// Where rows come from.
pub(super) struct Source {
    reader: Reader,
    /// The folder of a query.
    _within: Option<Within>,
    /// What stands behind FROM.
    from: String,
    fields: Vec<SourceField>,
    /// What is read.
    pub(super) files: Option<Files>,
    /// How the first file is written, of CSV.
    pub(super) dialect: Option<Dialect>,
    /// Times of Parquet whose nanoseconds DuckDB cuts off: INT96, and those in UTC.
    pub(super) coarse: Vec<String>,
    /// Whether a row without any value is a line that could not be read.
    pub(super) has_broken: bool,
    /// How messages call it.
    pub(super) name: PathBuf,
}

/// What reads them.
enum Reader {
    DuckDb(Connection),
    Sqlite(rusqlite::Connection),
}

/// Some rows.
pub(super) enum Block<'a> {
    Chunk(&'a Chunk),
    /// One.
    Row(&'a [Cell<'a>]),
}

impl Block<'_> {
    pub(super) const fn rows(&self) -> usize {
        match self {
            Self::Chunk(chunk) => chunk.rows(),
            Self::Row(_) => 1,
        }
    }

    #[inline]
    pub(super) fn cell(&self, column: usize, row: usize) -> Cell<'_> {
        match self {
            Self::Chunk(chunk) => chunk.cell(column, row),
            Self::Row(cells) => cells[column],
        }
    }
}

/// Lines that are no rows.
#[derive(Debug)]
pub(super) struct Rejected {
    pub(super) fault: Fault,
    pub(super) file: String,
    pub(super) line: u64,
    /// How many lines are lost with it.
    pub(super) lines: u64,
    pub(super) text: String,
}

impl Source {
    /// Opens files or a query. Names count from `base`; temporary files lie in `scratch`. Of JSON, whose
    /// fields no header has, `wanted` are the names of those that it must have; without it, all lines
    /// are looked at.
    pub(super) fn open(
        rows: &RowsFile,
        base: &Path,
        scratch: &Path,
        wanted: Option<&[&str]>,
    ) -> Result<Self, DataError> {
        if let Some((name, instead)) =
            OURS.iter().find(|(name, _)| rows.read.iter().any(|(key, _)| key == name))
        {
            return Err(DataError::ReadOption { name: (*name).to_owned(), instead });
        }
        let files = match rows.files.is_empty() {
            true => None,
            false => Some(Files::find(&rows.files, base)?),
        };
        let paths = files.as_ref().map(|files| files.paths.clone()).unwrap_or_default();
        let base = std::path::absolute(base)
            .map_err(|cause| DataError::Unreadable { path: base.to_owned(), cause })?;
        let (base, folders) = (&*base, [&*base]);
        let folders: &[&Path] = if rows.query.is_some() { &folders } else { &[] };
        let within = folders.first().map(|folder| Within::enter(folder)).transpose();
        let within =
            within.map_err(|cause| DataError::Unreadable { path: base.to_owned(), cause })?;
        let reader = match files.as_ref().map(|files| files.kind) {
            Some(Kind::Sqlite) => Reader::Sqlite(sqlite::open(&paths[0])?),
            Some(Kind::Csv) => {
                let memory = database::memory(&files::head(&paths[0])?);
                Reader::DuckDb(database::open(&paths, folders, scratch, memory)?)
            }
            _ => Reader::DuckDb(database::open(&paths, folders, scratch, database::MEMORY)?),
        };
        let name = paths.first().cloned().unwrap_or_else(|| "its query".into());
        let mut source = Self {
            reader,
            _within: within,
            from: String::new(),
            fields: Vec::new(),
            files,
            dialect: None,
            coarse: Vec::new(),
            has_broken: false,
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
                let what = "an SQLite database, of which query = \"SELECT …\" says what is read";
                return Err(source.not_tabular(what));
            }
        }
        Ok(source)
    }

    fn query(&mut self, query: &str) -> Result<(), DataError> {
        let query = query.trim().trim_end_matches(';');
        // On lines of its own, so that a comment at its end ends there.
        self.from = format!("(\n{query}\n)");
        if let Reader::Sqlite(connection) = &self.reader {
            let fields = sqlite::fields(connection, &format!("SELECT * FROM {}", self.from));
            self.fields = fields.map_err(|cause| sqlite::failed(&self.name, &cause))?;
            return Ok(());
        }
        self.describe("")
    }

    /// Where `guesses`, an encoding is told by bytes that are not UTF-8.
    fn csv(
        &mut self,
        paths: &[PathBuf],
        read: &[(String, Literal)],
        guesses: bool,
    ) -> Result<(), DataError> {
        let others = options(read, &dialect::OPTIONS);
        let mut groups: Vec<(Dialect, Vec<PathBuf>)> = Vec::new();
        for path in paths {
            let dialect = Dialect::of(&files::head(path)?, read, guesses)
                .map_err(|what| DataError::NotTabular { path: path.clone(), what })?;
            match groups.last_mut() {
                Some((last, paths)) if *last == dialect => paths.push(path.clone()),
                _ => groups.push((dialect, vec![path.clone()])),
            }
        }
        let mut names: Vec<String> = Vec::new();
        for (dialect, _) in &groups {
            for name in &dialect.names {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
        }
        let folders = files::partitions(paths);
        let folders = folders.into_iter().filter(|name| !names.contains(name));
        let folders: Vec<String> = folders.collect();
        let partitions = match folders.is_empty() {
            true => "",
            false => ", hive_partitioning = true, hive_types_autocast = false",
        };
        let mut parts = Vec::new();
        for (dialect, paths) in &groups {
            let fields = names.iter().enumerate().map(|(at, name)| {
                match dialect.names.iter().position(|other| other == name) {
                    Some(place) => format!("c{place} AS f{at}"),
                    None => format!("NULL::VARCHAR AS f{at}"),
                }
            });
            let places = (names.len()..).zip(&folders);
            let fields =
                fields.chain(places.map(|(at, name)| format!("{} AS f{at}", quoted(name))));
            let comment = if dialect.comments { ", comment = '#'" } else { "" };
            let compression = match read.iter().any(|(name, _)| name == "compression") {
                true => String::new(),
                false => format!(", compression = '{}'", files::compression(&paths[0])?),
            };
            let buffer = match read.iter().any(|(n, _)| n == "buffer_size" || n == "max_line_size")
            {
                true => String::new(),
                false => format!(", buffer_size = {}", database::BUFFER),
            };
            parts.push(format!(
                "SELECT {} FROM read_csv({}, {}{comment}{compression}{buffer}{partitions}, ignore_errors = true, \
                 store_rejects = true{others})",
                fields.collect::<Vec<_>>().join(", "),
                list(paths),
                dialect.options(dialect.names.len()),
            ));
        }
        self.from = format!("({})", parts.join(" UNION ALL "));
        let field = |(at, name): (usize, String)| SourceField {
            name,
            sql: format!("f{at}"),
            of: "VARCHAR".to_owned(),
        };
        self.fields = names.into_iter().chain(folders).enumerate().map(field).collect();
        self.dialect = groups.into_iter().next().map(|(dialect, _)| dialect);
        Ok(())
    }

    fn json(
        &mut self,
        paths: &[PathBuf],
        read: &[(String, Literal)],
        wanted: Option<&[&str]>,
    ) -> Result<(), DataError> {
        let others = options(read, &["format", "records"]);
        let given = read.iter().find(|(name, _)| name == "format").map(|(_, format)| format);
        let format = match given.and_then(Literal::as_text) {
            Some(format) => format.to_owned(),
            None => json_format(&files::head(&paths[0])?).to_owned(),
        };
        let is_lines = format == "newline_delimited" || format == "nd";
        let compression = match files::compression(&paths[0])? {
            "none" => "uncompressed",
            other => other,
        };
        let ignore = if is_lines { ", ignore_errors = true" } else { "" };
        let shared = format!(
            "{}, format = '{format}', compression = '{compression}'{ignore}{others}",
            list(paths)
        );
        // The first lines, and all where they lack one that is wanted.
        for sample in [SAMPLE, -1] {
            let is_enough = |wanted: &[&str]| wanted.iter().all(|name| self.field(name).is_ok());
            if sample == -1 && wanted.is_some_and(is_enough) || sample == SAMPLE && wanted.is_none()
            {
                continue;
            }
            self.from =
                format!("read_json({shared}, sample_size = {sample}, union_by_name = true)");
            self.fields.clear();
            self.describe("json")?;
        }
        if self.fields.iter().any(|field| self.differs_in_case(&field.name)) {
            // Names that are one for DuckDB.
            self.from = format!("read_json_objects({shared})");
            let keys = format!(
                "SELECT DISTINCT unnest(json_keys(json)) AS name FROM {} ORDER BY name",
                self.from
            );
            let names = self.texts(&keys)?.into_iter().flatten().flatten();
            self.fields = names.map(|name| fields::of_object("json", name)).collect();
            self.has_broken = is_lines;
            return Ok(());
        }
        if matches!(&self.fields[..], [one] if one.name == "json") {
            // A line is no object: the fields are those that are wanted.
            let Some(wanted) = wanted else { return Err(self.no_objects(&format)) };
            self.fields.clear();
            for name in wanted {
                let (name, sql) = ((*name).to_owned(), format!("{}::VARCHAR", quoted(name)));
                self.fields.push(SourceField { name: name.clone(), sql, of: name });
            }
        }
        // All top fields as they are written, of which those within are taken out.
        let mut tops: Vec<&str> = Vec::new();
        for field in &self.fields {
            if !tops.iter().any(|top| top.eq_ignore_ascii_case(&field.of)) {
                tops.push(&field.of);
            }
        }
        let of = |top: &&str| {
            let is_within =
                self.fields.iter().any(|field| field.of == **top && field.name != **top);
            let of = if is_within { "JSON" } else { "VARCHAR" };
            format!("{}: '{of}'", Literal::Text((*top).to_owned()))
        };
        let columns: Vec<_> = tops.iter().map(of).collect();
        self.from =
            format!("read_json({shared}, records = 'true', columns = {{{}}})", columns.join(", "));
        for field in &mut self.fields {
            "VARCHAR".clone_into(&mut field.of);
        }
        self.has_broken = is_lines;
        Ok(())
    }

    /// Whether DuckDB has numbered a field of JSON, since another's name differs from it in case alone.
    fn differs_in_case(&self, name: &str) -> bool {
        name.rsplit_once('_').is_some_and(|(base, number)| {
            let is_alike = |other: &SourceField| {
                other.of != base && other.of.eq_ignore_ascii_case(base) && other.of != name
            };
            number.parse::<u32>().is_ok() && self.fields.iter().any(is_alike)
        })
    }

    /// Says what takes rows out of JSON that has no objects for them.
    fn no_objects(&self, format: &str) -> DataError {
        let of = self.texts(&format!("SELECT any_value(typeof(json)) FROM {}", self.from));
        let of = of.ok().and_then(|rows| rows.into_iter().flatten().next()?).unwrap_or_default();
        let path = Literal::Text(self.name.to_string_lossy().into_owned());
        self.not_tabular(if of.starts_with("MAP") {
            format!(
                "its rows lie under a key each: give --query \"SELECT unnest(map_entries(json), recursive \
                 := true) FROM read_json({path})\""
            )
        } else if of.ends_with(']') {
            format!(
                "its rows are lists: give --query \"SELECT json->>0 AS a, json->>1 AS b FROM \
                 read_json_objects({path}, format = '{format}')\""
            )
        } else {
            "not all of its lines are JSON objects: take the others out, or give a query that does".to_owned()
        })
    }

    /// Asks DuckDB for the fields. Of JSON the type of each is the name of the field that it is within.
    fn describe(&mut self, kind: &str) -> Result<(), DataError> {
        let described = self.texts(&format!("DESCRIBE SELECT * FROM {}", self.from))?;
        for row in described {
            let [Some(name), Some(of)] = &row[..2] else { continue };
            let column = quoted(name);
            if kind != "json" {
                leaves(name, &column, of, &mut self.fields);
            } else if let Some(within) = structure(of) {
                json_leaves(name, name, &column, "$", within, &mut self.fields);
            } else {
                let sql = format!("{column}::VARCHAR");
                self.fields.push(SourceField { name: name.clone(), sql, of: name.clone() });
            }
        }
        // A name with a dot may be that of a field within another, too.
        for place in 1..self.fields.len() {
            let (before, field) = self.fields.split_at_mut(place);
            while before.iter().any(|other| other.name == field[0].name) {
                field[0].name.push_str("_1");
            }
        }
        Ok(())
    }

    /// Whether it is an SQLite database, whose values keep the kind that they have there.
    pub(super) const fn is_sqlite(&self) -> bool {
        matches!(self.reader, Reader::Sqlite(_))
    }

    /// All fields.
    pub(super) fn fields(&self) -> &[SourceField] {
        &self.fields
    }

    /// The field of a name.
    ///
    /// # Errors
    /// If there is no such field; the error names the nearest one.
    pub(super) fn field(&self, name: &str) -> Result<usize, DataError> {
        let place = self.fields.iter().position(|field| field.name == name);
        place.ok_or_else(|| {
            let names = self.fields.iter().map(|field| &field.name);
            let unknown = unknown("field", name, names);
            DataError::NoField { path: self.name.clone(), unknown }
        })
    }

    /// Hands rows of these expressions to `sink`, in the order of the files, until it wants no more.
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

    /// Whether a row of so many fields is a line of JSON that could not be read.
    #[inline]
    pub(super) fn is_broken(&self, block: &Block<'_>, row: usize, fields: usize) -> bool {
        self.has_broken && (0..fields).all(|at| block.cell(at, row) == Cell::Null)
    }

    /// The lines that were no rows, after a read.
    pub(super) fn rejected(&self) -> Result<Vec<Rejected>, DataError> {
        // A read that was ended before the end of the files has made no table of them.
        let made = "SELECT 1 FROM duckdb_tables() WHERE table_name = 'reject_errors'";
        if self.dialect.is_none() || self.texts(made)?.is_empty() {
            return Ok(Vec::new());
        }
        let sql = "SELECT any_value(error_type::VARCHAR), any_value(file_path), line, \
                   any_value(csv_line) FROM reject_errors JOIN reject_scans USING (scan_id, file_id) \
                   GROUP BY file_id, scan_id, line ORDER BY scan_id, file_id, line";
        let mut all = Vec::new();
        for row in self.texts(sql)? {
            let mut row = row.into_iter().map(Option::unwrap_or_default);
            let mut next = || row.next().unwrap_or_default();
            let (of, file, line, text) = (next(), next(), next(), next());
            let line = line.parse().unwrap_or(0);
            let fault = match &*of {
                "MISSING COLUMNS" => Fault::TooFewFields,
                "TOO MANY COLUMNS" => Fault::TooManyFields,
                "UNQUOTED VALUE" => Fault::StrayQuote,
                "INVALID ENCODING" => Fault::NotUtf8,
                "LINE SIZE OVER MAXIMUM" => Fault::TooLong,
                _ => Fault::Unreadable,
            };
            // Blank lines before it are not its.
            let text = text.trim_start_matches(['\r', '\n']).to_owned();
            let within = text.trim_end().matches('\n').count() as u64;
            let is_cut = text.len() >= locate::CUT;
            let lines =
                if is_cut { locate::lines_from(Path::new(&file), line)? } else { within + 1 };
            let fault = if within > 0 { Fault::StrayQuote } else { fault };
            all.push(Rejected { fault, file, line, lines, text });
        }
        Ok(all)
    }

    /// Where a row stands, counted from 0: its file and line, where it has lines.
    pub(super) fn place(&self, row: u64, rejected: &[Rejected]) -> String {
        let files = self.files.as_ref();
        let lines = match (files.map(|files| files.kind), &self.dialect) {
            (Some(Kind::Csv), Some(dialect)) => {
                locate::line(files.map(|f| &*f.paths).unwrap_or_default(), dialect, row, rejected)
            }
            (Some(Kind::Json), _) if self.has_broken => {
                locate::filled(files.map(|f| &*f.paths).unwrap_or_default(), row)
            }
            _ => None,
        };
        match lines {
            Some((path, line)) if files.is_some_and(|files| files.paths.len() > 1) => {
                format!("{}, line {line}", path.display())
            }
            Some((_, line)) => format!("line {line}"),
            None => format!("row {}", row + 1),
        }
    }

    /// Counts over all values of a field, as texts. `counts` makes expressions of that of the field.
    pub(super) fn count(
        &self,
        field: usize,
        counts: impl FnOnce(&str) -> String,
    ) -> Result<Vec<String>, DataError> {
        let sql = format!("SELECT {} FROM {}", counts(&self.fields[field].sql), self.from);
        let row = self.texts(&sql)?.into_iter().next().unwrap_or_default();
        Ok(row.into_iter().map(Option::unwrap_or_default).collect())
    }

    /// A short answer.
    pub(super) fn texts(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>, DataError> {
        match &self.reader {
            Reader::DuckDb(connection) => connection.texts(sql).map_err(|error| self.failed(error)),
            Reader::Sqlite(_) => {
                Err(self.not_tabular("its times have no format: SQLite reads none"))
            }
        }
    }

    fn failed(&self, cause: embermark_libraries::Error) -> DataError {
        if cause.to_string().contains("not latin-1 encoded") {
            return self.not_tabular(
                "it is neither UTF-8 nor Latin-1: convert it, as with `iconv -f WINDOWS-1252 -t UTF-8`",
            );
        }
        if cause.to_string().contains("Out of Memory") {
            return self.not_tabular(
                "reading it takes more memory than there is for it: give a query of fewer columns or rows",
            );
        }
        if cause.to_string().contains("invalid state") {
            return self.not_tabular(MIXED_ENDS);
        }
        // What follows shows the statement, which is not the user's.
        let cause = cause.to_string();
        let cause = cause.split("\n\n").next().unwrap_or_default().to_owned();
        DataError::Unread { path: self.name.clone(), cause }
    }

    pub(super) fn not_tabular(&self, what: impl Into<String>) -> DataError {
        DataError::NotTabular { path: self.name.clone(), what: what.into() }
    }
}

/// How JSON lies in a file, by its beginning.
fn json_format(head: &[u8]) -> &'static str {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_object = first.trim_ascii().ends_with(b"}");
    let within = head.strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    let is_list = within.is_some_and(|within| !matches!(within, [b'{' | b'[' | b']', ..]));
    if within.is_some() && !(is_list && first.trim_ascii().ends_with(b"]")) {
        "array"
    } else if is_object && first.windows(2).any(|pair| pair == b"}{") {
        "unstructured"
    } else if is_object || !first.contains(&b'{') || first.len() > 1 << 16 {
        "newline_delimited"
    } else {
        "unstructured"
    }
}

/// The options that are handed on, but for some.
fn options(read: &[(String, Literal)], but: &[&str]) -> String {
    let handed =
        read.iter().filter(|(name, _)| !but.contains(&&**name) && !VALUES.contains(&&**name));
    handed.map(|(name, value)| format!(", {name} = {value}")).collect()
}

fn list(paths: &[PathBuf]) -> Literal {
    let texts = paths.iter().map(|path| Literal::Text(path.to_string_lossy().into_owned()));
    Literal::List(texts.collect())
}
