//! A row of a library's result.

use std::fmt::Display;

use embermark_abi as abi;

use crate::sql::{Param, ResultRow};
use crate::sql_driver::value_errors::no_column;
use crate::{EngineError, Result};

/// A row, valid while it is visited.
pub(super) struct Row<'a> {
    /// The engine's id, for errors.
    pub id: &'static str,
    pub values: &'a [abi::Value],
}

impl Row<'_> {
    #[inline]
    fn value(&self, column: usize) -> Result<&abi::Value> {
        let count = self.values.len();
        self.values.get(column).ok_or_else(|| no_column(self.id, column, count))
    }

    #[cold]
    fn unreadable<T>(&self, column: usize, why: impl Display) -> Result<T> {
        Err(EngineError::failed(self.id, format!("read column {column} of a row"), why))
    }

    #[cold]
    fn wrong_kind<T>(&self, column: usize, wanted: &str) -> Result<T> {
        self.unreadable(column, format!("its value is not {wanted}: cast it in the statement"))
    }

    /// Returns the bytes of `value`, if it is a text or a byte string.
    #[inline]
    fn bytes_of<'a>(&'a self, column: usize, value: &'a abi::Value) -> Result<&'a [u8]> {
        // SAFETY: it is a text or bytes, and the pointer is that of its content.
        let bytes = unsafe { value.bytes() };
        if bytes.at.is_null() && bytes.size > 0 {
            let why = format!("its value has {} bytes at NULL", bytes.size);
            return self.unreadable(column, why);
        }
        // SAFETY: as the header promises: they exist until the next row is fetched, and the row is
        // not used after that.
        Ok(unsafe { bytes.as_slice() })
    }
}

impl ResultRow for Row<'_> {
    #[inline]
    fn int(&self, column: usize) -> Result<Option<i64>> {
        let value = self.value(column)?;
        match value.kind {
            abi::NULL => Ok(None),
            // SAFETY: the value is of this kind.
            abi::INTEGER => Ok(Some(unsafe { value.content.integer })),
            _ => self.wrong_kind(column, "an integer"),
        }
    }

    #[inline]
    fn float(&self, column: usize) -> Result<Option<f64>> {
        let value = self.value(column)?;
        match value.kind {
            abi::NULL => Ok(None),
            // SAFETY: the value is of this kind.
            abi::DOUBLE => Ok(Some(unsafe { value.content.number })),
            // SAFETY: as above.
            abi::INTEGER => Ok(Some(unsafe { value.content.integer } as f64)),
            _ => self.wrong_kind(column, "a number"),
        }
    }

    fn text(&self, column: usize) -> Result<Option<&str>> {
        let value = self.value(column)?;
        match value.kind {
            abi::NULL => Ok(None),
            abi::TEXT => {
                let text = std::str::from_utf8(self.bytes_of(column, value)?);
                text.map(Some).or_else(|_| self.wrong_kind(column, "valid UTF-8"))
            }
            _ => self.wrong_kind(column, "text"),
        }
    }

    fn bytes(&self, column: usize) -> Result<Option<&[u8]>> {
        let value = self.value(column)?;
        match value.kind {
            abi::NULL => Ok(None),
            abi::BLOB => self.bytes_of(column, value).map(Some),
            _ => self.wrong_kind(column, "bytes"),
        }
    }

    fn columns(&self) -> Result<usize> {
        Ok(self.values.len())
    }

    fn any<'a>(&'a self, column: usize, _: &'a mut String) -> Result<Param<'a>> {
        let value = match self.value(column)?.kind {
            abi::NULL => None,
            abi::INTEGER => self.int(column)?.map(Param::Int),
            abi::DOUBLE => self.float(column)?.map(Param::Float),
            abi::TEXT => self.text(column)?.map(Param::Text),
            abi::BLOB => self.bytes(column)?.map(Param::Bytes),
            other => return self.unreadable(column, format!("unknown kind of value {other}")),
        };
        Ok(value.unwrap_or(Param::Null))
    }
}
