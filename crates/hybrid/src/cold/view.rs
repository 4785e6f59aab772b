//! The view of a table's rows in the mirror: its own rows and those of the chunks.

use std::path::Path;

use embermark_contract::Result;
use embermark_contract::sql::SqlStore;

use super::tables::{ArchivedTable, Chunk};
use crate::shared::MirroredTable;

/// Column of a chunk with the number of its run.
pub(crate) const RUN: &str = "hybrid·run";

/// Quotes a text as an SQL literal.
pub(crate) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Returns the SQL that reads chunks.
fn read_sql(folder: &Path, chunks: &[Chunk]) -> String {
    let paths = chunks.iter().map(|chunk| literal(&folder.join(&chunk.file).to_string_lossy()));
    format!("read_parquet([{}])", paths.collect::<Vec<_>>().join(", "))
}

impl MirroredTable {
    /// Returns the condition that the columns of the key are equal.
    pub fn same_key_sql(&self, a: &str, b: &str) -> String {
        let same =
            self.removals.columns.iter().map(|(name, ..)| format!("{a}.{name} = {b}.{name}"));
        same.collect::<Vec<_>>().join(" AND ")
    }

    /// Returns the condition that row `p` of a chunk is valid.
    fn is_valid_sql(&self) -> String {
        let (overlay, same) = (self.overlay.name, self.same_key_sql("g", "p"));
        format!("NOT EXISTS (SELECT 1 FROM {overlay} AS g WHERE {same} AND g.{RUN} >= p.{RUN})")
    }

    /// Makes the view that queries use. With `overlaid`, the view filters out invalid rows of
    /// chunks.
    pub fn make_view(
        &self,
        sql: &mut dyn SqlStore,
        folder: &Path,
        archived: Option<&ArchivedTable>,
        overlaid: bool,
    ) -> Result<()> {
        let columns: Vec<_> = self.rows.columns.iter().map(|(name, ..)| *name).collect();
        let (name, hot, columns) = (self.name(), self.rows.name, columns.join(", "));
        let mut view = format!("CREATE OR REPLACE VIEW {name} AS SELECT {columns} FROM {hot}");
        let chunks = archived.map(ArchivedTable::chunks).unwrap_or_default();
        if !chunks.is_empty() {
            let read = read_sql(folder, chunks);
            view.push_str(&format!(" UNION ALL SELECT {columns} FROM {read} AS p"));
            if overlaid {
                view.push_str(&format!(" WHERE {}", self.is_valid_sql()));
            }
        }
        sql.batch(&view)
    }

    /// Returns the statement that removes the invalidations for chunks that no longer exist.
    pub fn remove_invalidations_sql(&self, oldest: u32) -> String {
        format!("DELETE FROM {} WHERE {RUN} < {oldest}", self.overlay.name)
    }

    /// Removes the rows that new chunks hold from the mirror's own.
    pub fn delete_archived(
        &self,
        sql: &mut dyn SqlStore,
        folder: &Path,
        chunks: &[Chunk],
    ) -> Result<()> {
        let (hot, read) = (self.rows.name, read_sql(folder, chunks));
        let (same, valid) = (self.same_key_sql("r", "p"), self.is_valid_sql());
        sql.batch(&format!("DELETE FROM {hot} AS r USING {read} AS p WHERE {same} AND {valid}"))
    }
}
