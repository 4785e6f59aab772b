//! Rows to be written to a file, with an Arrow builder per column.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayBuilder, ArrayRef, BinaryViewBuilder, Float64Builder, Int16Builder, Int32Builder,
    Int64Builder, RecordBatch, StringViewBuilder,
};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::scalar::ScalarValue;
use embermark_abi as abi;

use crate::failure::{Done, Failure, cannot};

/// Number of rows in a batch, which is DataFusion's own batch size.
pub(crate) const ROWS: usize = 8192;

/// Builder of a column.
enum Column {
    Short(Int16Builder),
    Int(Int32Builder),
    Big(Int64Builder),
    Double(Float64Builder),
    Text(StringViewBuilder),
    Bytes(BinaryViewBuilder),
}

impl Column {
    fn for_type(data_type: &DataType) -> Done<Self> {
        Ok(match data_type {
            DataType::Int16 => Self::Short(Int16Builder::new()),
            DataType::Int32 => Self::Int(Int32Builder::new()),
            DataType::Int64 => Self::Big(Int64Builder::new()),
            DataType::Float64 => Self::Double(Float64Builder::new()),
            DataType::Utf8View => Self::Text(StringViewBuilder::new()),
            DataType::BinaryView => Self::Bytes(BinaryViewBuilder::new()),
            other => return Err(Failure::Unsupported(format!("columns of the type {other}"))),
        })
    }

    fn builder(&mut self) -> &mut dyn ArrayBuilder {
        match self {
            Self::Short(builder) => builder,
            Self::Int(builder) => builder,
            Self::Big(builder) => builder,
            Self::Double(builder) => builder,
            Self::Text(builder) => builder,
            Self::Bytes(builder) => builder,
        }
    }

    /// Adds a value.
    ///
    /// # Safety
    /// The text or the bytes of the value are valid.
    unsafe fn add(&mut self, value: &abi::Value) -> Done {
        // SAFETY: the kind of the value determines its content, and the caller guarantees the rest.
        unsafe {
            let (integer, number) = (value.content.integer, value.content.number);
            match (self, value.kind) {
                (Self::Short(to), abi::NULL) => to.append_null(),
                (Self::Int(to), abi::NULL) => to.append_null(),
                (Self::Big(to), abi::NULL) => to.append_null(),
                (Self::Double(to), abi::NULL) => to.append_null(),
                (Self::Text(to), abi::NULL) => to.append_null(),
                (Self::Bytes(to), abi::NULL) => to.append_null(),
                (Self::Short(to), abi::INTEGER) => to.append_value(narrow(integer)?),
                (Self::Int(to), abi::INTEGER) => to.append_value(narrow(integer)?),
                (Self::Big(to), abi::INTEGER) => to.append_value(integer),
                (Self::Double(to), abi::INTEGER) => to.append_value(integer as f64),
                (Self::Double(to), abi::DOUBLE) => to.append_value(number),
                (Self::Text(to), abi::TEXT) => to.append_value(text(value)?),
                (Self::Bytes(to), abi::BLOB) => to.append_value(value.bytes().as_slice()),
                (_, kind) => {
                    return Err(format!("a column does not take a value of the kind {kind}").into());
                }
            }
        }
        Ok(())
    }
}

fn narrow<T: TryFrom<i64, Error: std::fmt::Display>>(integer: i64) -> Done<T> {
    integer.try_into().map_err(cannot(format!("store {integer}")))
}

/// # Safety
/// The text of the value is valid.
unsafe fn text<'a>(value: &abi::Value) -> Done<&'a str> {
    // SAFETY: guaranteed by the caller.
    str::from_utf8(unsafe { value.bytes().as_slice() }).map_err(cannot("take a text"))
}

/// Converts a value to a parameter of a query.
///
/// # Safety
/// The text or the bytes of the value are valid.
pub(crate) unsafe fn scalar(value: &abi::Value) -> Done<ScalarValue> {
    // SAFETY: the kind of the value determines its content, and the caller guarantees the rest.
    unsafe {
        Ok(match value.kind {
            abi::NULL => ScalarValue::Null,
            abi::INTEGER => ScalarValue::Int64(Some(value.content.integer)),
            abi::DOUBLE => ScalarValue::Float64(Some(value.content.number)),
            abi::TEXT => ScalarValue::Utf8View(Some(text(value)?.to_owned())),
            abi::BLOB => ScalarValue::BinaryView(Some(value.bytes().as_slice().to_vec())),
            kind => return Err(format!("no value is of the kind {kind}").into()),
        })
    }
}

/// Builders of a table's columns.
pub(crate) struct Columns {
    schema: SchemaRef,
    columns: Vec<Column>,
    rows: usize,
}

impl Columns {
    pub fn new(schema: SchemaRef) -> Done<Self> {
        let columns = schema.fields().iter().map(|field| Column::for_type(field.data_type()));
        Ok(Self { columns: columns.collect::<Done<_>>()?, schema, rows: 0 })
    }

    pub const fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Adds a row from the value of each column by its number. If it fails, call
    /// [`clear`](Self::clear).
    ///
    /// # Safety
    /// The texts and bytes of its values are valid.
    pub unsafe fn add<'a>(&mut self, value: impl Fn(usize) -> &'a abi::Value) -> Done {
        for (number, column) in self.columns.iter_mut().enumerate() {
            // SAFETY: guaranteed by the caller.
            unsafe { column.add(value(number))? };
        }
        self.rows += 1;
        Ok(())
    }

    /// Whether there are enough rows for a batch.
    pub const fn is_full(&self) -> bool {
        self.rows >= ROWS
    }

    /// Returns the rows as a batch, if there are any.
    pub fn take(&mut self) -> Done<Option<RecordBatch>> {
        if self.rows == 0 {
            return Ok(None);
        }
        let columns: Vec<ArrayRef> =
            self.columns.iter_mut().map(|column| column.builder().finish()).collect();
        self.rows = 0;
        Ok(Some(RecordBatch::try_new(Arc::clone(&self.schema), columns)?))
    }

    /// Drops the rows.
    pub fn clear(&mut self) {
        self.columns.iter_mut().for_each(|column| drop(column.builder().finish()));
        self.rows = 0;
    }
}
