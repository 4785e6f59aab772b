//! Loads many rows with few statements.

use std::ops::Range;
use std::rc::Rc;

use rusqlite::Connection;

use super::NAME;
use super::statement::Prepared;
use crate::Result;
use crate::sql::{Param, Rows, TableDef};
use crate::sql_driver::value_errors::check_width;

/// Rows per INSERT. 64 rows cost half as much per row as one row, and more rows gain little.
const ROWS: usize = 64;

/// Most parameters of a statement: <https://www.sqlite.org/limits.html#max_variable_number>.
const PARAMETERS: usize = 32_766;

/// Rows kept until there are enough of them. A [`Rows`] lends one at a time.
#[derive(Default)]
struct Batch {
    cells: Vec<Cell>,
    text: String,
    bytes: Vec<u8>,
}

enum Cell {
    Plain(Param<'static>),
    Text(Range<usize>),
    Bytes(Range<usize>),
}

impl Batch {
    fn push(&mut self, row: &[Param<'_>]) {
        self.cells.extend(row.iter().map(|param| match *param {
            Param::Null => Cell::Plain(Param::Null),
            Param::Int(number) => Cell::Plain(Param::Int(number)),
            Param::Float(number) => Cell::Plain(Param::Float(number)),
            Param::Text(text) => {
                let start = self.text.len();
                self.text.push_str(text);
                Cell::Text(start..self.text.len())
            }
            Param::Bytes(bytes) => {
                let start = self.bytes.len();
                self.bytes.extend_from_slice(bytes);
                Cell::Bytes(start..self.bytes.len())
            }
        }));
    }

    fn params(&self) -> impl ExactSizeIterator<Item = Param<'_>> {
        self.cells.iter().map(|cell| match cell {
            Cell::Plain(param) => *param,
            Cell::Text(range) => Param::Text(&self.text[range.clone()]),
            Cell::Bytes(range) => Param::Bytes(&self.bytes[range.clone()]),
        })
    }

    fn clear(&mut self) {
        self.cells.clear();
        self.text.clear();
        self.bytes.clear();
    }
}

/// Inserts all rows into a table. Returns their number.
pub(super) fn insert(
    connection: &Rc<Connection>,
    table: &TableDef,
    rows: &mut dyn Rows,
) -> Result<u64> {
    let most = ROWS.min(PARAMETERS / table.columns.len().max(1)).max(1);
    let full = statement(connection, table, most)?;
    let (mut batch, mut held, mut count) = (Batch::default(), 0, 0);
    while let Some(row) = rows.next() {
        check_width(NAME, table, row)?;
        batch.push(row);
        (held, count) = (held + 1, count + 1);
        if held == most {
            full.run(batch.params())?;
            batch.clear();
            held = 0;
        }
    }
    if held > 0 {
        statement(connection, table, held)?.run(batch.params())?;
    }
    Ok(count)
}

fn statement(connection: &Rc<Connection>, table: &TableDef, rows: usize) -> Result<Prepared> {
    let row = format!("({})", vec!["?"; table.columns.len()].join(", "));
    let sql = format!("INSERT INTO {} VALUES {}", table.name, vec![&*row; rows].join(", "));
    Prepared::new(connection, &sql)
}
