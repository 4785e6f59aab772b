//! Values that updates write. They follow from the seed, the phase, the operation, and the column,
//! at a negligible cost.

use embermark_language::Set;
use embermark_model::table::{ColumnType, Value};

/// Shortest length of the text that values are cut from.
const ROOM: usize = 1 << 16;

/// Generates the values.
pub(super) struct UpdateValues {
    seed: u64,
    /// Random printable ASCII.
    text: String,
}

impl UpdateValues {
    /// Creates a generator for texts and bytes of at most `longest` bytes.
    pub(super) fn new(seed: u64, longest: usize) -> Self {
        let room = ROOM.max(2 * longest);
        let text = (0..room.div_ceil(8) as u64).flat_map(|word| mix(seed, word).to_le_bytes());
        // One of 94 characters from '!' to '~'.
        let text = text.map(|byte| char::from(b'!' + byte % 94)).collect();
        Self { seed, text }
    }

    /// Returns the value that operation `i` of a phase sets in a column whose loaded value is
    /// `before`. Texts and bytes keep their length, and absent ones stay absent.
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
            // One of 2^20 steps, so that every engine stores it and its sums exactly.
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

    /// Returns the columns that operation `i` of a phase sets.
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

/// Mixes two words: the step of wyhash (Wang Yi, 2019), as fingerprints use it.
#[inline]
const fn mix(a: u64, b: u64) -> u64 {
    let wide = (a ^ 0xa076_1d64_78bd_642f) as u128 * (b ^ 0xe703_7ed1_a0b4_28db) as u128;
    (wide as u64) ^ ((wide >> 64) as u64)
}
