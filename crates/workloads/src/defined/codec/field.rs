//! Columns of fixed width by where they lie in a pair: a load and a mask for each value.

use embermark_language::Operator;
use embermark_model::table::{ColumnType, Value};

use super::super::access::Filter;
use super::super::aggregate::met_by;
use super::{Codec, Place, width};

/// A column of fixed width that lies at the same place in every pair: one load of 8 bytes, which holds it, and
/// shifts.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Field {
    in_key: bool,
    /// Where the 8 bytes are loaded.
    at: usize,
    /// Bits before the column's in them, the highest first.
    left: u32,
    /// Bits of a word that the column has not.
    right: u32,
    /// What turns its bits into those of a number: its sign, in a key.
    turn: u64,
    /// Whether it is a number with a sign.
    signed: bool,
    float: bool,
    /// The byte of the value with the bit that says whether it is there, and that bit.
    present: Option<(usize, u8)>,
}

impl Codec {
    /// Where a column lies, if that is the same in every pair, and 8 bytes can be loaded there.
    pub(in super::super) fn field(&self, column: usize) -> Option<Field> {
        let of = self.of[column];
        let width = width(of);
        let (in_key, from, length, present) = match self.places[column] {
            Place::Key(number) => {
                let before = self.key[..number].iter().map(|column| super::width(self.of[*column]));
                (true, before.sum::<usize>(), self.fixed_key?, None)
            }
            Place::Fixed { at, bit } => {
                (false, at, self.texts, Some((self.bits + bit / 8, 1_u8 << (bit % 8))))
            }
            Place::Text { .. } => return None,
        };
        let at = from.min(length.checked_sub(8)?);
        // Greatest byte first in a key, least byte first in a value.
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
            present,
        })
    }
}

impl Field {
    /// The bits of its value in a pair, those of a float as in a key; `None` where it is absent, and of what is no
    /// pair of its table.
    #[inline]
    fn bits(&self, key: &[u8], value: &[u8]) -> Option<i64> {
        if let Some((at, bit)) = self.present
            && value.get(at)? & bit == 0
        {
            return None;
        }
        let from = if self.in_key { key } else { value };
        let word = from.get(self.at..)?.first_chunk::<8>()?;
        let word = if self.in_key { u64::from_be_bytes(*word) } else { u64::from_le_bytes(*word) };
        let bits = (word << self.left) ^ self.turn;
        Some(if self.signed {
            bits.cast_signed() >> self.right
        } else {
            (bits >> self.right).cast_signed()
        })
    }

    /// Its value in a pair as a number of 64 bits that compares as it does; `None` as of an absent one.
    #[inline]
    pub(in super::super) fn ordered(&self, key: &[u8], value: &[u8]) -> Option<i64> {
        let bits = self.bits(key, value)?;
        // In a key they are in that order already.
        Some(if self.float && !self.in_key {
            of_float(f64::from_bits(bits.cast_unsigned()))
        } else {
            bits
        })
    }

    /// Its value in a pair as a float, for sums.
    #[inline]
    pub(in super::super) fn number(&self, key: &[u8], value: &[u8]) -> Option<f64> {
        if let (true, false, Some((there, bit))) = (self.float, self.in_key, self.present) {
            let number = value.get(self.at..)?.first_chunk::<8>()?;
            return (value.get(there)? & bit != 0).then(|| f64::from_le_bytes(*number));
        }
        let bits = self.bits(key, value)?;
        Some(self.number_of(bits))
    }

    /// The float of a number that [`ordered`](Self::ordered) gave, for sums.
    #[inline]
    pub(in super::super) const fn number_of(&self, ordered: i64) -> f64 {
        if self.float { float(ordered) } else { ordered as f64 }
    }

    /// The value of a number that [`ordered`](Self::ordered) gave.
    pub(in super::super) fn value(&self, ordered: i64) -> Value<'static> {
        if self.float { Value::Float(float(ordered)) } else { Value::Int(ordered) }
    }
}

/// A condition on a column of fixed width.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Test {
    field: Field,
    operator: Operator,
    bound: i64,
}

impl Test {
    /// The same as a filter; `None` where the column, or the bound, is of another kind.
    pub(in super::super) fn of(codec: &Codec, filter: &Filter<'_>) -> Option<Self> {
        let field = codec.field(filter.column)?;
        let bound = match filter.bound {
            Value::Float(bound) if field.float => of_float(bound),
            Value::Int(bound) if !field.float => bound,
            _ => return None,
        };
        Some(Self { field, operator: filter.operator, bound })
    }

    /// Whether a pair meets it. An absent value meets none.
    #[inline]
    pub(in super::super) fn is_met(&self, key: &[u8], value: &[u8]) -> bool {
        let Some(ordered) = self.field.ordered(key, value) else { return false };
        met_by(self.operator, ordered.cmp(&self.bound))
    }
}

/// A float as a number that compares as [`f64::total_cmp`] does, -0.0 as 0.0.
#[inline]
const fn of_float(value: f64) -> i64 {
    turned((value + 0.0).to_bits().cast_signed())
}

/// The float of such a number.
#[inline]
const fn float(ordered: i64) -> f64 {
    f64::from_bits(turned(ordered).cast_unsigned())
}

/// Turns the bits below the sign of what is negative: once there, and once more back.
#[inline]
const fn turned(bits: i64) -> i64 {
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

#[cfg(test)]
mod tests;
