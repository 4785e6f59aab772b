//! Lines that are not rows, and the positions of rows.

use std::path::Path;

use super::super::fault::Fault;
use super::{Dialect, Source, locate};
use crate::DataError;

/// Lines that are not rows.
#[derive(Clone, Debug)]
pub(in crate::table) struct Rejected {
    pub(in crate::table) fault: Fault,
    pub(in crate::table) file: String,
    pub(in crate::table) line: u64,
    /// Number of lines that are lost with it.
    pub(in crate::table) lines: u64,
    pub(in crate::table) text: String,
}

impl Source {
    /// Returns the lines that were not rows, after a read.
    pub(in crate::table) fn rejected(&self) -> Result<Vec<Rejected>, DataError> {
        // A read that ended before the end of the files has made no table of them.
        let made = "SELECT 1 FROM duckdb_tables() WHERE table_name = 'reject_errors'";
        if self.dialect.is_none() || self.texts(made)?.is_empty() {
            return Ok(self.lengths.too_long.clone());
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
            // Blank lines before it do not belong to it.
            let text = text.trim_start_matches(['\r', '\n']).to_owned();
            let within = text.trim_end().matches('\n').count() as u64;
            // A long line by itself, or a quote that takes the rest of the file.
            let mut long = self.lengths.too_long.iter();
            let is_long = long.any(|known| known.line == line && known.file == file);
            let lines = match text.len() >= locate::CUT {
                true if !is_long => locate::lines_from(Path::new(&file), line)?,
                true => 1,
                false => within + 1,
            };
            let fault = if within > 0 { Fault::StrayQuote } else { fault };
            all.push(Rejected { fault, file, line, lines, text });
        }
        // DuckDB names some of these.
        let is_new = |long: &&Rejected| {
            !all.iter().any(|known| known.file == long.file && known.line == long.line)
        };
        let unnamed: Vec<Rejected> = self.lengths.too_long.iter().filter(is_new).cloned().collect();
        all.extend(unnamed);
        Ok(all)
    }

    /// Describes the position of a row, counted from 0: its file and line, if it has lines.
    pub(in crate::table) fn describe_position(&self, row: u64, rejected: &[Rejected]) -> String {
        let paths = self.files.as_ref().map(|files| &*files.paths).unwrap_or_default();
        let dialect = self.dialect.clone().or_else(|| self.has_broken.then(Dialect::default));
        let line = dialect.and_then(|dialect| locate::line_of(paths, &dialect, row, rejected));
        match line {
            Some((path, line)) if paths.len() > 1 => format!("{}, line {line}", path.display()),
            Some((_, line)) => format!("line {line}"),
            None => format!("row {}", row + 1),
        }
    }
}
