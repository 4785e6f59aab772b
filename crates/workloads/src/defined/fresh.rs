//! What updates write: values that follow from the seed, the phase, the operation and the column, at no
//! cost worth measuring.

use embermark_language::Set;
use embermark_model::table::{ColumnType, Value};

/// The least text that values are cut from.
const ROOM: usize = 1 << 16;

/// Makes them.
pub(super) struct Fresh {
    seed: u64,
    /// Printable ASCII at random.
    text: String,
}

impl Fresh {
    /// For texts and bytes of at most `longest` bytes.
    pub(super) fn new(seed: u64, longest: usize) -> Self {
        let room = ROOM.max(2 * longest);
        let text = (0..room.div_ceil(8) as u64).flat_map(|word| mix(seed, word).to_le_bytes());
        // Of 94 characters from '!' to '~'.
        let text = text.map(|byte| char::from(b'!' + byte % 94)).collect();
        Self { seed, text }
    }

    /// What operation `i` of a phase sets in a column that held `before` when it was loaded. Texts and bytes
    /// keep their length; one that was absent stays so.
    #[inline]
    pub(super) fn value<'a>(
        &'a self,
        phase: usize,
        i: usize,
        column: usize,
        of: ColumnType,
        before: impl FnOnce() -> Value<'a>,
    ) -> Value<'a> {
        let bits = self.bits(phase, i, column as u64);
        let cut = |length: usize| {
            let from = bits as usize % (self.text.len() - length + 1);
            &self.text[from..from + length]
        };
        match of {
            ColumnType::Bool => Value::Int((bits & 1).cast_signed()),
            ColumnType::Int { bits: width, signed } => {
                let free = u32::from(width) - u32::from(signed || width == 64);
                Value::Int((bits >> (64 - free)).cast_signed())
            }
            // Of 2^20 steps, so that every engine keeps it and every sum of it.
            ColumnType::Float => Value::Float((bits >> 44) as f64 / 1_024.0),
            ColumnType::Timestamp(_) | ColumnType::Text | ColumnType::Bytes => match before() {
                Value::Int(before) => {
                    Value::Int(before.saturating_add((bits % 1_000).cast_signed() + 1))
                }
                Value::Text(before) => Value::Text(cut(before.len())),
                Value::Bytes(before) => Value::Bytes(cut(before.len()).as_bytes()),
                _ => Value::Null,
            },
        }
    }

    /// The columns that operation `i` of a phase sets.
    #[inline]
    pub(super) fn columns<'a>(&self, phase: usize, i: usize, set: &'a Set) -> &'a [usize] {
        match set {
            Set::Columns(columns) => columns,
            Set::OneOf(columns) => {
                let at = self.bits(phase, i, u64::MAX) % columns.len().max(1) as u64;
                &columns[at as usize..][..1]
            }
        }
    }

    #[inline]
    fn bits(&self, phase: usize, i: usize, column: u64) -> u64 {
        mix(mix(self.seed ^ phase as u64, i as u64), column)
    }
}

/// Mixes two words: the step of wyhash (Wang Yi, 2019), as fingerprints have it.
#[inline]
const fn mix(a: u64, b: u64) -> u64 {
    let wide = (a ^ 0xa076_1d64_78bd_642f) as u128 * (b ^ 0xe703_7ed1_a0b4_28db) as u128;
    (wide as u64) ^ ((wide >> 64) as u64)
}
