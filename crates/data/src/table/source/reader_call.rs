//! What a query reads to have the rows of a source.

use std::path::{Path, PathBuf};

use embermark_model::table::{Literal, RowsFile};

use super::options::{list, options};
use super::{Kind, Source};

/// Options that [`Source::reader_call`] makes of the dialect.
const OWN: [&str; 5] = ["delim", "sep", "skip", "names", "header"];

impl Source {
    /// Returns the SQL after FROM by which a query has the same rows, as texts if they are delimited
    /// text. `None` for SQLite, for files that are written in different ways, and for a query with a
    /// comment.
    pub(in crate::table) fn reader_call(&self, from: &RowsFile, base: &Path) -> Option<String> {
        if self.is_sqlite() || self.dialects_differ {
            return None;
        }
        if let Some(query) = &from.query {
            let query = query.trim().trim_end_matches(';');
            return (!query.contains("--")).then(|| format!("({})", query.replace('\n', " ")));
        }
        let files = self.files.as_ref()?;
        let has_folder = from.files.iter().any(|name| base.join(name).is_dir());
        let below = |path: &PathBuf| path.strip_prefix(base).unwrap_or(path).to_owned();
        let paths: Vec<PathBuf> = match has_folder || files.paths.len() == 1 {
            true => files.paths.iter().map(below).collect(),
            false => from.files.iter().map(PathBuf::from).collect(),
        };
        let (names, union) = match &paths[..] {
            [one] if files.paths.len() == 1 => {
                (Literal::Text(one.to_string_lossy().into_owned()), "")
            }
            several => (list(several), ", union_by_name = true"),
        };
        let (function, own) = match (files.kind, &self.dialect) {
            (Kind::Json, _) => ("read_json", String::new()),
            (Kind::Parquet, _) => ("read_parquet", String::new()),
            (_, dialect) => ("read_csv", dialect.as_ref()?.named_options()),
        };
        Some(format!("{function}({names}{own}{}{union})", options(&from.read, &OWN)))
    }

    /// Whether a file is not below this folder: a query reads it only if the file is named, too.
    pub(in crate::table) fn is_beyond(&self, base: &Path) -> bool {
        let mut paths = self.files.iter().flat_map(|files| &files.paths);
        paths.any(|path| !path.starts_with(base))
    }
}
