//! The view of a table's rows in the mirror: its own rows and those of the chunks.

use embermark_contract::Result;
use embermark_contract::sql::SqlStore;

use super::files::Files;
use super::tables::{ArchivedTable, Chunk};
use crate::shared::MirroredTable;

/// Column of a chunk with the number of its run.
pub(crate) const RUN: &str = "hybrid·run";

/// Quotes a text as an SQL literal.
pub(crate) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Returns the SQL that reads chunks.
fn read_sql<'a>(files: Files<'_>, chunks: impl Iterator<Item = &'a Chunk>) -> String {
    let paths = chunks.map(|chunk| literal(&files.path(&chunk.file).to_string_lossy()));
    format!("read_parquet([{}])", paths.collect::<Vec<_>>().join(", "))
}

impl MirroredTable {
    /// Returns the condition that the columns of the key are equal.
    pub(crate) fn same_key_sql(&self, a: &str, b: &str) -> String {
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
    pub(crate) fn make_view(
        &self,
        sql: &mut dyn SqlStore,
        files: Files<'_>,
        archived: Option<&ArchivedTable>,
        overlaid: bool,
    ) -> Result<()> {
        let columns: Vec<_> = self.rows.columns.iter().map(|(name, ..)| *name).collect();
        let (name, hot, columns) = (self.name(), self.rows.name, columns.join(", "));
        let mut view = format!("CREATE OR REPLACE VIEW {name} AS SELECT {columns} FROM {hot}");
        let chunks = archived.map(ArchivedTable::chunks).unwrap_or_default();
        if !chunks.is_empty() {
            let read = read_sql(files, chunks.iter());
            view.push_str(&format!(" UNION ALL SELECT {columns} FROM {read} AS p"));
            if overlaid {
                view.push_str(&format!(" WHERE {}", self.is_valid_sql()));
            }
        }
        sql.batch(&view)
    }

    /// Returns the statement that removes the invalidations for chunks that no longer exist.
    pub(crate) fn remove_invalidations_sql(&self, oldest: u32) -> String {
        format!("DELETE FROM {} WHERE {RUN} < {oldest}", self.overlay.name)
    }

    /// Removes the rows that new chunks hold from the mirror's own.
    pub(crate) fn delete_archived(
        &self,
        sql: &mut dyn SqlStore,
        files: Files<'_>,
        chunks: &[Chunk],
    ) -> Result<()> {
        let (hot, same, read) =
            (self.rows.name, self.same_key_sql("r", "p"), read_sql(files, chunks.iter()));
        let valid = self.is_valid_sql();
        sql.batch(&format!("DELETE FROM {hot} AS r USING {read} AS p WHERE {same} AND {valid}"))
    }
}
