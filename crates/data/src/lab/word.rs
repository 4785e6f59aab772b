//! Eight characters at a time: a field of the log is a word of memory, and finding its end and
//! its value without a loop spares the processor a wrong guess for each field.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = ONES << 7;
const SPACES: u64 = ONES * b' ' as u64;

/// The eight characters of `line` from `at`, the first one lowest, with spaces after the line's
/// end. Needs a line of eight characters or more; without them all are spaces.
#[inline]
pub(super) fn load(line: &[u8], at: usize) -> u64 {
    if let Some(Ok(bytes)) = line.get(at..at + 8).map(<[u8; 8]>::try_from) {
        return u64::from_le_bytes(bytes);
    }
    // The last eight characters, moved down by those before `at`.
    let left = line.len().saturating_sub(at);
    match line.last_chunk() {
        Some(&bytes) if left > 0 => {
            u64::from_le_bytes(bytes) >> (64 - 8 * left) | SPACES << (8 * left)
        }
        _ => SPACES,
    }
}

/// How many characters stand before the first `byte`; 8 where there is none.
#[inline]
pub(super) const fn find(word: u64, byte: u8) -> usize {
    // A byte that equals is zero now; subtracting one borrows into its high bit. Bytes above the
    // first that equals may be marked wrongly, the lowest mark is right (H. S. Warren, Hacker's
    // Delight, 2nd ed., 6-1).
    let equal = word ^ (ONES * byte as u64);
    let marks = equal.wrapping_sub(ONES) & !equal & HIGH_BITS;
    marks.trailing_zeros() as usize / 8
}

/// Takes the character at `place` out and closes the gap.
#[inline]
pub(super) const fn without(word: u64, place: usize) -> u64 {
    let below = (1 << (8 * place)) - 1;
    word & below | word >> 8 & !below
}

/// The number that the first `count` characters are, 1 to 8 of them; `None` where one of them is
/// not a digit.
#[inline]
pub(super) const fn number(word: u64, count: usize) -> Option<u64> {
    // Moved up, so that zeros stand before them; the characters behind them fall out.
    let shift = 64 - 8 * count as u32;
    let digits = (word ^ (ONES * b'0' as u64)) << shift;
    if (digits.wrapping_add(ONES * 0x76) | digits) & HIGH_BITS != 0 {
        return None;
    }
    // Neighbours are joined to numbers of two, of four, of eight digits.
    let twos = digits.wrapping_mul(10 << 8 | 1) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = twos.wrapping_mul(100 << 16 | 1) >> 16 & 0x0000_ffff_0000_ffff;
    Some(fours.wrapping_mul(10_000 << 32 | 1) >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> u64 {
        load(format!("{text:<8}").as_bytes(), 0)
    }

    #[test]
    fn words_go_on_with_spaces_after_the_end_of_the_line() {
        let line = b"0123456789";
        for at in 0..=12 {
            let expected: Vec<u8> =
                (at..at + 8).map(|i| line.get(i).copied().unwrap_or(b' ')).collect();
            assert_eq!(load(line, at).to_le_bytes(), *expected, "{at}");
        }
        assert_eq!(load(b"short", 5), SPACES);
    }

    #[test]
    fn the_first_of_equal_characters_is_found_at_every_place() {
        for place in 0..8 {
            let text = format!("{}.. .", "/-!\u{7f}0123"[..place].to_owned());
            assert_eq!(find(word(&text[..text.len().min(8)]), b'.'), place);
        }
        assert_eq!(find(word("12345678"), b' '), 8);
    }

    #[test]
    fn a_character_is_taken_out_at_every_place() {
        let text = "1234567.";
        for place in 0..8 {
            let mut expected = text.to_owned();
            expected.remove(place);
            assert_eq!(without(word(text), place).to_le_bytes()[..7], *expected.as_bytes());
        }
    }

    #[test]
    fn numbers_of_up_to_eight_digits_are_exact() {
        let mut value = 0;
        for count in 1..=8 {
            value = value * 10 + (count as u64 * 7) % 10;
            let text = value.to_string();
            assert_eq!(number(word(&text), count), Some(value));
            assert_eq!(number(word(&"9".repeat(count)), count), Some(10_u64.pow(count as u32) - 1));
            assert_eq!(number(word(&"0".repeat(count)), count), Some(0));
        }
    }

    #[test]
    fn every_other_byte_at_every_place_is_refused() {
        for place in 0..8 {
            for byte in (0..=255_u8).filter(|byte| !byte.is_ascii_digit()) {
                let mut bytes = *b"90817263";
                bytes[place] = byte;
                assert_eq!(number(u64::from_le_bytes(bytes), 8), None, "{byte} at {place}");
            }
        }
    }
}
