//! Limits of a database.

use std::cmp::Ordering;

/// Limits that an engine documents. `None` if it documents no limit or if no workload's table
/// reaches it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Number of tables of a database. Indexes count if each is a table to the engine.
    pub tables: Option<usize>,
    /// Number of columns of a table.
    pub columns: Option<usize>,
    /// Number of indexes of a table, without that of its key.
    pub indexes: Option<usize>,
    /// Number of columns of a key or an index.
    pub key_columns: Option<usize>,
    /// Length of a key of a key-value store in bytes, including keys of indexes.
    pub key_bytes: Option<usize>,
    /// Bytes of a row's numbers, plus one bit for each column that may be absent.
    pub row_bytes: Option<usize>,
    /// Whether every column has such a bit.
    pub marks_every_column: bool,
    /// Length of a text in a table's key, in bytes, or in characters if `in_characters`. Not for
    /// key-value stores. An engine that must know the length of such texts is given this one.
    pub key_text: Option<usize>,
    /// Length of a text in an index, in the same unit.
    pub index_text: Option<usize>,
    /// Whether `key_text` and `index_text` count characters.
    pub in_characters: bool,
    /// How its keys and indexes order texts. Texts that this orders otherwise than their bytes do
    /// are unsupported there.
    pub text_order: TextOrder,
    /// Prefix that no table's name may have, in lower case.
    pub reserved_prefix: Option<&'static str>,
    /// Page of the manual that documents the limits.
    pub manual: &'static str,
}

/// How an engine orders texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextOrder {
    /// By their bytes.
    #[default]
    Bytes,
    /// By their bytes without the blanks at the end.
    WithoutBlanks,
    /// By their UTF-16 code units.
    Utf16,
}

impl TextOrder {
    /// Returns whether a text can have another place than by its bytes. If no text of a column can,
    /// the column is in the order of its bytes.
    pub fn concerns(self, text: &[u8]) -> bool {
        match self {
            Self::Bytes => false,
            Self::WithoutBlanks => text.ends_with(b" "),
            Self::Utf16 => text.iter().any(|byte| *byte >= 0xf0),
        }
    }

    /// Compares two texts.
    pub fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            Self::Bytes => a.cmp(b),
            Self::WithoutBlanks => without_blanks(a).cmp(without_blanks(b)),
            Self::Utf16 => a.iter().map(utf16_rank).cmp(b.iter().map(utf16_rank)),
        }
    }
}

fn without_blanks(text: &[u8]) -> &[u8] {
    &text[..text.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1)]
}

/// Ranks a byte of UTF-8 as UTF-16 orders it. Characters beyond U+FFFF, which begin with 0xf0 to
/// 0xf4, stand before those from U+E000 on, which begin with 0xee or 0xef.
const fn utf16_rank(byte: &u8) -> u8 {
    match *byte {
        0xee | 0xef => *byte + 0x10,
        byte => byte,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_ordered_as_engines_order_them() {
        let order = |order: TextOrder, a: &str, b: &str| order.compare(a.as_bytes(), b.as_bytes());
        let texts =
            ["", " ", "a", "a ", "a\t", "a\tb", "ü", "\u{d7ff}", "\u{e000}", "\u{ffee}", "😀"];
        for (a, b) in texts.iter().flat_map(|a| texts.map(|b| (*a, b))) {
            let utf16 = a.encode_utf16().cmp(b.encode_utf16());
            assert_eq!(order(TextOrder::Utf16, a, b), utf16, "{a:?} {b:?}");
            let trimmed = a.trim_end_matches(' ').cmp(b.trim_end_matches(' '));
            assert_eq!(order(TextOrder::WithoutBlanks, a, b), trimmed, "{a:?} {b:?}");
            assert_eq!(order(TextOrder::Bytes, a, b), a.cmp(b));
        }
    }
}
