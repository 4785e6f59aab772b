//! Reads JSON as it comes, without a tree and without an allocation for each value.

use std::io::{self, Read};

use super::NAME;
use crate::EngineError;

/// Bytes that are asked for at a time.
pub(super) const CHUNK: usize = 64 * 1024;

/// JSON from a connection.
pub(super) struct Json<'b, R> {
    source: R,
    /// What was read, as far as `end`; used as far as `at`.
    buffer: &'b mut [u8],
    at: usize,
    end: usize,
}

/// Why an answer could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error("{0}")]
    Connection(#[from] io::Error),
    #[error("it is no JSON: {0}")]
    Syntax(&'static str),
    #[error("it has no {0:?}")]
    Absent(&'static str),
}

impl Fault {
    /// As an error of the engine.
    pub fn of_engine(self) -> EngineError {
        EngineError::failed(NAME, "give an answer that can be read", self)
    }
}

/// A value without its parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool,
    Int(i64),
    Float(f64),
    /// It was appended to the text.
    Text,
}

type Reading<T> = Result<T, Fault>;

impl<'b, R: Read> Json<'b, R> {
    /// JSON from `source`, through a buffer that is not empty.
    pub fn new(source: R, buffer: &'b mut [u8]) -> Self {
        Self { source, buffer, at: 0, end: 0 }
    }

    /// The next byte that is no blank, not taken.
    pub fn peek(&mut self) -> Reading<u8> {
        loop {
            match self.byte()? {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return Ok(byte),
            }
        }
    }

    /// Takes `wanted`, or nothing.
    pub fn takes(&mut self, wanted: u8) -> Reading<bool> {
        let taken = self.peek()? == wanted;
        self.at += usize::from(taken);
        Ok(taken)
    }

    /// Takes `wanted`, which has to be there.
    pub fn take(&mut self, wanted: u8, otherwise: &'static str) -> Reading<()> {
        if self.takes(wanted)? { Ok(()) } else { Err(Fault::Syntax(otherwise)) }
    }

    /// Goes to the next member of what `close` ends, past the comma between two; false at its end.
    pub fn goes_on(&mut self, first: &mut bool, close: u8) -> Reading<bool> {
        if self.takes(close)? {
            return Ok(false);
        }
        if !std::mem::take(first) {
            self.take(b',', "a comma is missing")?;
        }
        Ok(true)
    }

    /// Takes the name of an object's member, and the colon after it, and appends it to `text`.
    pub fn name(&mut self, text: &mut Vec<u8>) -> Reading<()> {
        self.string(text)?;
        self.take(b':', "a colon is missing")
    }

    /// Takes a value that is no list and no object; a string is appended to `text`.
    pub fn scalar(&mut self, text: &mut Vec<u8>) -> Reading<Scalar> {
        match self.peek()? {
            b'"' => self.string(text).map(|()| Scalar::Text),
            b'n' => self.word(b"null").map(|()| Scalar::Null),
            b't' => self.word(b"true").map(|()| Scalar::Bool),
            b'f' => self.word(b"false").map(|()| Scalar::Bool),
            _ => self.number(),
        }
    }

    /// Takes a value of any kind and forgets it; `scratch` is left empty.
    pub fn skip(&mut self, scratch: &mut Vec<u8>) -> Reading<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth = depth.checked_sub(1).ok_or(Fault::Syntax("a bracket"))?,
                b',' | b':' if depth > 0 => {}
                _ => {
                    self.scalar(scratch)?;
                    scratch.clear();
                    if depth == 0 {
                        return Ok(());
                    }
                    continue;
                }
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Reads what is left, so that the connection can be used again.
    pub fn finish(mut self) -> Reading<()> {
        io::copy(&mut self.source, &mut io::sink())?;
        Ok(())
    }

    /// The next byte, not taken.
    fn byte(&mut self) -> Reading<u8> {
        if self.at == self.end {
            self.at = 0;
            self.end = self.source.read(self.buffer)?;
            if self.end == 0 {
                return Err(Fault::Syntax("it ends too early"));
            }
        }
        Ok(self.buffer[self.at])
    }

    fn word(&mut self, word: &[u8]) -> Reading<()> {
        for wanted in word {
            if self.byte()? != *wanted {
                return Err(Fault::Syntax("an unknown word"));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Reading<Scalar> {
        const WRONG: Fault = Fault::Syntax("a wrong number");
        // A double has at most 24 characters in JavaScript; what is longer is none.
        let (mut digits, mut length) = ([0; 32], 0);
        // A number alone may be the last thing of an answer.
        while let Ok(byte @ (b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')) = self.byte() {
            *digits.get_mut(length).ok_or(WRONG)? = byte;
            (length, self.at) = (length + 1, self.at + 1);
        }
        let text = std::str::from_utf8(&digits[..length]).map_err(|_| WRONG)?;
        if let Ok(int) = text.parse() {
            return Ok(Scalar::Int(int));
        }
        text.parse().map(Scalar::Float).map_err(|_| WRONG)
    }

    fn string(&mut self, text: &mut Vec<u8>) -> Reading<()> {
        self.take(b'"', "a string is missing")?;
        loop {
            self.byte()?;
            let rest = &self.buffer[self.at..self.end];
            let plain = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'));
            let plain = plain.unwrap_or(rest.len());
            text.extend_from_slice(&rest[..plain]);
            self.at += plain;
            if self.at == self.end {
                continue;
            }
            self.at += 1;
            if self.buffer[self.at - 1] == b'"' {
                return Ok(());
            }
            let escaped = self.byte()?;
            self.at += 1;
            match escaped {
                b'n' => text.push(b'\n'),
                b't' => text.push(b'\t'),
                b'r' => text.push(b'\r'),
                b'b' => text.push(8),
                b'f' => text.push(12),
                b'u' => {
                    let character = self.character()?;
                    text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                other => text.push(other),
            }
        }
    }

    /// A character by its number, of which the larger ones are written as two.
    fn character(&mut self) -> Reading<char> {
        let first = self.hexadecimal()?;
        if !(0xd800..0xdc00).contains(&first) {
            return Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        self.word(b"\\u")?;
        let second = self.hexadecimal()?;
        let low = second.checked_sub(0xdc00).filter(|low| *low < 0x400);
        let number = low.map(|low| 0x10000 + ((first - 0xd800) << 10) + low);
        Ok(number.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hexadecimal(&mut self) -> Reading<u32> {
        let mut number = 0;
        for _ in 0..4 {
            let digit = char::from(self.byte()?).to_digit(16);
            number = number * 16 + digit.ok_or(Fault::Syntax("a wrong escape"))?;
            self.at += 1;
        }
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a byte at a time, as a slow connection may.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(into.len()).min(1);
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn scalar(json: &str) -> Reading<(Scalar, String)> {
        let (mut buffer, mut text) = ([0; 7], Vec::new());
        let slow = Json::new(Slow(json.as_bytes()), &mut buffer).scalar(&mut text)?;
        let mut again = Vec::new();
        assert_eq!(slow, Json::new(json.as_bytes(), &mut buffer).scalar(&mut again)?);
        assert_eq!(text, again);
        Ok((slow, String::from_utf8(text).unwrap()))
    }

    #[test]
    fn scalars_read_as_they_were_written() {
        for text in ["", "plain", "a\"\\/\n\t\u{1}\u{8}", "ü€😀", "0123456789"] {
            let json = serde_json::to_string(text).unwrap();
            assert_eq!(scalar(&json).unwrap(), (Scalar::Text, text.to_owned()), "{json}");
        }
        assert_eq!(scalar(r#" "\u00fc\ud83d\ude00\/""#).unwrap().1, "ü😀/");
        for (json, expected) in [
            ("null", Scalar::Null),
            ("true", Scalar::Bool),
            ("-9007199254740992", Scalar::Int(-9_007_199_254_740_992)),
            ("0.30000000000000004", Scalar::Float(0.1 + 0.2)),
            ("1e-320", Scalar::Float(1e-320)),
            ("1.7976931348623157e+308", Scalar::Float(f64::MAX)),
        ] {
            assert_eq!(scalar(json).unwrap().0, expected, "{json}");
        }
    }

    #[test]
    fn what_is_no_json_is_an_error_and_never_a_value() {
        for json in ["", "nul", "nool", "-", "1.2.3", "\"open", "\"\\u12x4\"", "}", &"1".repeat(40)]
        {
            assert!(scalar(json).is_err(), "{json}");
        }
    }

    #[test]
    fn a_value_is_skipped_with_all_its_parts() {
        for value in ["[]", "{}", "12", r#"{"a":[1,{"b":"]}"}],"c":null}"#, r#""x,]""#] {
            let json = format!("[{value} , 7]");
            let (mut buffer, mut scratch) = ([0; 5], Vec::new());
            let mut json = Json::new(json.as_bytes(), &mut buffer);
            let mut first = true;
            json.take(b'[', "").unwrap();
            assert!(json.goes_on(&mut first, b']').unwrap());
            json.skip(&mut scratch).unwrap();
            assert!(json.goes_on(&mut first, b']').unwrap(), "{value}");
            assert_eq!(json.scalar(&mut scratch).unwrap(), Scalar::Int(7));
            assert!(!json.goes_on(&mut first, b']').unwrap());
        }
    }
}
