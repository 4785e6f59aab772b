//! Rows on their way to the server in bulk: as the library takes them, column by column.

use std::ffi::{c_char, c_uint, c_ulong};

use super::NAME;
use super::api::{Bind, indicator, types};
use super::param::length;
use crate::Result;
use crate::sql::{Param, SqlType, TableDef};
use crate::sql_driver::misfit::{check_width, not_taken};

/// At most this many bytes stand before a packet's rows, and at most so many for each column.
const PACKET_HEAD: usize = 16;
const TYPE: usize = 2;

/// The most that a value takes beside its text: an indicator, and a number or a length.
const VALUE: usize = 10;

/// The rows of a packet.
pub(super) struct Batch<'a> {
    table: &'a TableDef,
    columns: Vec<Column>,
    rows: c_uint,
    bytes: usize,
}

/// A column of a batch, in the type of the table's, because a packet has one type a column.
struct Column {
    values: Values,
    /// Of each row, whether there is a value.
    indicators: Vec<c_char>,
}

enum Values {
    Int(Vec<i32>),
    Big(Vec<i64>),
    Double(Vec<f64>),
    Text(Texts),
    Bytes(Texts),
}

/// Texts or bytes, one behind the other.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    lengths: Vec<c_ulong>,
    /// Where each begins, once all are there.
    starts: Vec<*const u8>,
}

impl<'a> Batch<'a> {
    /// An empty one, of rows of a table.
    pub fn new(table: &'a TableDef) -> Self {
        let columns = table.columns.iter().map(|(_, of, _)| Column::new(*of)).collect();
        let mut batch = Self { table, columns, rows: 0, bytes: 0 };
        batch.clear();
        batch
    }

    pub const fn is_empty(&self) -> bool {
        self.rows == 0
    }

    pub const fn rows(&self) -> c_uint {
        self.rows
    }

    /// The most that its packet takes.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The most that a row takes in a packet.
    pub fn bytes_of(&self, row: &[Param<'_>]) -> usize {
        row.len() * VALUE + row.iter().map(|value| length(*value)).sum::<usize>()
    }

    /// Forgets its rows, and keeps their memory.
    pub fn clear(&mut self) {
        self.columns.iter_mut().for_each(Column::clear);
        self.rows = 0;
        self.bytes = PACKET_HEAD + self.columns.len() * TYPE;
    }

    /// Adds a row.
    /// After an error the batch is not to be sent.
    pub fn push(&mut self, row: &[Param<'_>]) -> Result<()> {
        check_width(NAME, self.table, row)?;
        for (place, value) in row.iter().enumerate() {
            if !self.columns[place].push(*value) {
                return Err(not_taken(NAME, self.table, place, *value));
            }
        }
        self.bytes += self.bytes_of(row);
        self.rows += 1;
        Ok(())
    }

    /// Where its values lie, until it is changed.
    pub fn binds(&mut self) -> Vec<Bind> {
        self.columns.iter_mut().map(Column::bind).collect()
    }
}

impl Column {
    fn new(of: SqlType) -> Self {
        let values = match of {
            SqlType::Int => Values::Int(Vec::new()),
            SqlType::Big => Values::Big(Vec::new()),
            SqlType::Double => Values::Double(Vec::new()),
            SqlType::Text => Values::Text(Texts::default()),
            SqlType::Bytes => Values::Bytes(Texts::default()),
        };
        Self { values, indicators: Vec::new() }
    }

    /// Adds a value, if it is one of the column's type.
    #[expect(clippy::cast_precision_loss)]
    fn push(&mut self, value: Param<'_>) -> bool {
        let is_null = value == Param::Null;
        match (&mut self.values, value) {
            (Values::Int(values), Param::Null) => values.push(0),
            (Values::Int(values), Param::Int(value)) => match i32::try_from(value) {
                Ok(value) => values.push(value),
                Err(_) => return false,
            },
            (Values::Big(values), Param::Null) => values.push(0),
            (Values::Big(values), Param::Int(value)) => values.push(value),
            (Values::Double(values), Param::Null) => values.push(0.0),
            (Values::Double(values), Param::Int(value)) => values.push(value as f64),
            (Values::Double(values), Param::Float(value)) if value.is_finite() => {
                values.push(value);
            }
            (Values::Text(texts) | Values::Bytes(texts), Param::Null) => texts.push(b""),
            (Values::Text(texts), Param::Text(value)) => texts.push(value.as_bytes()),
            (Values::Bytes(texts), Param::Bytes(value)) => texts.push(value),
            _ => return false,
        }
        self.indicators.push(if is_null { indicator::NULL } else { indicator::NONE });
        true
    }

    fn clear(&mut self) {
        match &mut self.values {
            Values::Int(values) => values.clear(),
            Values::Big(values) => values.clear(),
            Values::Double(values) => values.clear(),
            Values::Text(texts) | Values::Bytes(texts) => {
                texts.bytes.clear();
                texts.lengths.clear();
            }
        }
        self.indicators.clear();
    }

    fn bind(&mut self) -> Bind {
        let mut bind = match &mut self.values {
            Values::Int(values) => Bind::new(types::LONG, values.as_mut_ptr().cast()),
            Values::Big(values) => Bind::new(types::LONGLONG, values.as_mut_ptr().cast()),
            Values::Double(values) => Bind::new(types::DOUBLE, values.as_mut_ptr().cast()),
            Values::Text(texts) => texts.bind(types::STRING),
            Values::Bytes(texts) => texts.bind(types::BLOB),
        };
        bind.indicator = self.indicators.as_mut_ptr();
        bind
    }
}

impl Texts {
    fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.lengths.push(text.len() as c_ulong);
    }

    fn bind(&mut self, of: c_uint) -> Bind {
        self.find_starts();
        let mut bind = Bind::new(of, self.starts.as_mut_ptr().cast());
        bind.length = self.lengths.as_mut_ptr();
        bind
    }

    fn find_starts(&mut self) {
        let mut at = 0;
        self.starts.clear();
        for length in &self.lengths {
            self.starts.push(self.bytes[at..].as_ptr());
            at += *length as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::Nullable;

    const TABLE: TableDef = TableDef {
        name: "t",
        columns: &[
            ("i", SqlType::Int, Nullable::No),
            ("d", SqlType::Double, Nullable::Yes),
            ("w", SqlType::Text, Nullable::Yes),
        ],
        key: &["i"],
    };

    #[test]
    fn a_value_takes_the_type_of_its_column() {
        let mut batch = Batch::new(&TABLE);
        let empty = batch.bytes();
        batch.push(&[Param::Int(-7), Param::Int(3), Param::Text("ß")]).unwrap();
        assert_eq!(batch.bytes() - empty, 32);
        batch.push(&[Param::Null, Param::Null, Param::Null]).unwrap();
        batch.push(&[Param::Int(8), Param::Float(0.5), Param::Text("")]).unwrap();
        batch.push(&[Param::Int(9), Param::Float(-0.5), Param::Text("late")]).unwrap();
        let [int, double, text] = &mut batch.columns[..] else { panic!("columns are missing") };
        assert!(matches!(&int.values, Values::Int(values) if *values == [-7, 0, 8, 9]));
        assert!(
            matches!(&double.values, Values::Double(values) if *values == [3.0, 0.0, 0.5, -0.5])
        );
        for column in [int, double] {
            assert_eq!(column.indicators, [0, 1, 0, 0]);
        }
        text.bind();
        let Values::Text(texts) = &text.values else { panic!("no texts") };
        assert_eq!((&*texts.bytes, &*texts.lengths), ("ßlate".as_bytes(), &[2, 0, 0, 4][..]));
        let first = texts.bytes.as_ptr();
        assert_eq!(texts.starts, [0, 2, 2, 2].map(|at| first.wrapping_add(at)));
        assert_eq!(batch.rows(), 4);
        batch.clear();
        assert!(batch.is_empty() && batch.bytes() == empty);
    }

    #[test]
    fn a_row_that_does_not_fit_its_table_is_refused_by_the_name_of_the_column() {
        let bad: [(&[Param<'_>], &str); 4] = [
            (&[Param::Int(1)], "it has 1 values, the table 3 columns"),
            (&[Param::Int(1 << 31), Param::Null, Param::Null], "does not fit column i"),
            (&[Param::Int(1), Param::Float(f64::NAN), Param::Null], "as column d wants"),
            (&[Param::Int(1), Param::Null, Param::Int(5)], "as column w wants"),
        ];
        for (row, why) in bad {
            let error = Batch::new(&TABLE).push(row).unwrap_err().to_string();
            assert!(error.contains("load a row into t") && error.contains(why), "{error}");
        }
    }
}
