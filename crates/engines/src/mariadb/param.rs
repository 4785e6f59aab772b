//! Encodes parameters for the server.

use std::cell::Cell;
use std::ffi::{c_uint, c_ulong};
use std::ptr;

use super::NAME;
use super::api::{Bind, Flag, types};
use crate::sql::Param;
use crate::{EngineError, Result};

/// Memory of a parameter that the library reads at each execution. It is in cells, or in memory in
/// cells, so a reference to a slot does not invalidate its pointers.
pub(super) struct Slot {
    /// Type that it was bound as, one of [`types`].
    of: c_uint,
    is_null: Cell<Flag>,
    /// Bits of an integer or a double.
    number: Cell<u64>,
    length: Cell<c_ulong>,
    text: Vec<Cell<u8>>,
}

/// Least bytes allocated for a text.
const LEAST_TEXT: usize = 64;

impl Slot {
    pub fn new() -> Self {
        Self {
            of: types::LONGLONG,
            is_null: Cell::new(1),
            number: Cell::new(0),
            length: Cell::new(0),
            text: Vec::new(),
        }
    }

    /// Sets a value. Returns false if it does not fit: it has another type than was bound, or is a
    /// text without room.
    #[inline]
    pub fn put(&self, param: Param<'_>) -> Result<bool> {
        let suits = self.suits(param);
        if suits {
            self.is_null.set(Flag::from(param == Param::Null));
            match param {
                Param::Null => {}
                Param::Int(value) => self.number.set(value.cast_unsigned()),
                Param::Float(value) if value.is_finite() => self.number.set(value.to_bits()),
                Param::Float(value) => return Err(no_double(value)),
                Param::Text(value) => self.copy(value.as_bytes()),
                Param::Bytes(value) => self.copy(value),
            }
        }
        Ok(suits)
    }

    /// Copies a text or bytes that fit.
    fn copy(&self, bytes: &[u8]) {
        debug_assert!(bytes.len() <= self.text.len());
        self.length.set(bytes.len() as c_ulong);
        let to = self.text.as_ptr().cast::<u8>().cast_mut();
        // SAFETY: there is room, as `suits` has checked, in our own memory, to whose cells nobody
        // has a reference.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
    }

    fn suits(&self, param: Param<'_>) -> bool {
        param == Param::Null || self.of == type_of(param) && length(param) <= self.text.len()
    }

    /// Changes the slot so that a value fits. It must be bound again afterwards.
    pub fn suit(&mut self, param: Param<'_>) {
        if param != Param::Null {
            self.of = type_of(param);
        }
        let length = length(param).max(LEAST_TEXT);
        if matches!(param, Param::Text(_) | Param::Bytes(_)) && self.text.len() < length {
            self.text.resize(length.next_power_of_two(), Cell::new(0));
        }
    }

    /// Returns its location, valid until it is moved or changed.
    pub fn bind(&self) -> Bind {
        let buffer = match self.of {
            types::STRING | types::BLOB => self.text.as_ptr().cast_mut().cast(),
            _ => self.number.as_ptr().cast(),
        };
        let mut bind = Bind::new(self.of, buffer);
        bind.is_null = self.is_null.as_ptr();
        bind.length = self.length.as_ptr();
        bind
    }
}

/// Returns the type that a value is bound as. NULL can have any type.
fn type_of(param: Param<'_>) -> c_uint {
    match param {
        Param::Null | Param::Int(_) => types::LONGLONG,
        Param::Float(_) => types::DOUBLE,
        Param::Text(_) => types::STRING,
        Param::Bytes(_) => types::BLOB,
    }
}

/// Returns the bytes of a text.
pub(super) fn length(param: Param<'_>) -> usize {
    match param {
        Param::Text(text) => text.len(),
        Param::Bytes(bytes) => bytes.len(),
        Param::Null | Param::Int(_) | Param::Float(_) => 0,
    }
}

#[cold]
pub(super) fn no_double(value: f64) -> EngineError {
    let why = format!("{value} is given, and it has no such double");
    EngineError::failed(NAME, "take a parameter", why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_another_type_or_longer_than_any_before_does_not_suit() {
        let mut slot = Slot::new();
        let long = "x".repeat(1000);
        assert!(slot.put(Param::Null).unwrap() && slot.put(Param::Int(-1)).unwrap());
        for param in [Param::Float(0.5), Param::Text(""), Param::Text(&long), Param::Int(7)] {
            assert!(!slot.put(param).unwrap(), "{param:?}");
            slot.suit(param);
            assert!(slot.put(param).unwrap(), "{param:?}");
            assert!(slot.put(Param::Null).unwrap());
        }
        slot.suit(Param::Text("short"));
        assert!(slot.put(Param::Text(&long)).unwrap(), "what was there is kept");
        slot.suit(Param::Float(0.0));
        assert!(slot.put(Param::Float(f64::INFINITY)).unwrap_err().to_string().contains("inf"));
    }
}
