//! COPY in its binary format (<https://www.postgresql.org/docs/18/sql-copy.html>, "Binary Format"),
//! and COPY of a CSV file.

use std::fs::File;
use std::io::{self, Read};

use super::NAME;
use super::answer::ServerError;
use super::connection::Connection;
use crate::sql::{CsvFile, Param, Rows, SqlType, TableDef};
use crate::sql_driver::value_errors::{check_width, not_taken};
use crate::{EngineError, Result};

const SIGNATURE: &[u8] = b"PGCOPY\n\xFF\r\n\0";

/// Flags, and length of a header extension: none.
const HEADER: [u8; 8] = [0; 8];

/// End mark, instead of a row's number of columns.
const END: i16 = -1;

/// NULL, instead of a value's length.
const NULL: i32 = -1;

/// Bytes passed to libpq at once, so that its overhead per piece vanishes.
const PIECE: usize = 64 * 1024;

/// Rows for a table, encoded up to the end of `out`.
pub(super) struct Copy<'a> {
    table: &'a TableDef,
    rows: &'a mut dyn Rows,
    out: Vec<u8>,
    ended: bool,
}

impl<'a> Copy<'a> {
    pub fn new(table: &'a TableDef, rows: &'a mut dyn Rows) -> Self {
        let mut out = Vec::with_capacity(2 * PIECE);
        out.extend_from_slice(SIGNATURE);
        out.extend_from_slice(&HEADER);
        Self { table, rows, out, ended: false }
    }

    /// Encodes rows until there are `size` bytes. Returns `true` when no row is left.
    pub fn fill(&mut self, size: usize) -> Result<bool> {
        while !self.ended && self.out.len() < size {
            match self.rows.next() {
                Some(row) => encode(self.table, row, &mut self.out)?,
                None => {
                    self.out.extend_from_slice(&END.to_be_bytes());
                    self.ended = true;
                }
            }
        }
        Ok(self.ended)
    }

    /// Sends all rows. Returns how many the server stored. After an error nothing is stored.
    pub fn send(mut self, connection: &mut Connection, options: &str) -> Result<u64> {
        let (name, names) = (self.table.name, self.table.column_names().join(", "));
        let sql = format!("COPY {name} ({names}) FROM STDIN (FORMAT binary{options})");
        let failed = |e: ServerError| e.while_doing(format!("run `{sql}`"));
        let mut copying = connection.copy_in(&sql).map_err(failed)?;
        loop {
            let last = self.fill(PIECE)?;
            copying.put(&self.out).map_err(failed)?;
            if last {
                // Errors of the server about a row show here.
                return copying.finish().map_err(failed);
            }
            self.out.clear();
        }
    }
}

/// Returns whether a server accepts a COPY into a table in this format, with no rows.
pub(super) fn is_taken(connection: &mut Connection, table: &str, form: &str) -> bool {
    let Ok(mut copying) = connection.copy_in(&format!("COPY {table} FROM STDIN (FORMAT {form})"))
    else {
        return false;
    };
    let mut none = [SIGNATURE, &HEADER].concat();
    none.extend_from_slice(&END.to_be_bytes());
    let none = if form.starts_with("binary") { &*none } else { &[] };
    copying.put(none).is_ok() && copying.finish().is_ok()
}

/// Sends a CSV file unchanged, from the beginning of `open`. Returns how many rows the server
/// stored. After an error nothing is stored.
pub(super) fn send_file(
    table: &TableDef,
    (file, open): (&CsvFile<'_>, &mut File),
    connection: &mut Connection,
    options: &str,
) -> Result<u64> {
    let (name, names) = (table.name, file.columns.join(", "));
    let sql = format!("COPY {name} ({names}) FROM STDIN (FORMAT csv, HEADER true{options})");
    let failed = |e: ServerError| e.while_doing(format!("run `{sql}`"));
    let mut copying = connection.copy_in(&sql).map_err(failed)?;
    let mut piece = vec![0; PIECE];
    loop {
        match open.read(&mut piece).map_err(|e| unread(file, e))? {
            0 => return copying.finish().map_err(failed),
            count => copying.put(&piece[..count]).map_err(failed)?,
        }
    }
}

/// Returns the error for a CSV file that could not be read.
pub(super) fn unread(file: &CsvFile<'_>, cause: io::Error) -> EngineError {
    EngineError::file(NAME, "read", file.path, cause)
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
fn encode(table: &TableDef, row: &[Param<'_>], out: &mut Vec<u8>) -> Result<()> {
    check_width(NAME, table, row)?;
    // A table has at most 1,600 columns.
    out.extend_from_slice(&(row.len() as i16).to_be_bytes());
    for (column, ((_, of, _), value)) in table.columns.iter().zip(row).enumerate() {
        let fits = match (*value, of) {
            (Param::Null, _) => {
                out.extend_from_slice(&NULL.to_be_bytes());
                true
            }
            (Param::Int(value), SqlType::Big) => field(out, &value.to_be_bytes()),
            (Param::Int(value), SqlType::Int) if let Ok(value) = i32::try_from(value) => {
                field(out, &value.to_be_bytes())
            }
            (Param::Float(value), SqlType::Double) => field(out, &value.to_be_bytes()),
            (Param::Int(value), SqlType::Double) => field(out, &(value as f64).to_be_bytes()),
            (Param::Text(value), SqlType::Text) => field(out, value.as_bytes()),
            (Param::Bytes(value), SqlType::Bytes) => field(out, value),
            _ => false,
        };
        if !fits {
            return Err(not_taken(NAME, table, column, *value));
        }
    }
    Ok(())
}

/// Appends the length and the bytes of a value. Returns false if it is too long.
#[inline]
fn field(out: &mut Vec<u8>, bytes: &[u8]) -> bool {
    let Ok(length) = i32::try_from(bytes.len()) else { return false };
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(bytes);
    true
}
