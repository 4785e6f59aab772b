//! Rows for bulk execution, in the library's form: column by column.

use std::ffi::{c_char, c_uint, c_ulong};

use super::NAME;
use super::api::{ARRAY_SIZE, Bind, indicator, types};
use super::failure::Failure;
use super::handle::Handle;
use super::param::length;
use crate::Result;
use crate::sql::{Param, SqlType, TableDef};
use crate::sql_driver::value_errors::{check_width, not_taken};

/// Approximate bytes of the rows in a packet, if the server accepts packets of that size.
const PACKET: usize = 1024 * 1024;

/// Most bytes before a packet's rows, and most bytes per column.
const PACKET_HEAD: usize = 16;
const TYPE: usize = 2;

/// Most bytes of a value apart from its text: an indicator, and a number or a length.
const VALUE: usize = 10;

/// Rows of a packet: of a table, or parameters of executions.
pub(super) struct Batch {
    columns: Vec<Column>,
    rows: c_uint,
    bytes: usize,
    /// Most bytes of a packet with several rows.
    limit: usize,
}

/// A column of a batch. A packet has one type per column: the table's, or that of the first value.
struct Column {
    values: Values,
    /// Whether each row has a value.
    indicators: Vec<c_char>,
    /// Whether the type is known. Until then every value is NULL.
    is_typed: bool,
}

enum Values {
    Int(Vec<i32>),
    Big(Vec<i64>),
    Double(Vec<f64>),
    Text(Texts),
    Bytes(Texts),
}

/// Texts or bytes in sequence.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    lengths: Vec<c_ulong>,
    /// Where each begins, once all are there.
    starts: Vec<*const u8>,
}

impl Batch {
    /// Creates an empty batch for rows of a table. `largest_packet` is the server's limit, in
    /// bytes.
    pub fn of_table(table: &TableDef, largest_packet: usize) -> Self {
        let columns = table.columns.iter().map(|(_, of, _)| Column::new(*of, true));
        Self::with_columns(columns.collect(), largest_packet)
    }

    /// Creates an empty batch for parameters, whose types follow from their values.
    pub fn of_params(count: usize, largest_packet: usize) -> Self {
        let columns = (0..count).map(|_| Column::new(SqlType::Big, false));
        Self::with_columns(columns.collect(), largest_packet)
    }

    fn with_columns(columns: Vec<Column>, largest_packet: usize) -> Self {
        let limit = PACKET.min(largest_packet / 2);
        let mut batch = Self { columns, rows: 0, bytes: 0, limit };
        batch.clear();
        batch
    }

    /// Returns whether it must be sent before this row is added.
    pub fn is_full(&self, row: &[Param<'_>]) -> bool {
        self.rows > 0 && self.bytes + self.bytes_of(row) > self.limit
    }

    /// Returns whether a row's values have the types of its columns, as far as these are known.
    pub fn suits(&self, row: &[Param<'_>]) -> bool {
        self.columns.iter().zip(row).all(|(column, value)| column.suits(*value))
    }

    /// Forgets the types of an empty batch of parameters.
    pub fn forget_types(&mut self) {
        self.columns.iter_mut().for_each(|column| column.is_typed = false);
    }

    /// Returns the most bytes of a row in a packet.
    fn bytes_of(&self, row: &[Param<'_>]) -> usize {
        row.len() * VALUE + row.iter().map(|value| length(*value)).sum::<usize>()
    }

    /// Clears its rows, and keeps their memory.
    fn clear(&mut self) {
        self.columns.iter_mut().for_each(Column::clear);
        self.rows = 0;
        self.bytes = PACKET_HEAD + self.columns.len() * TYPE;
    }

    /// Adds a row of a table. After an error the batch must not be sent.
    pub fn push_row(&mut self, table: &TableDef, row: &[Param<'_>]) -> Result<()> {
        check_width(NAME, table, row)?;
        self.push(row).map_err(|place| not_taken(NAME, table, place, row[place]))
    }

    /// Adds a row with a value for each column. Returns the index of the first value that does not
    /// fit. After that the batch must not be sent.
    pub fn push(&mut self, row: &[Param<'_>]) -> std::result::Result<(), usize> {
        for (place, (column, value)) in self.columns.iter_mut().zip(row).enumerate() {
            if !column.push(*value) {
                return Err(place);
            }
        }
        self.bytes += self.bytes_of(row);
        self.rows += 1;
        Ok(())
    }

    /// Executes a statement with its rows, if it has some, and clears it. Returns how many rows
    /// were changed. Afterwards the statement's parameters are bound to the batch's memory.
    pub fn send(&mut self, statement: &Handle) -> std::result::Result<u64, Failure> {
        if self.rows == 0 {
            return Ok(0);
        }
        set_array(statement, self.rows);
        let mut binds: Vec<Bind> = self.columns.iter_mut().map(Column::bind).collect();
        // SAFETY: there is a column for each parameter, with a value for each of that many rows,
        // and the batch is not touched before it has been sent.
        unsafe {
            statement.bind(&mut binds)?;
            statement.execute()?;
        }
        self.clear();
        Ok(statement.changed())
    }
}

/// Sets how many rows an execution sends. 0: one, and not as a packet of rows.
pub(super) fn set_array(statement: &Handle, rows: c_uint) {
    // SAFETY: the statement is alive, and the library reads the number at once.
    unsafe {
        (statement.api().stmt_attr_set)(statement.raw(), ARRAY_SIZE, (&raw const rows).cast())
    };
}

impl Column {
    fn new(of: SqlType, is_typed: bool) -> Self {
        Self { values: Values::new(of, 0), indicators: Vec::new(), is_typed }
    }

    /// Returns whether a value has its type.
    fn suits(&self, value: Param<'_>) -> bool {
        let finite = !matches!(value, Param::Float(value) if !value.is_finite());
        let of_type = matches!(
            (&self.values, value),
            (_, Param::Null)
                | (Values::Big(_), Param::Int(_))
                | (Values::Double(_), Param::Float(_))
                | (Values::Text(_), Param::Text(_))
                | (Values::Bytes(_), Param::Bytes(_))
        );
        finite && (of_type || !self.is_typed)
    }

    /// Takes the type of the first value that is not NULL.
    fn take_type(&mut self, value: Param<'_>) {
        let of = match value {
            _ if self.is_typed => return,
            Param::Null => return,
            Param::Int(_) => SqlType::Big,
            Param::Float(_) => SqlType::Double,
            Param::Text(_) => SqlType::Text,
            Param::Bytes(_) => SqlType::Bytes,
        };
        (self.values, self.is_typed) = (Values::new(of, self.indicators.len()), true);
    }

    /// Adds a value. Returns false if it does not have the column's type.
    #[expect(clippy::cast_precision_loss)]
    fn push(&mut self, value: Param<'_>) -> bool {
        self.take_type(value);
        let is_null = value == Param::Null;
        match (&mut self.values, value) {
            (Values::Int(values), Param::Null) => values.push(0),
            (Values::Int(values), Param::Int(value)) if let Ok(value) = i32::try_from(value) => {
                values.push(value);
            }
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

impl Values {
    /// Creates values of a type, with this many placeholders for NULLs.
    fn new(of: SqlType, nulls: usize) -> Self {
        match of {
            SqlType::Int => Self::Int(vec![0; nulls]),
            SqlType::Big => Self::Big(vec![0; nulls]),
            SqlType::Double => Self::Double(vec![0.0; nulls]),
            SqlType::Text => Self::Text(Texts::of_nulls(nulls)),
            SqlType::Bytes => Self::Bytes(Texts::of_nulls(nulls)),
        }
    }
}

impl Texts {
    fn of_nulls(nulls: usize) -> Self {
        Self { lengths: vec![0; nulls], ..Self::default() }
    }

    fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.lengths.push(text.len() as c_ulong);
    }

    fn bind(&mut self, of: c_uint) -> Bind {
        let mut at = 0;
        self.starts.clear();
        for length in &self.lengths {
            self.starts.push(self.bytes[at..].as_ptr());
            at += *length as usize;
        }
        let mut bind = Bind::new(of, self.starts.as_mut_ptr().cast());
        bind.length = self.lengths.as_mut_ptr();
        bind
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
        let mut batch = Batch::of_table(&TABLE, 1 << 20);
        let empty = batch.bytes;
        batch.push_row(&TABLE, &[Param::Int(-7), Param::Int(3), Param::Text("ß")]).unwrap();
        assert_eq!(batch.bytes - empty, 32);
        batch.push_row(&TABLE, &[Param::Null, Param::Null, Param::Null]).unwrap();
        batch.push_row(&TABLE, &[Param::Int(8), Param::Float(0.5), Param::Text("")]).unwrap();
        batch.push_row(&TABLE, &[Param::Int(9), Param::Float(-0.5), Param::Text("late")]).unwrap();
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
        assert_eq!(batch.rows, 4);
        batch.clear();
        assert!(batch.rows == 0 && batch.bytes == empty);
    }

    #[test]
    fn a_row_that_does_not_fit_its_table_is_refused_by_the_name_of_the_column() {
        let bad: [(&[Param<'_>], &str); 4] = [
            (&[Param::Int(1)], "it has 1 values, the table 3 columns"),
            (&[Param::Int(1 << 31), Param::Null, Param::Null], "does not fit column i"),
            (&[Param::Int(1), Param::Float(f64::NAN), Param::Null], "which column d requires"),
            (&[Param::Int(1), Param::Null, Param::Int(5)], "which column w requires"),
        ];
        for (row, why) in bad {
            let error =
                Batch::of_table(&TABLE, 1 << 20).push_row(&TABLE, row).unwrap_err().to_string();
            assert!(error.contains("load a row into t") && error.contains(why), "{error}");
        }
    }

    #[test]
    fn parameters_take_the_type_of_their_first_value_and_another_does_not_suit() {
        let mut batch = Batch::of_params(2, 1 << 20);
        batch.push(&[Param::Null, Param::Int(1)]).unwrap();
        batch.push(&[Param::Text("late"), Param::Null]).unwrap();
        let (text, int) = (Param::Text(""), Param::Int(i64::MIN));
        assert!(batch.suits(&[text, int]) && batch.suits(&[Param::Null; 2]));
        let others = [[Param::Bytes(b""), int], [text, Param::Float(1.0)], [int, int]];
        assert!(others.iter().all(|row| !batch.suits(row)));
        let Values::Text(texts) = &batch.columns[0].values else { panic!("no texts") };
        assert_eq!((&*texts.bytes, &*texts.lengths), (&b"late"[..], &[0, 4][..]));
        assert_eq!(batch.columns[0].indicators, [indicator::NULL, indicator::NONE]);
        batch.clear();
        assert!(!batch.suits(&others[0]), "the types are kept from packet to packet");
        batch.forget_types();
        assert!(others.iter().all(|row| batch.suits(row)));
        assert!(!batch.suits(&[Param::Float(f64::NAN), int]), "no type takes it");
        assert_eq!(batch.push(&[text, int]), Ok(()));
    }
}
