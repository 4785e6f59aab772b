//! Values as parameters of statements.

use embermark_contract::sql::Param;
use embermark_model::table::Value;
use smallvec::SmallVec;

use super::super::documents::{Stored, laid};

/// Parameters of a statement.
pub(super) type Params<'a> = SmallVec<[Param<'a>; 12]>;

/// Returns the parameters of a row as it is stored. `documents` are those laid out for it.
pub(super) fn written_params<'a, 'v: 'a>(
    written: &[Stored],
    documents: &'a [u8],
    get: impl Fn(usize) -> Value<'v>,
) -> Params<'a> {
    let mut rest = documents;
    let each = written.iter().map(|stored| match stored {
        Stored::Column(column) => param(get(*column)),
        Stored::Document(_) => Param::Text(laid(&mut rest)),
    });
    each.collect()
}

/// Returns a value as a parameter.
#[inline]
pub(in super::super) const fn param(value: Value<'_>) -> Param<'_> {
    match value {
        Value::Null => Param::Null,
        Value::Int(value) => Param::Int(value),
        Value::Float(value) => Param::Float(value),
        Value::Text(text) => Param::Text(text),
        Value::Bytes(bytes) => Param::Bytes(bytes),
    }
}
