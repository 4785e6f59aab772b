//! Methods that a program calls directly, without the traits of the contract.

use std::path::Path;
use std::sync::Arc;

use embermark_contract::kv::mirror::{Decode, Mirror};
use embermark_contract::kv::{KvStore, Operations, Range, Table, Visit};
use embermark_contract::sql::{self, Param};
use embermark_contract::{Result, Scope};

use crate::client::Hybrid;
use crate::cold;
use crate::mirror::Connection;

impl Hybrid {
    fn as_store(&mut self) -> &mut dyn KvStore {
        self
    }

    /// Makes the rows of a table available to queries under the name of [`Decode::rows`]. Every
    /// process that opens the database calls it once for each of its tables.
    ///
    /// # Errors
    /// If this client has not opened the table, or the front's error.
    pub fn show(&mut self, table: Table, decode: Arc<dyn Decode>) -> Result<()> {
        Mirror::show(self, table, decode)
    }

    /// Sets the value of a key, which may be new, as a separate commit.
    ///
    /// # Errors
    /// The front's error.
    pub fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.as_store().within(Scope::PerOperation, |each| each.put(table, key, value))
    }

    /// Returns the value of a key.
    ///
    /// # Errors
    /// The front's error.
    pub fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.as_store()
            .within(Scope::PerOperation, |each| Ok(each.get(table, key)?.map(<[u8]>::to_vec)))
    }

    /// Removes a key as a separate commit, and returns whether it existed.
    ///
    /// # Errors
    /// The front's error.
    pub fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.as_store().within(Scope::PerOperation, |each| each.delete(table, key))
    }

    /// Visits the pairs of a range in the order of their keys, all in one snapshot.
    ///
    /// # Errors
    /// The front's error.
    pub fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.as_store().within(Scope::Snapshot, |snapshot| snapshot.scan(table, range, visit))
    }

    /// Runs `work` in one transaction, which sees its own changes, and returns its result. If it
    /// fails, everything is rolled back.
    ///
    /// # Errors
    /// The front's error, or that of `work`.
    pub fn change<T>(&mut self, work: impl FnOnce(&mut dyn Operations) -> Result<T>) -> Result<T> {
        self.as_store().within(Scope::Batch, work)
    }

    /// Runs an SQL query and visits the rows of its result, which includes every commit that was
    /// acknowledged before. Pass values that differ between queries as parameters (`?`), because
    /// each text is prepared once and kept.
    ///
    /// If the mirror turns out to be damaged, it is rebuilt and the query runs again. No row is
    /// visited twice: if some were visited, the error is returned and the next query uses a new
    /// mirror.
    ///
    /// # Errors
    /// The mirror's or the front's error, or that of `visit`.
    pub fn query(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        visit: &mut sql::Visit<'_>,
    ) -> Result<()> {
        for is_last in [false, true] {
            let (mut visited, mut stopped) = (false, false);
            self.sql()?;
            let connection = Connection::of(&mut self.connection, "ask its mirror")?;
            let asked = connection.statement(sql).and_then(|statement| {
                connection.sql.query(statement, params, &mut |row| {
                    visited = true;
                    visit(row).inspect_err(|_| stopped = true)
                })
            });
            let Err(error) = asked else { break };
            if stopped || !self.failed(&error)? || visited || is_last {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Writes the result of a query into a Parquet file and returns the number of rows. The file
    /// gets its name once it is complete and on disk, and replaces an earlier one.
    ///
    /// # Errors
    /// If the file cannot be written, or the mirror's or the front's error.
    pub fn export(&mut self, sql: &str, file: &Path) -> Result<u64> {
        cold::write_atomically(file, |part| {
            let part = cold::literal(&part.to_string_lossy());
            let copy = format!("COPY ({sql}) TO {part} (FORMAT parquet)");
            self.as_store().ask_rows(&mut (), &mut |mirror, _, _| mirror.batch(&copy))
        })?;
        let (mut rows, path) = (0, file.to_string_lossy());
        let count = "SELECT num_rows FROM parquet_file_metadata(?)";
        self.query(count, &[Param::Text(&path)], &mut |row| {
            rows = row.int(0)?.unwrap_or(0);
            Ok(())
        })?;
        Ok(rows.unsigned_abs())
    }
}
