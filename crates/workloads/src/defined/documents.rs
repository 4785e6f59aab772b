//! Columns that are fields of JSON documents, for engines that store them so: columns of documents
//! in SQL, texts in the values of a key-value store. The fields of a document are adjacent columns.

use std::cell::RefCell;
use std::collections::HashSet;
use std::io::Write;
use std::ops::Range;

use embermark_model::table::{ColumnType, Table, Value, Within};

/// Most fields of a document that need no allocation.
pub(super) const FEW: usize = 12;

/// A column as an engine with documents stores it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stored {
    /// A column that is not a field.
    Column(usize),
    /// A document.
    Document(Document),
}

/// A column of documents.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Document {
    /// Its name.
    pub name: String,
    /// Whether it has the engine's binary form.
    pub binary: bool,
    /// Columns of the table that are its fields, in order.
    pub columns: Range<usize>,
    /// By field: its name and type.
    fields: Vec<(String, ColumnType)>,
}

/// Returns the columns of a table as an engine with documents stores them.
pub(super) fn stored(table: &Table) -> Vec<Stored> {
    let mut all: Vec<Stored> = Vec::new();
    for (at, column) in table.columns.iter().enumerate() {
        let Some(Within { document, field, binary }) = column.within.as_deref() else {
            all.push(Stored::Column(at));
            continue;
        };
        let field = (field.clone(), column.of);
        match all.last_mut() {
            Some(Stored::Document(last)) if last.name == *document => {
                last.columns.end += 1;
                last.fields.push(field);
            }
            _ => all.push(Stored::Document(Document {
                name: document.clone(),
                binary: *binary,
                columns: at..at + 1,
                fields: vec![field],
            })),
        }
    }
    all
}

/// Returns whether a table has documents in an engine's binary form.
pub(super) fn has_binary(table: &Table) -> bool {
    table.columns.iter().any(|column| column.within.as_ref().is_some_and(|own| own.binary))
}

impl Stored {
    /// Returns the document, if it is one.
    pub(super) const fn document(&self) -> Option<&Document> {
        if let Self::Document(document) = self { Some(document) } else { None }
    }
}

impl Document {
    /// Appends the document of a row as JSON. `get` returns the row's columns. Absent values have
    /// no field.
    pub(super) fn write<'a>(&self, get: &impl Fn(usize) -> Value<'a>, to: &mut Vec<u8>) {
        let mut before = b'{';
        for (column, (name, _)) in self.columns.clone().zip(&self.fields) {
            let value = get(column);
            if value == Value::Null {
                continue;
            }
            // Names have only letters, digits, and underscores. Writing to memory cannot fail.
            let _ = write!(to, "{}\"{name}\":", before as char);
            before = b',';
            let _ = match value {
                Value::Int(value) => write!(to, "{value}"),
                // Neither has very many digits.
                Value::Float(value) if (1e-5..1e16).contains(&value.abs()) || value == 0.0 => {
                    write!(to, "{value}")
                }
                Value::Float(value) => write!(to, "{value:?}"),
                Value::Text(text) => serde_json::to_writer(&mut *to, text).map_err(Into::into),
                Value::Bytes(_) | Value::Null => Ok(()),
            };
        }
        if before == b'{' {
            to.push(before);
        }
        to.push(b'}');
    }

    /// Visits the fields of a document from [`write`](Self::write) in order, each with its index,
    /// while `visit` returns true. Returns `None` if it is not such a document.
    #[inline]
    pub(super) fn read<'a>(
        &self,
        text: &'a str,
        mut visit: impl FnMut(usize, Value<'a>) -> bool,
    ) -> Option<()> {
        let mut rest = text.strip_prefix('{')?;
        if rest == "}" {
            return Some(());
        }
        let mut next = 0;
        loop {
            let (name, tail) = string(rest.strip_prefix('"')?)?;
            let tail = tail.strip_prefix(':')?;
            let found = self.fields[next..].iter().position(|(field, _)| field == name)?;
            let (place, of) = (next + found, self.fields[next + found].1);
            next = place + 1;
            let (value, tail) = match tail.strip_prefix('"') {
                Some(inside) => {
                    let (text, tail) = string(inside)?;
                    (Value::Text(text), tail)
                }
                None => number(tail, of)?,
            };
            if !visit(place, value) {
                return Some(());
            }
            match tail.split_at_checked(1)? {
                (",", tail) => rest = tail,
                ("}", "") => return Some(()),
                _ => return None,
            }
        }
    }
}

/// Splits a string at its closing quotation mark.
#[inline]
fn string(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20))?;
    let (string, rest) = text.split_at(end);
    match rest.strip_prefix('"') {
        Some(rest) => Some((string, rest)),
        None => escaped(text, end),
    }
}

/// Splits a string that has an escape at this position.
#[cold]
fn escaped(text: &str, first: usize) -> Option<(&str, &str)> {
    let mut end = first;
    loop {
        end += text.get(end..)?.bytes().position(|byte| matches!(byte, b'"' | b'\\'))?;
        if text.as_bytes()[end] == b'"' {
            break;
        }
        end += 2;
    }
    let own: String = serde_json::from_str(&format!("\"{}\"", &text[..end])).ok()?;
    Some((kept(&own), &text[end + 1..]))
}

/// Returns a text that lives as long as the process. Each different text is stored once, so no more
/// is kept than the rows have.
fn kept(text: &str) -> &'static str {
    thread_local! {
        static KEPT: RefCell<HashSet<&'static str>> = RefCell::default();
    }
    KEPT.with_borrow_mut(|all| {
        all.get(text).copied().unwrap_or_else(|| {
            let kept: &'static str = text.to_owned().leak();
            all.insert(kept);
            kept
        })
    })
}

/// Splits off a number of a column's type.
#[inline]
fn number(text: &str, of: ColumnType) -> Option<(Value<'_>, &str)> {
    let part = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e');
    let end = text.bytes().position(|byte| !part(byte))?;
    let (digits, rest) = text.split_at(end);
    let value = match of {
        ColumnType::Float => Value::Float(digits.parse().ok()?),
        _ => Value::Int(digits.parse().ok()?),
    };
    Some((value, rest))
}

/// Appends every document of a row, each after its length. `get` returns the row's columns.
pub(super) fn lay<'a>(all: &[Stored], get: impl Fn(usize) -> Value<'a>, to: &mut Vec<u8>) {
    for stored in all {
        if let Stored::Document(document) = stored {
            let from = to.len();
            to.extend_from_slice(&[0; 4]);
            document.write(&get, to);
            let length = (to.len() - from - 4) as u32;
            to[from..from + 4].copy_from_slice(&length.to_le_bytes());
        }
    }
}

/// Takes the next document that was laid out.
pub(super) fn laid<'a>(rest: &mut &'a [u8]) -> &'a str {
    let Some((length, tail)) = rest.split_first_chunk::<4>() else { return "{}" };
    let (document, tail) = tail.split_at(u32::from_le_bytes(*length) as usize);
    *rest = tail;
    // It was written as JSON.
    str::from_utf8(document).unwrap_or("{}")
}

#[cfg(test)]
pub(super) mod tests;
