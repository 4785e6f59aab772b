//! Generates texts.

use crate::draw::Draw;

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
    const VERSION_4: u128 = 0x4 << 76;
    const VARIANT: u128 = 0b10 << 62;
    const FIXED: u128 = (0xf << 76) | (0b11 << 62);
    let random = (u128::from(draw.bits()) << 64) | u128::from(draw.bits());
    let bits = (random & !FIXED) | VERSION_4 | VARIANT;
    to.clear();
    for digit in 0..32 {
        if matches!(digit, 8 | 12 | 16 | 20) {
            to.push(b'-');
        }
        let nibble = (bits >> (124 - 4 * digit)) as usize & 0xf;
        to.push(b"0123456789abcdef"[nibble]);
    }
}

/// Writes the prefix and a row's number scrambled to `to`, in decimal digits.
pub(super) fn hashed(prefix: &str, row: u64, to: &mut Vec<u8>) {
    to.clear();
    to.extend_from_slice(prefix.as_bytes());
    let mut digits = [0; 20];
    let (mut left, mut at) = (scrambled(row), digits.len());
    loop {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    to.extend_from_slice(&digits[at..]);
}

/// Returns a different number for each number of 64 bits: the finalizer of SplitMix64 (G. Steele,
/// D. Lea, C. Flood, Fast Splittable Pseudorandom Number Generators, 2014), each of whose steps is
/// invertible.
const fn scrambled(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
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
