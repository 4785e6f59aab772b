//! A row of a library's result.

use embermark_abi as abi;

use crate::sql::{Param, ResultRow};
use crate::sql_driver::misfit::no_column;
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
    fn is_no<T>(&self, column: usize, wanted: &str) -> Result<T> {
        let why = format!("it holds no {wanted}: cast it in the statement");
        Err(EngineError::failed(self.id, format!("read column {column} of a row"), why))
    }

    /// Returns the bytes of `value`, if it is a text or a byte string.
    #[inline]
    fn bytes_of<'a>(&'a self, column: usize, value: &'a abi::Value) -> Result<&'a [u8]> {
        // SAFETY: it is a text or bytes, and the pointer is that of its content.
        let bytes = unsafe { value.bytes() };
        if bytes.at.is_null() && bytes.size > 0 {
            return self.is_no(column, "bytes, but so many at NULL");
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
            // SAFETY: of its kind.
            abi::INTEGER => Ok(Some(unsafe { value.content.integer })),
            _ => self.is_no(column, "integer"),
        }
    }

    #[inline]
    fn float(&self, column: usize) -> Result<Option<f64>> {
        let value = self.value(column)?;
        match value.kind {
            abi::NULL => Ok(None),
            // SAFETY: of its kind.
            abi::DOUBLE => Ok(Some(unsafe { value.content.number })),
            // SAFETY: as above.
            abi::INTEGER => Ok(Some(unsafe { value.content.integer } as f64)),
            _ => self.is_no(column, "number"),
        }
    }

    fn text(&self, column: usize) -> Result<Option<&str>> {
        let value = self.value(column)?;
        match value.kind {
            abi::NULL => Ok(None),
            abi::TEXT => {
                let text = std::str::from_utf8(self.bytes_of(column, value)?);
                text.map(Some).or_else(|_| self.is_no(column, "valid UTF-8"))
            }
            _ => self.is_no(column, "text"),
        }
    }

    fn bytes(&self, column: usize) -> Result<Option<&[u8]>> {
        let value = self.value(column)?;
        match value.kind {
            abi::NULL => Ok(None),
            abi::BLOB => self.bytes_of(column, value).map(Some),
            _ => self.is_no(column, "bytes"),
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
            other => return self.is_no(column, &format!("value of a kind: {other} is none")),
        };
        Ok(value.unwrap_or(Param::Null))
    }
}
