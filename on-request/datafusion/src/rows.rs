//! Converts Arrow batches of a result to rows of the interface.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type, Int32Type, Int64Type};
use embermark_abi as abi;

use crate::failure::{Done, Failure};

/// Rows of a batch that were returned.
#[derive(Default)]
pub(crate) struct RowBuffer {
    /// Memory of the texts and bytes in the values.
    arrays: Vec<ArrayRef>,
    values: Vec<abi::Value>,
    rows: usize,
}

/// Converts an array to a type that [`fill`] reads.
fn readable(array: &ArrayRef) -> Done<ArrayRef> {
    use DataType as Is;
    let to = match array.data_type() {
        Is::Null | Is::Int32 | Is::Int64 | Is::Float64 => return Ok(array.clone()),
        Is::Utf8 | Is::Utf8View | Is::Binary | Is::BinaryView => return Ok(array.clone()),
        Is::Boolean | Is::Int8 | Is::Int16 | Is::UInt8 | Is::UInt16 | Is::UInt32 | Is::UInt64 => {
            Is::Int64
        }
        Is::Float16 | Is::Float32 | Is::Decimal128(..) | Is::Decimal256(..) => Is::Float64,
        Is::LargeUtf8 => Is::Utf8View,
        Is::LargeBinary => Is::BinaryView,
        other => {
            return Err(Failure::Unsupported(format!("results of the type {other}: cast them")));
        }
    };
    Ok(cast(array, &to)?)
}

/// Writes the values of a column to rows of `width` values.
fn fill(values: &mut [abi::Value], width: usize, column: usize, array: &ArrayRef) {
    let places = values.iter_mut().skip(column).step_by(width);
    let rows = (0..array.len()).zip(places).filter(|(row, _)| array.is_valid(*row));
    macro_rules! fill {
        ($array:expr, $value:expr) => {{
            let array = $array;
            rows.for_each(|(row, place)| *place = $value(array.value(row)));
        }};
    }
    let integer = |value: i32| abi::Value::integer(value.into());
    match array.data_type() {
        DataType::Int32 => fill!(array.as_primitive::<Int32Type>(), integer),
        DataType::Int64 => fill!(array.as_primitive::<Int64Type>(), abi::Value::integer),
        DataType::Float64 => fill!(array.as_primitive::<Float64Type>(), abi::Value::double),
        DataType::Utf8 => fill!(array.as_string::<i32>(), abi::Value::text),
        DataType::Utf8View => fill!(array.as_string_view(), abi::Value::text),
        DataType::Binary => fill!(array.as_binary::<i32>(), abi::Value::blob),
        DataType::BinaryView => fill!(array.as_binary_view(), abi::Value::blob),
        // The type Null has no values.
        _ => {}
    }
}

impl RowBuffer {
    /// Replaces the rows that were returned before.
    pub fn take(&mut self, batch: &RecordBatch) -> Done {
        self.arrays = batch.columns().iter().map(readable).collect::<Done<_>>()?;
        self.rows = batch.num_rows();
        let width = self.arrays.len();
        self.values.clear();
        self.values.resize(self.rows * width, abi::Value::NULL);
        for (column, array) in self.arrays.iter().enumerate() {
            fill(&mut self.values, width, column, array);
        }
        Ok(())
    }

    /// Removes the rows.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    pub fn rows(&self) -> abi::Rows {
        abi::Rows { values: self.values.as_ptr(), columns: self.arrays.len(), rows: self.rows }
    }
}
