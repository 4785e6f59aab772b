//! What a program calls by name: a hybrid without the words of the contract.

use std::path::Path;
use std::sync::Arc;

use embermark_contract::kv::mirror::{Decode, Mirror};
use embermark_contract::kv::{KvStore, Operations, Range, Table, Visit};
use embermark_contract::sql::{self, Param};
use embermark_contract::{EngineError, Result, Scope};

use crate::NAME;
use crate::client::Hybrid;
use crate::cold;
use crate::mirror::Connection;

impl Hybrid {
    fn as_store(&mut self) -> &mut dyn KvStore {
        self
    }

    /// Has the rows of a table answer questions, under the name of [`Decode::rows`]. It is said once by
    /// every process that opens the database, for each of its tables.
    ///
    /// # Errors
    /// When this client has not opened the table, or the front reports one.
    pub fn show(&mut self, table: Table, decode: Arc<dyn Decode>) -> Result<()> {
        Mirror::show(self, table, decode)
    }

    /// Sets the value of a key, new or not: a commit of its own.
    ///
    /// # Errors
    /// When the front reports one.
    pub fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.as_store().within(Scope::PerOperation, |each| each.put(table, key, value))
    }

    /// The value of a key.
    ///
    /// # Errors
    /// When the front reports one.
    pub fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.as_store()
            .within(Scope::PerOperation, |each| Ok(each.get(table, key)?.map(<[u8]>::to_vec)))
    }

    /// Removes a key, as a commit of its own; whether it was there.
    ///
    /// # Errors
    /// When the front reports one.
    pub fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.as_store().within(Scope::PerOperation, |each| each.delete(table, key))
    }

    /// Visits the pairs of a range in the order of their keys, all of one state.
    ///
    /// # Errors
    /// When the front reports one.
    pub fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.as_store().within(Scope::Snapshot, |snapshot| snapshot.scan(table, range, visit))
    }

    /// Does `work` in one transaction, which sees what it has done itself, and returns what it returns. Where
    /// it fails all of it is undone.
    ///
    /// # Errors
    /// When the front reports one, or those of `work`.
    pub fn change<T>(&mut self, work: impl FnOnce(&mut dyn Operations) -> Result<T>) -> Result<T> {
        self.as_store().within(Scope::Batch, work)
    }

    /// Asks a question in SQL and visits the rows of its answer, which knows of every commit that was
    /// acknowledged before. What changes from question to question goes in as parameters, `?`: each text is
    /// prepared once and kept.
    ///
    /// Where the mirror turns out to be damaged it is made anew and asked once more. No row is visited
    /// twice: where some had been visited the error is returned, and the next question is asked of a new
    /// mirror.
    ///
    /// # Errors
    /// When the mirror or the front reports one, or those of `visit`.
    pub fn query(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        visit: &mut sql::Visit<'_>,
    ) -> Result<()> {
        for is_last in [false, true] {
            let (mut visited, mut stopped) = (false, false);
            let connection = self.ready()?;
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

    /// Writes what a question answers into a Parquet file, and returns how many rows. The file is there
    /// under its name when it is whole and on the disk, in the place of one that was there before.
    ///
    /// # Errors
    /// When the file cannot be written, or the mirror or the front reports an error.
    pub fn export(&mut self, sql: &str, file: &Path) -> Result<u64> {
        let write = |hybrid: &mut Self, part: &Path| {
            let part = cold::literal(&part.to_string_lossy());
            let copy = format!("COPY ({sql}) TO {part} (FORMAT parquet)");
            for is_last in [false, true] {
                let Err(error) = hybrid.ready()?.sql.batch(&copy) else { break };
                if !hybrid.failed(&error)? || is_last {
                    return Err(error);
                }
            }
            Ok(())
        };
        cold::whole(file, |part| write(self, part))?;
        let (mut rows, path) = (0, file.to_string_lossy());
        let count = "SELECT num_rows FROM parquet_file_metadata(?)";
        self.query(count, &[Param::Text(&path)], &mut |row| {
            rows = row.int(0)?.unwrap_or(0);
            Ok(())
        })?;
        Ok(rows.unsigned_abs())
    }

    /// The connection to the mirror, which is up to date.
    fn ready(&mut self) -> Result<&mut Connection> {
        self.sql()?;
        self.connection
            .as_mut()
            .ok_or_else(|| EngineError::failed(NAME, "ask its mirror", "it is not connected"))
    }
}
