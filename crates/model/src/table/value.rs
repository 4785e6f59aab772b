//! The values of columns.

/// An owned value of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum OwnedValue {
    /// Absent.
    Null,
    /// An integer, a bool as 0 or 1, a time in its unit.
    Int(i64),
    /// A number.
    Float(f64),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl OwnedValue {
    /// Borrows the value.
    pub fn as_value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Int(value) => Value::Int(*value),
            Self::Float(value) => Value::Float(*value),
            Self::Text(value) => Value::Text(value),
            Self::Bytes(value) => Value::Bytes(value),
        }
    }
}

/// A borrowed value of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Absent.
    Null,
    /// An integer, a bool as 0 or 1, a time in its unit.
    Int(i64),
    /// A number.
    Float(f64),
    /// A text.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
}

impl Value<'_> {
    /// Copies the value.
    pub fn to_owned(self) -> OwnedValue {
        match self {
            Self::Null => OwnedValue::Null,
            Self::Int(value) => OwnedValue::Int(value),
            Self::Float(value) => OwnedValue::Float(value),
            Self::Text(value) => OwnedValue::Text(value.to_owned()),
            Self::Bytes(value) => OwnedValue::Bytes(value.to_vec()),
        }
    }
}
