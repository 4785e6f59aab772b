//! Tables as a workload file describes them: columns and their types, keys, indexes, the source of
//! the rows, and values.

mod column;
mod made;
mod rows;
mod value;

pub use column::{Column, ColumnType, Field, TimeUnit, Within, int_range};
pub use made::{Late, Make, MakeKind};
pub use rows::{Keep, Literal, RowsFile, RowsFrom};
pub use value::{OwnedValue, Value};

/// A checked table of a workload file: names are distinct, column numbers exist, and no column of
/// the key may be absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name: letters, digits and underscores, but no keyword of SQL.
    pub name: String,
    /// Its columns in order.
    pub columns: Vec<Column>,
    /// The column numbers of its unique key, in order.
    pub key: Vec<usize>,
    /// The column numbers of each secondary index, in order.
    pub indexes: Vec<Vec<usize>>,
    /// The source of its rows.
    pub rows: RowsFrom,
}
