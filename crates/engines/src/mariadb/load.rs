//! Bulk execution of a prepared INSERT, with many rows per packet, in the binary protocol
//! (<https://mariadb.com/kb/en/com_stmt_bulk_execute/>).
//!
//! LOAD DATA, which <https://mariadb.com/kb/en/how-to-quickly-insert-data-into-mariadb/> calls the
//! fastest, converts every number to text and took twice the server's processor time.
//! `unique_checks=0`, which it advises, makes InnoDB sort rows that are already sorted and took
//! nearly twice as long (docs/engines/mariadb.md).

use std::rc::Rc;

use super::batch::Batch;
use super::connection::Connection;
use super::dialect::MariaSql;
use super::failure::Failure;
use super::handle::Handle;
use super::{NAME, failed};
use crate::sql::{CsvFile, Dialect, Nullable, Rows, TableDef};
use crate::{EngineError, Result};

/// Inserts all rows, in the open transaction. Returns how many the server stored. After an error
/// the transaction must be rolled back. `largest_packet` is the server's limit, in bytes.
pub(super) fn load(
    connection: &Rc<Connection>,
    largest_packet: usize,
    table: &TableDef,
    rows: &mut dyn Rows,
) -> Result<u64> {
    let sql = MariaSql.insert_rows(table.name, &table.column_names(), 1);
    let could_not = |e: Failure| failed(format!("run `{sql}`"), &e);
    let statement = Handle::prepare(connection, &sql).map_err(could_not)?;
    let mut batch = Batch::of_table(table, largest_packet);
    let (mut stored, mut given) = (0, 0);
    while let Some(row) = rows.next() {
        if batch.is_full(row) {
            stored += batch.send(&statement).map_err(could_not)?;
        }
        batch.push_row(table, row)?;
        given += 1;
    }
    stored += batch.send(&statement).map_err(could_not)?;
    if stored != given {
        let why = format!("{stored} of {given} rows were stored");
        return Err(EngineError::failed(NAME, format!("run `{sql}`"), why));
    }
    Ok(stored)
}

/// Makes the server read a CSV file on its machine. Returns how many rows it stored
/// (<https://mariadb.com/kb/en/load-data-infile/>). An empty field would become 0 and not NULL,
/// which strict mode refuses.
pub(super) fn load_file(
    connection: &Connection,
    table: &TableDef,
    file: &CsvFile<'_>,
) -> Result<u64> {
    let null = |name: &str| {
        let known = |(column, _, nullable): &(&str, _, Nullable)| {
            *column == name && *nullable == Nullable::Yes
        };
        table.columns.iter().any(known)
    };
    let place = |name: &&str| if null(name) { format!("@{name}") } else { (*name).to_owned() };
    let places: Vec<String> = file.columns.iter().map(place).collect();
    let set = file.columns.iter().filter(|name| null(name));
    let set: Vec<String> = set.map(|name| format!("{name} = NULLIF(@{name}, '')")).collect();
    let set = if set.is_empty() { String::new() } else { format!(" SET {}", set.join(", ")) };
    let path = file.path.to_string_lossy().replace('\\', "\\\\").replace('\'', "''");
    let sql = format!(
        "LOAD DATA INFILE '{path}' INTO TABLE {} FIELDS TERMINATED BY ',' \
         LINES TERMINATED BY '\\n' IGNORE 1 LINES ({}){set}",
        table.name,
        places.join(", ")
    );
    connection.store(&sql).map_err(|e| failed(format!("run `{sql}`"), &e))
}
