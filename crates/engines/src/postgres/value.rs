//! Encodes parameters for the server.

use std::ffi::{c_char, c_int};
use std::io::Write;
use std::ptr;

use super::api::{BINARY, Oid, TEXT};
use super::types;
use crate::sql::Param;

/// Parameters of a statement in libpq's form, which is three lists: the position, the length, and
/// the format of each value. They are kept with the statement and filled again for every execution.
///
/// A value is encoded as the statement expects it: common types in their binary form, and all
/// others (NUMERIC, JSONB, TIMESTAMP, UUID …) as text, which the server parses.
pub(super) struct Values {
    types: Vec<Oid>,
    /// Null for NULL.
    pub pointers: Vec<*const c_char>,
    /// Bytes of binary values.
    pub lengths: Vec<c_int>,
    pub formats: Vec<c_int>,
    /// Numbers in binary form, to which `pointers` point.
    numbers: Vec<[u8; 8]>,
    /// Texts that must end with a zero byte, to which `pointers` point.
    texts: Vec<Vec<u8>>,
}

/// Returns the format in which values of a type are sent.
fn format(of: Oid) -> c_int {
    use types::{BYTEA, FLOAT4, FLOAT8, INT2, INT4, INT8};
    let is_binary = matches!(of, BYTEA | FLOAT4 | FLOAT8 | INT2 | INT4 | INT8);
    if is_binary || types::is_text(of) { BINARY } else { TEXT }
}

impl Values {
    /// Creates parameters of these types, all NULL.
    pub fn new(types: Vec<Oid>) -> Self {
        let count = types.len();
        Self {
            formats: types.iter().map(|of| format(*of)).collect(),
            types,
            pointers: vec![ptr::null(); count],
            lengths: vec![0; count],
            numbers: vec![[0; 8]; count],
            texts: vec![Vec::new(); count],
        }
    }

    pub fn encode<'a>(&'a mut self, params: &'a [Param<'a>]) -> Result<Encoded<'a>, String> {
        let count = self.types.len();
        if params.len() != count {
            return Err(format!("{} parameters where the statement has {count}", params.len()));
        }
        for (index, param) in params.iter().enumerate() {
            self.set(index, *param)?;
        }
        Ok(Encoded(self))
    }

    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
    fn set(&mut self, index: usize, param: Param<'_>) -> Result<(), String> {
        match (param, self.types[index]) {
            (Param::Null, _) => self.pointers[index] = ptr::null(),
            (Param::Int(value), types::INT8) => self.number(index, value.to_be_bytes()),
            (Param::Int(value), types::INT4) if let Ok(value) = i32::try_from(value) => {
                self.number(index, value.to_be_bytes());
            }
            (Param::Int(value), types::INT2) if let Ok(value) = i16::try_from(value) => {
                self.number(index, value.to_be_bytes());
            }
            (Param::Int(value), types::FLOAT8) => self.number(index, (value as f64).to_be_bytes()),
            (Param::Int(value), types::FLOAT4) => self.number(index, (value as f32).to_be_bytes()),
            (Param::Float(value), types::FLOAT8) => self.number(index, value.to_be_bytes()),
            (Param::Float(value), types::FLOAT4) => {
                self.number(index, (value as f32).to_be_bytes());
            }
            (Param::Bytes(value), types::BYTEA) => self.bytes(index, value)?,
            (Param::Text(value), of) if types::is_text(of) => {
                self.bytes(index, value.as_bytes())?;
            }
            (value, _) if self.formats[index] == TEXT => self.text(index, value)?,
            _ => return Err(self.mismatch(index, param)),
        }
        Ok(())
    }

    fn number<const N: usize>(&mut self, index: usize, bytes: [u8; N]) {
        let place = &mut self.numbers[index];
        place[..N].copy_from_slice(&bytes);
        self.pointers[index] = place.as_ptr().cast();
        self.lengths[index] = N as c_int;
    }

    fn bytes(&mut self, index: usize, bytes: &[u8]) -> Result<(), String> {
        let length = c_int::try_from(bytes.len());
        self.lengths[index] = length.map_err(|e| format!("parameter {}: {e}", index + 1))?;
        self.pointers[index] = bytes.as_ptr().cast();
        Ok(())
    }

    fn text(&mut self, index: usize, value: Param<'_>) -> Result<(), String> {
        let place = &mut self.texts[index];
        place.clear();
        let written = match value {
            Param::Null => Ok(()),
            Param::Int(value) => write!(place, "{value}"),
            Param::Float(value) => write!(place, "{value}"),
            Param::Text(value) if value.contains('\0') => {
                return Err(format!("parameter {} has a zero byte in it", index + 1));
            }
            Param::Text(value) => place.write_all(value.as_bytes()),
            Param::Bytes(_) => return Err(self.mismatch(index, value)),
        };
        written.map_err(|e| e.to_string())?;
        place.push(0);
        self.pointers[index] = place.as_ptr().cast();
        Ok(())
    }

    #[cold]
    fn mismatch(&self, index: usize, value: Param<'_>) -> String {
        let wanted = types::name(self.types[index]);
        format!("parameter {}: {value:?} where the statement wants {wanted}", index + 1)
    }
}

/// Encoded values. They borrow what they point to.
#[derive(Clone, Copy)]
pub(super) struct Encoded<'a>(pub &'a Values);

impl Encoded<'_> {
    pub fn count(self) -> c_int {
        // A statement has at most 65,535.
        c_int::try_from(self.0.types.len()).unwrap_or(c_int::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what libpq would send of one parameter.
    fn encoded(param: Param<'_>, of: Oid) -> Result<Option<Vec<u8>>, String> {
        let (mut values, params) = (Values::new(vec![of]), [param]);
        let values = values.encode(&params)?;
        let pointer = values.0.pointers[0].cast::<u8>();
        if pointer.is_null() {
            return Ok(None);
        }
        // SAFETY: the value is alive, and has that many bytes or ends with a zero byte.
        let bytes = unsafe {
            if values.0.formats[0] == BINARY {
                std::slice::from_raw_parts(pointer, values.0.lengths[0].try_into().unwrap())
            } else {
                std::ffi::CStr::from_ptr(pointer.cast()).to_bytes()
            }
        };
        Ok(Some(bytes.to_vec()))
    }

    #[test]
    fn an_integer_takes_the_width_the_statement_expects_or_is_refused() {
        assert_eq!(encoded(Param::Int(-2), types::INT2), Ok(Some(vec![255, 254])));
        assert_eq!(encoded(Param::Int(1), types::INT8), Ok(Some(vec![0, 0, 0, 0, 0, 0, 0, 1])));
        assert_eq!(encoded(Param::Int(2), types::FLOAT8), Ok(Some(2f64.to_be_bytes().to_vec())));
        assert!(encoded(Param::Int(40_000), types::INT2).unwrap_err().contains("int2"));
        assert!(encoded(Param::Int(1 << 31), types::INT4).unwrap_err().contains("int4"));
        assert!(encoded(Param::Text("x"), types::INT8).unwrap_err().contains("int8"));
        assert!(encoded(Param::Float(1.5), types::INT8).is_err());
    }

    #[test]
    fn other_types_are_sent_as_text_for_the_server_to_read() {
        assert_eq!(encoded(Param::Float(1.25), types::NUMERIC), Ok(Some(b"1.25".to_vec())));
        assert_eq!(encoded(Param::Text("{}"), types::JSONB), Ok(Some(b"{}".to_vec())));
        let mut both = Values::new(vec![types::NUMERIC, types::INT8]);
        assert_eq!(both.encode(&[Param::Null; 2]).unwrap().0.formats, [TEXT, BINARY]);
        assert!(encoded(Param::Text("{\0}"), types::JSONB).unwrap_err().contains("zero byte"));
    }

    #[test]
    fn values_are_set_anew_each_time_and_their_number_is_checked() {
        let mut values = Values::new(vec![types::TEXT, types::NUMERIC]);
        values.encode(&[Param::Text("long ago"), Param::Int(12_345)]).unwrap();
        let encoded = values.encode(&[Param::Text(""), Param::Null]).unwrap();
        assert_eq!((encoded.0.lengths[0], encoded.0.pointers[1].is_null()), (0, true));
        assert!(!encoded.0.pointers[0].is_null(), "an empty text is no NULL");
        assert_eq!(self::encoded(Param::Null, types::INT8), Ok(None));
        let error = values.encode(&[Param::Null]).err().unwrap();
        assert!(error.contains("1 parameters") && error.contains('2'), "{error}");
    }
}
