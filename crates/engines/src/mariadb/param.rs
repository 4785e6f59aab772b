//! Parameters on their way to the server.

use std::cell::Cell;
use std::ffi::{c_uint, c_ulong};
use std::ptr;

use super::NAME;
use super::api::{Bind, Flag, types};
use crate::sql::Param;
use crate::{EngineError, Result};

/// Where the library finds a parameter at each execution. What it reads lies in cells, or in memory
/// of cells, so that a reference to a slot takes nothing from its pointers.
pub(super) struct Slot {
    /// What it was bound as, one of [`types`].
    of: c_uint,
    is_null: Cell<Flag>,
    /// The bits of an integer or a double.
    number: Cell<u64>,
    length: Cell<c_ulong>,
    text: Vec<Cell<u8>>,
}

/// As much memory as a text gets at least, in bytes.
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

    /// Puts a value in, unless it does not suit: it is of another type than was bound, or a text
    /// without room.
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
                Param::Text(value) => {
                    self.length.set(value.len() as c_ulong);
                    let to = self.text.as_ptr().cast::<u8>().cast_mut();
                    // SAFETY: the text has room, as was checked, in memory of our own, whose cells
                    // nobody has a reference to.
                    unsafe { ptr::copy_nonoverlapping(value.as_ptr(), to, value.len()) };
                }
            }
        }
        Ok(suits)
    }

    fn suits(&self, param: Param<'_>) -> bool {
        match param {
            Param::Null => true,
            Param::Text(value) => self.of == types::STRING && value.len() <= self.text.len(),
            Param::Int(_) | Param::Float(_) => self.of == type_of(param),
        }
    }

    /// Becomes one that a value suits. It has to be bound again after that.
    pub fn suit(&mut self, param: Param<'_>) {
        if param != Param::Null {
            self.of = type_of(param);
        }
        if let Param::Text(value) = param
            && self.text.len() < value.len().max(LEAST_TEXT)
        {
            self.text.resize(value.len().next_power_of_two().max(LEAST_TEXT), Cell::new(0));
        }
    }

    /// Where it lies, as long as it is neither moved nor made to suit another value.
    pub fn bind(&self) -> Bind {
        let buffer = match self.of {
            types::STRING => self.text.as_ptr().cast_mut().cast(),
            _ => self.number.as_ptr().cast(),
        };
        let mut bind = Bind::new(self.of, buffer);
        bind.is_null = self.is_null.as_ptr();
        bind.length = self.length.as_ptr();
        bind
    }
}

/// What a value is bound as; a NULL as anything.
fn type_of(param: Param<'_>) -> c_uint {
    match param {
        Param::Null | Param::Int(_) => types::LONGLONG,
        Param::Float(_) => types::DOUBLE,
        Param::Text(_) => types::STRING,
    }
}

#[cold]
fn no_double(value: f64) -> EngineError {
    let why = format!("{value} is given, and it has no such double");
    EngineError::failed(NAME, "take a parameter", why)
}

#[cfg(test)]
mod tests;
