//! NUMERIC in its binary form: four numbers of 16 bits (the number of digits, the power of the
//! first, the sign, and the digits shown after the point), then digits to the base of 10,000
//! (<https://github.com/postgres/postgres/blob/REL_15_STABLE/src/backend/utils/adt/numeric.c>).

use std::io::Write;
use std::str;

use smallvec::SmallVec;

const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xc000;
const INFINITE: u16 = 0xd000;
const NEGATIVE_INFINITE: u16 = 0xf000;

/// A finite number: its digits, and the power of 10,000 of the first one.
struct Digits<'a> {
    negative: bool,
    weight: i32,
    digits: &'a [u8],
}

impl Digits<'_> {
    fn each(&self) -> impl Iterator<Item = u16> {
        self.digits.chunks_exact(2).map(|digit| u16::from_be_bytes([digit[0], digit[1]]))
    }
}

/// Reads the header. Infinity and NaN are returned as a float.
fn read(bytes: &[u8]) -> Option<Result<Digits<'_>, f64>> {
    let (head, digits) = bytes.split_at_checked(8)?;
    let number = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    if digits.len() != 2 * usize::from(number(0)) {
        return None;
    }
    let weight = i32::from(number(2).cast_signed());
    match number(4) {
        NAN => Some(Err(f64::NAN)),
        INFINITE => Some(Err(f64::INFINITY)),
        NEGATIVE_INFINITE => Some(Err(f64::NEG_INFINITY)),
        sign => Some(Ok(Digits { negative: sign == NEGATIVE, weight, digits })),
    }
}

pub(super) fn float(bytes: &[u8]) -> Option<f64> {
    let number = match read(bytes)? {
        Ok(number) => number,
        Err(float) => return Some(float),
    };
    let mut text: SmallVec<[u8; 128]> = SmallVec::new();
    text.extend_from_slice(if number.negative { b"-0" } else { b"0" });
    for digit in number.each() {
        write!(text, "{digit:04}").ok()?;
    }
    let behind = number.weight + 1 - number.each().count() as i32;
    write!(text, "e{}", 4 * behind).ok()?;
    str::from_utf8(&text).ok()?.parse().ok()
}

/// Returns the integer, if the number is an integer of 64 bits.
pub(super) fn whole(bytes: &[u8]) -> Option<i64> {
    let number = read(bytes)?.ok()?;
    let before = usize::try_from(number.weight + 1).unwrap_or_default();
    if number.each().skip(before).any(|digit| digit != 0) {
        return None;
    }
    // Trailing zeros are left out.
    let digits = number.each().chain(std::iter::repeat(0)).take(before);
    digits.into_iter().try_fold(0_i64, |sum, digit| {
        let digit = i64::from(digit);
        let sum = sum.checked_mul(10_000)?;
        if number.negative { sum.checked_sub(digit) } else { sum.checked_add(digit) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numeric(weight: i16, sign: u16, digits: &[u16]) -> Vec<u8> {
        let head = [digits.len() as u16, weight.cast_unsigned(), sign, 0];
        head.iter().chain(digits).flat_map(|number| number.to_be_bytes()).collect()
    }

    #[test]
    fn whole_numbers_of_64_bits_are_integers_and_others_floats() {
        let one = numeric(0, 0, &[1]);
        assert_eq!((whole(&one), float(&one)), (Some(1), Some(1.0)));
        let zero = numeric(0, 0, &[]);
        assert_eq!((whole(&zero), float(&zero)), (Some(0), Some(0.0)));
        // -120,000: the digits after the first are left out.
        let thousands = numeric(1, NEGATIVE, &[12]);
        assert_eq!((whole(&thousands), float(&thousands)), (Some(-120_000), Some(-120_000.0)));
        let half = numeric(0, 0, &[3, 5_000]);
        assert_eq!((whole(&half), float(&half)), (None, Some(3.5)));
        let small = numeric(-2, NEGATIVE, &[1, 2_345]);
        assert_eq!((whole(&small), float(&small)), (None, Some(-0.000_000_012_345)));
        let least = numeric(4, NEGATIVE, &[922, 3_372, 368, 5_477, 5_808]);
        assert_eq!(whole(&least), Some(i64::MIN));
        let beyond = numeric(4, 0, &[922, 3_372, 368, 5_477, 5_808]);
        assert_eq!((whole(&beyond), float(&beyond)), (None, Some(9_223_372_036_854_775_808.0)));
    }

    #[test]
    fn what_is_no_number_and_what_is_cut_off_are_told_apart() {
        assert!(float(&numeric(0, NAN, &[])).unwrap().is_nan());
        assert_eq!(float(&numeric(0, NEGATIVE_INFINITE, &[])), Some(f64::NEG_INFINITY));
        assert_eq!(whole(&numeric(0, INFINITE, &[])), None);
        assert_eq!((float(&[0, 1, 0]), float(&numeric(0, 0, &[1])[..9])), (None, None));
    }
}
