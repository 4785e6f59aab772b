//! Reads MessagePack (<https://github.com/msgpack/msgpack/blob/master/spec.md>) as a stream.

use std::io::{self, BufRead, Read};

use super::NAME;
use crate::{EngineError, Result};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// A text of this many bytes, which follow.
    Text(usize),
    /// This many items follow.
    Array(usize),
    /// This many pairs of key and value follow.
    Map(usize),
    /// This many bytes follow that are not interpreted.
    Opaque(usize),
}

pub(super) struct Decoder<R> {
    input: R,
}

impl<R: BufRead> Decoder<R> {
    pub fn new(input: R) -> Self {
        Self { input }
    }

    pub fn at_end(&mut self) -> Result<bool> {
        self.input.fill_buf().map(<[u8]>::is_empty).map_err(unreadable)
    }

    pub fn token(&mut self) -> Result<Token> {
        let [first] = self.bytes()?;
        Ok(match first {
            0x00..=0x7f => Token::Int(i64::from(first)),
            0x80..=0x8f => Token::Map(usize::from(first & 0x0f)),
            0x90..=0x9f => Token::Array(usize::from(first & 0x0f)),
            0xa0..=0xbf => Token::Text(usize::from(first & 0x1f)),
            0xc0 => Token::Nil,
            0xc2 | 0xc3 => Token::Bool(first == 0xc3),
            0xc4 | 0xd9 => text_or_bytes(first == 0xd9, usize::from(self.bytes::<1>()?[0])),
            0xc5 | 0xda => text_or_bytes(first == 0xda, self.short()?),
            0xc6 | 0xdb => text_or_bytes(first == 0xdb, self.long()?),
            // An extension has one more byte: its type.
            0xc7 => Token::Opaque(usize::from(self.bytes::<1>()?[0]) + 1),
            0xc8 => Token::Opaque(self.short()? + 1),
            0xc9 => Token::Opaque(self.long()? + 1),
            0xca => Token::Float(f64::from(f32::from_be_bytes(self.bytes()?))),
            0xcb => Token::Float(f64::from_be_bytes(self.bytes()?)),
            0xcc => Token::Int(i64::from(self.bytes::<1>()?[0])),
            0xcd => Token::Int(i64::from(u16::from_be_bytes(self.bytes()?))),
            0xce => Token::Int(i64::from(u32::from_be_bytes(self.bytes()?))),
            0xcf => {
                let wide = u64::from_be_bytes(self.bytes()?);
                Token::Int(i64::try_from(wide).map_err(|_| invalid("an integer above 63 bits"))?)
            }
            0xd0 => Token::Int(i64::from(i8::from_be_bytes(self.bytes()?))),
            0xd1 => Token::Int(i64::from(i16::from_be_bytes(self.bytes()?))),
            0xd2 => Token::Int(i64::from(i32::from_be_bytes(self.bytes()?))),
            0xd3 => Token::Int(i64::from_be_bytes(self.bytes()?)),
            0xd4..=0xd8 => Token::Opaque((1 << (first - 0xd4)) + 1),
            0xdc => Token::Array(self.short()?),
            0xdd => Token::Array(self.long()?),
            0xde => Token::Map(self.short()?),
            0xdf => Token::Map(self.long()?),
            0xe0..=0xff => Token::Int(i64::from(first.cast_signed())),
            0xc1 => return Err(invalid("the byte c1")),
        })
    }

    /// Appends the bytes of a text to `to`.
    pub fn text(&mut self, bytes: usize, to: &mut String) -> Result<()> {
        let read = (&mut self.input).take(bytes as u64).read_to_string(to).map_err(unreadable)?;
        if read == bytes { Ok(()) } else { Err(unreadable(io::ErrorKind::UnexpectedEof.into())) }
    }

    /// Skips what belongs to a token.
    pub fn skip(&mut self, token: Token) -> Result<()> {
        match token {
            Token::Nil | Token::Bool(_) | Token::Int(_) | Token::Float(_) => Ok(()),
            Token::Text(bytes) | Token::Opaque(bytes) => {
                let skipped = io::copy(&mut (&mut self.input).take(bytes as u64), &mut io::sink());
                skipped.map(drop).map_err(unreadable)
            }
            Token::Array(items) => self.skip_items(items),
            Token::Map(keys) => self.skip_items(2 * keys),
        }
    }

    fn skip_items(&mut self, items: usize) -> Result<()> {
        for _ in 0..items {
            let token = self.token()?;
            self.skip(token)?;
        }
        Ok(())
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes).map_err(unreadable)?;
        Ok(bytes)
    }

    fn short(&mut self) -> Result<usize> {
        Ok(usize::from(u16::from_be_bytes(self.bytes()?)))
    }

    fn long(&mut self) -> Result<usize> {
        Ok(u32::from_be_bytes(self.bytes()?) as usize)
    }
}

fn text_or_bytes(text: bool, length: usize) -> Token {
    if text { Token::Text(length) } else { Token::Opaque(length) }
}

fn unreadable(error: io::Error) -> EngineError {
    EngineError::failed(NAME, "end its answer", error)
}

/// Returns the error for an unexpected answer.
pub(super) fn invalid(what: &str) -> EngineError {
    EngineError::failed(NAME, "end its answer", format!("the answer has {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(bytes: &[u8]) -> Result<Token> {
        Decoder::new(bytes).token()
    }

    #[test]
    fn integers_of_every_width_and_floats_are_exact() {
        for (bytes, expected) in [
            (&[0x7f][..], 127),
            (&[0xe0], -32),
            (&[0xcc, 200], 200),
            (&[0xcd, 1, 0], 256),
            (&[0xce, 0xff, 0xff, 0xff, 0xff], 0xffff_ffff),
            (&[0xcf, 0x7f, 255, 255, 255, 255, 255, 255, 255], i64::MAX),
            (&[0xd0, 0x80], -128),
            (&[0xd1, 0x80, 0], -32768),
            (&[0xd2, 0x80, 0, 0, 0], i64::from(i32::MIN)),
            (&[0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0], i64::MIN),
        ] {
            assert_eq!(one(bytes).unwrap(), Token::Int(expected));
        }
        let mut bytes = vec![0xcb];
        bytes.extend(0.1f64.to_be_bytes());
        assert_eq!(one(&bytes).unwrap(), Token::Float(0.1));
        assert!(one(&[0xcf, 0x80, 0, 0, 0, 0, 0, 0, 0]).is_err());
    }

    #[test]
    fn unknown_values_are_skipped_and_an_early_end_is_an_error() {
        // [{"a": [nil, true]}, an extension of four bytes, 1], then "bc".
        let bytes =
            [0x93, 0x81, 0xa1, b'a', 0x92, 0xc0, 0xc3, 0xd6, 5, 1, 2, 3, 4, 1, 0xa2, b'b', b'c'];
        let mut decoder = Decoder::new(&bytes[..]);
        let token = decoder.token().unwrap();
        decoder.skip(token).unwrap();
        assert_eq!(decoder.token().unwrap(), Token::Text(2));
        let mut text = "a".to_owned();
        decoder.text(2, &mut text).unwrap();
        assert_eq!(text, "abc");
        assert!(decoder.at_end().unwrap() && decoder.token().is_err());
        assert!(Decoder::new(&b"b"[..]).text(2, &mut text).is_err());
    }
}
