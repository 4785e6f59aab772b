//! Reads single columns of pairs: values of fixed width by one load and a mask, and the bytes of
//! texts.

use embermark_language::Operator;
use embermark_model::table::{ColumnType, Value};
use smallvec::SmallVec;

use super::super::{Codec, Filter};
use super::Place;
use super::bytes::{float, is_text, length, of_float, width};

/// A column of fixed width with the same offset in every pair, read by one load of 8 bytes and
/// shifts.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    in_key: bool,
    /// Offset of the 8 bytes.
    at: usize,
    /// Bits before the column's, from the most significant.
    left: u32,
    /// Bits of the word that the column does not have.
    right: u32,
    /// Bits to flip for the number: the sign, in a key.
    turn: u64,
    /// Whether it is a signed number.
    signed: bool,
    float: bool,
    /// Whether it has all 8 bytes and is in the value, so that nothing is shifted:
    /// [`plain`](Self::plain) and [`plain_number`](Self::plain_number) can read it.
    pub plain: bool,
    /// The byte of the value and the bit in it for its presence. Columns of the key are always
    /// present.
    present: (usize, u8),
}

impl Codec {
    /// Returns how to read a column, if it has the same offset in every pair and 8 bytes can be
    /// loaded there.
    pub fn field(&self, column: usize) -> Option<Field> {
        let of = self.of[column];
        let width = width(of);
        let (in_key, from, length, present) = match self.places[column] {
            Place::Key(number) => {
                let before =
                    self.key[..number].iter().map(|column| super::bytes::width(self.of[*column]));
                (true, before.sum::<usize>(), self.key_length?, (0, 0))
            }
            Place::Fixed { at, bit } => {
                (false, at, self.texts, (self.bits + bit / 8, 1_u8 << (bit % 8)))
            }
            Place::Text { .. } | Place::Field { .. } => return None,
        };
        let at = from.min(length.checked_sub(8)?);
        // Keys are big-endian, values little-endian.
        let before = if in_key { from - at } else { 8 - (from - at) - width };
        let signed = !matches!(of, ColumnType::Bool | ColumnType::Int { signed: false, .. });
        Some(Field {
            in_key,
            at,
            left: 8 * before as u32,
            right: 8 * (8 - width as u32),
            turn: u64::from(in_key && signed) << 63,
            signed,
            float: of == ColumnType::Float,
            plain: !in_key && width == 8,
            present,
        })
    }

    /// Returns a field for a numeric column within a document. It has no offset, but can interpret
    /// values.
    pub fn field_of_document(&self, column: usize) -> Option<Field> {
        let of = self.of[column];
        let is_number = matches!(self.places[column], Place::Field { .. }) && !is_text(of);
        is_number.then(|| Field {
            in_key: false,
            at: usize::MAX,
            left: 0,
            right: 0,
            turn: 0,
            signed: true,
            float: of == ColumnType::Float,
            plain: false,
            present: (usize::MAX, 0),
        })
    }
}

impl Field {
    /// Returns a value as a 64-bit number that compares as it does. `None` for a value of another
    /// kind.
    #[inline]
    pub const fn ordered_of(&self, value: Value<'_>) -> Option<i64> {
        match value {
            Value::Float(value) if self.float => Some(of_float(value)),
            Value::Int(value) if !self.float => Some(value),
            _ => None,
        }
    }

    /// Returns the bits of the column in a pair, with floats encoded as in keys. `None` if it is
    /// absent or the pair is not of its table.
    #[inline]
    fn bits(&self, key: &[u8], value: &[u8]) -> Option<i64> {
        let word = if self.in_key {
            u64::from_be_bytes(*key.get(self.at..)?.first_chunk()?)
        } else {
            self.word(value)?
        };
        let bits = (word << self.left) ^ self.turn;
        Some(if self.signed {
            bits.cast_signed() >> self.right
        } else {
            (bits >> self.right).cast_signed()
        })
    }

    /// Returns the 8 bytes of the value that contain the column. `None` if it is absent.
    #[inline]
    fn word(&self, value: &[u8]) -> Option<u64> {
        let (at, bit) = self.present;
        if value.get(at)? & bit == 0 {
            return None;
        }
        Some(u64::from_le_bytes(*value.get(self.at..)?.first_chunk()?))
    }

    /// Returns the 8 bytes of a key, as a number, for a number from [`ordered`](Self::ordered). For
    /// columns with all 8 bytes.
    pub const fn in_key(&self, ordered: i64) -> u64 {
        ordered.cast_unsigned() ^ self.turn
    }

    /// Returns the value of these 8 bytes.
    pub fn of_key(&self, word: u64) -> Value<'static> {
        self.value((word ^ self.turn).cast_signed())
    }

    /// Reads it as [`ordered`](Self::ordered) does, for columns with all 8 bytes in the value.
    #[inline]
    pub fn plain(&self, value: &[u8]) -> Option<i64> {
        let word = self.word(value)?;
        Some(if self.float { of_float(f64::from_bits(word)) } else { word.cast_signed() })
    }

    /// Reads it as [`number`](Self::number) does, for columns with all 8 bytes in the value.
    #[inline]
    pub fn plain_number(&self, value: &[u8]) -> Option<f64> {
        let word = self.word(value)?;
        Some(if self.float { f64::from_bits(word) } else { word.cast_signed() as f64 })
    }

    /// Returns the column in a pair as a 64-bit number that compares as it does. `None` if it is
    /// absent.
    #[inline]
    pub fn ordered(&self, key: &[u8], value: &[u8]) -> Option<i64> {
        if self.plain {
            return self.plain(value);
        }
        // Floats in a key have that order already.
        self.bits(key, value)
    }

    /// Returns the column in a pair as a float, for sums.
    #[inline]
    pub fn number(&self, key: &[u8], value: &[u8]) -> Option<f64> {
        if self.plain {
            return self.plain_number(value);
        }
        let bits = self.bits(key, value)?;
        Some(self.number_of(bits))
    }

    /// Returns the float of a number from [`ordered`](Self::ordered), for sums.
    #[inline]
    pub const fn number_of(&self, ordered: i64) -> f64 {
        if self.float { float(ordered) } else { ordered as f64 }
    }

    /// Returns the value of a number from [`ordered`](Self::ordered).
    pub fn value(&self, ordered: i64) -> Value<'static> {
        if self.float { Value::Float(float(ordered)) } else { Value::Int(ordered) }
    }
}

/// A condition on a column of texts or bytes outside the key.
#[derive(Clone, Debug)]
pub struct TextTest<'a> {
    operator: Operator,
    bound: &'a [u8],
    /// The byte and the bit in it for its presence.
    present: (usize, u8),
    /// Offset of its length, and of the lengths of the texts before it.
    length_at: usize,
    before: SmallVec<[usize; 8]>,
    /// Offset of the texts.
    texts: usize,
}

impl<'a> TextTest<'a> {
    fn new(codec: &Codec, column: usize, operator: Operator, bound: &'a [u8]) -> Option<Self> {
        let Place::Text { length_at, bit } = codec.places[column] else { return None };
        let before = codec.places[..column].iter().filter_map(|place| match place {
            Place::Text { length_at, .. } => Some(*length_at),
            _ => None,
        });
        let present = (codec.bits + bit / 8, 1 << (bit % 8));
        let (before, texts) = (before.collect(), codec.texts);
        Some(Self { operator, bound, present, length_at, before, texts })
    }

    /// Returns whether it is present and compares so with the bound. Lengths are compared first
    /// where they decide.
    #[inline]
    fn is_met(&self, value: &[u8]) -> bool {
        let Self { operator, bound, present: (at, bit), .. } = *self;
        let own = length(value, self.length_at);
        if value.get(at).is_none_or(|bits| bits & bit == 0)
            || (operator == Operator::Equal && own != bound.len())
        {
            return false;
        }
        let from = self.before.iter().fold(self.texts, |from, at| from + length(value, *at));
        let own = value.get(from..from + own);
        own.is_some_and(|own| operator.accepts(own.cmp(bound)))
    }
}

/// A condition on a column with a known offset.
#[derive(Clone, Debug)]
pub enum Test<'a> {
    /// On a column of fixed width.
    Field {
        /// The column.
        field: Field,
        /// How it is compared.
        operator: Operator,
        /// The bound, as a number that compares as the values do.
        bound: i64,
    },
    /// On a text or bytes.
    Text(TextTest<'a>),
}

impl<'a> Test<'a> {
    /// Creates the test of a filter. `None` if the column has no fixed offset or the bound is of
    /// another kind.
    pub fn new(codec: &Codec, filter: &Filter<'a>) -> Option<Self> {
        let operator = filter.operator;
        let text = |bound| TextTest::new(codec, filter.column, operator, bound).map(Self::Text);
        match filter.bound {
            Value::Text(bound) => text(bound.as_bytes()),
            Value::Bytes(bound) => text(bound),
            bound => {
                let field = codec.field(filter.column)?;
                let bound = field.ordered_of(bound)?;
                Some(Self::Field { field, operator, bound })
            }
        }
    }

    /// Returns whether the condition holds for a pair. It does not for an absent value.
    #[inline]
    pub fn is_met(&self, key: &[u8], value: &[u8]) -> bool {
        match self {
            Self::Field { field, operator, bound } => {
                let ordered = field.ordered(key, value);
                ordered.is_some_and(|ordered| operator.accepts(ordered.cmp(bound)))
            }
            Self::Text(test) => test.is_met(value),
        }
    }
}

#[cfg(test)]
mod tests;
