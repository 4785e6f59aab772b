//! A table: a DuckDB view of its files and of the rows of the open transaction.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::folder::{Folder, Part};
use crate::Result;
use crate::duckdb::quoted;
use crate::sql::{SqlStore, Statement};

/// Suffix of the DuckDB table with a transaction's rows. It is empty between transactions.
pub(super) const NEW: &str = "__new";

pub(super) struct Table {
    pub name: String,
    /// Table of the rows of a transaction.
    pub new: &'static str,
    /// Statement that writes them to a file.
    copy: Statement,
    /// Its files, in the order of commits.
    pub parts: Vec<Part>,
}

/// Returns a name that lives as long as the process, as in a [`TableDef`](crate::sql::TableDef).
/// Each is stored once.
fn kept(name: String) -> &'static str {
    static KEPT: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.get(&*name) {
        return known;
    }
    let name = name.leak();
    kept.insert(name);
    name
}

impl Table {
    /// Creates the table of an existing folder and an existing table for new rows. `how` are the
    /// options of COPY.
    pub fn new(
        name: String,
        parts: Vec<Part>,
        duckdb: &mut dyn SqlStore,
        folder: &Folder,
        how: &str,
    ) -> Result<Self> {
        let (file, new) = (quoted(&folder.temporary_path(&name)), kept(format!("{name}{NEW}")));
        let copy = duckdb.prepare(&format!("COPY {new} TO {file} ({how})"))?;
        Ok(Self { name, new, copy, parts })
    }

    pub fn create_view(&self, duckdb: &mut dyn SqlStore, folder: &Folder) -> Result<()> {
        let Self { name, new, .. } = self;
        let all = quoted(&folder.all(name));
        duckdb.batch(&format!(
            "CREATE VIEW {name} AS SELECT * FROM read_parquet({all}) UNION ALL SELECT * FROM {new}"
        ))
    }

    /// Writes its new rows to a file.
    pub fn write(&mut self, duckdb: &mut dyn SqlStore, folder: &Folder) -> Result<()> {
        duckdb.run(self.copy, &[])?;
        let next = self.parts.last().map_or(0, |part| part.last + 1);
        let part = Part { first: next, last: next };
        folder.finish(&self.name, part)?;
        self.parts.push(part);
        Ok(())
    }

    /// Merges adjacent small files, sorted by their columns from the first one on, which in most
    /// tables are the key's.
    pub fn merge(
        &mut self,
        duckdb: &mut dyn SqlStore,
        folder: &Folder,
        how: &str,
        is_small: impl Fn(&Path, Part) -> bool,
    ) -> Result<()> {
        let Self { name, parts, .. } = self;
        let sized = parts.iter().map(|part| (*part, is_small(&folder.file(name, *part), *part)));
        let sized: Vec<(Part, bool)> = sized.collect();
        let mut left = Vec::new();
        for old in sized.chunk_by(|(_, a), (_, b)| *a && *b) {
            let part = Part { first: old[0].0.first, last: old[old.len() - 1].0.last };
            if old.len() > 1 {
                let files: Vec<String> =
                    old.iter().map(|(part, _)| quoted(&folder.file(name, *part))).collect();
                let (files, to) = (files.join(", "), quoted(&folder.temporary_path(name)));
                duckdb.batch(&format!(
                    "COPY (FROM read_parquet([{files}]) ORDER BY ALL) TO {to} ({how})"
                ))?;
                folder.finish(name, part)?;
                old.iter().try_for_each(|(old, _)| folder.remove_part(name, *old))?;
            }
            left.push(part);
        }
        *parts = left;
        Ok(())
    }
}
