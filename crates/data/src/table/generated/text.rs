//! Generates texts.

use std::io::Write;

use crate::draw::{Draw, finalized};

/// Fills `to` with random bytes, or with random characters of printable ASCII from blank to tilde,
/// equally likely to within a thousandth. The length is from `least` to `most`.
pub(super) fn random(draw: &mut Draw, least: u64, most: u64, printable: bool, to: &mut Vec<u8>) {
    let length = (least + draw.below((most - least + 1) as usize) as u64) as usize;
    to.clear();
    if printable {
        while to.len() < length {
            let bits = draw.bits();
            let pieces = [bits, bits >> 16, bits >> 32, bits >> 48];
            to.extend(pieces.map(|piece| b' ' + (((piece & 0xffff) * 95) >> 16) as u8));
        }
    } else {
        while to.len() < length {
            to.extend(draw.bits().to_le_bytes());
        }
    }
    to.truncate(length);
}

const CONSONANTS: [u8; 16] = *b"bdfghjklmnprstvz";
const VOWELS: [u8; 5] = *b"aeiou";
const SYLLABLES: u64 = (CONSONANTS.len() * VOWELS.len()) as u64;

/// Writes word number `k`, from 0, to `to`: two or more syllables, such as "rona". It is `k` in the
/// base of the number of syllables, so that no two words are the same.
pub(super) fn word(k: u64, to: &mut Vec<u8>) {
    to.clear();
    // A number not below the base has at least two digits, the last of which is not 0.
    let mut left = k.saturating_add(SYLLABLES);
    while left > 0 {
        let syllable = (left % SYLLABLES) as usize;
        to.extend([CONSONANTS[syllable / VOWELS.len()], VOWELS[syllable % VOWELS.len()]]);
        left /= SYLLABLES;
    }
}

/// Writes a random UUID of version 4 (RFC 9562) to `to`, in its usual 36 characters.
pub(super) fn uuid(draw: &mut Draw, to: &mut Vec<u8>) {
    // The version and the variant have fixed bits.
    let high = (draw.bits() & !0xf000) | 0x4000;
    let low = (draw.bits() & !(0b11_u64 << 62)) | (0b10_u64 << 62);
    let (a, b, c, d) = (high >> 32, high >> 16 & 0xffff, high & 0xffff, low >> 48);
    to.clear();
    // Writing to a vector does not fail.
    let _ = write!(to, "{a:08x}-{b:04x}-{c:04x}-{d:04x}-{:012x}", low & 0xffff_ffff_ffff);
}

/// Writes the prefix and a row's number scrambled to `to`, in decimal digits.
pub(super) fn hashed(prefix: &str, row: u64, to: &mut Vec<u8>) {
    to.clear();
    to.extend_from_slice(prefix.as_bytes());
    // Writing to a vector does not fail.
    let _ = write!(to, "{}", finalized(row));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn uuids_are_distinct_and_of_version_4() {
        let (mut ids, mut id) = (BTreeSet::new(), Vec::new());
        for row in 0..5_000 {
            uuid(&mut Draw::new(42, row), &mut id);
            let text = String::from_utf8(id.clone()).unwrap();
            let parts: Vec<usize> = text.split('-').map(str::len).collect();
            assert_eq!(parts, [8, 4, 4, 4, 12], "{text}");
            assert_eq!(&text[14..15], "4", "{text}");
            assert!("89ab".contains(&text[19..20]), "{text}");
            ids.insert(text);
        }
        assert_eq!(ids.len(), 5_000);
    }
}
