//! NUMERIC in its binary form, which is what AVG and SUM of integers give: four 16-bit words
//! (digits, weight of the first, sign, digits shown after the point), then digits of base 10,000.
//! Source: `numeric_send` in PostgreSQL's `src/backend/utils/adt/numeric.c`.

const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xC000;
const INFINITY: u16 = 0xD000;
const NEGATIVE_INFINITY: u16 = 0xF000;

struct Numeric<'a> {
    /// The power of 10,000 of the first digit.
    weight: i32,
    sign: u16,
    digits: &'a [[u8; 2]],
}

fn parse(bytes: &[u8]) -> Option<Numeric<'_>> {
    let (words, rest) = bytes.as_chunks::<2>();
    let [count, weight, sign, _, digits @ ..] = words else { return None };
    let count = usize::from(u16::from_be_bytes(*count));
    let whole = rest.is_empty() && digits.len() == count;
    whole.then(|| Numeric {
        weight: i16::from_be_bytes(*weight).into(),
        sign: u16::from_be_bytes(*sign),
        digits,
    })
}

/// The double nearest to it, but for the last few units.
pub(super) fn to_float(bytes: &[u8]) -> Option<f64> {
    let Numeric { weight, sign, digits } = parse(bytes)?;
    // Summed as one large integer and scaled once: exact while the integer is.
    let sum =
        digits.iter().fold(0.0, |sum, digit| sum * 1e4 + f64::from(u16::from_be_bytes(*digit)));
    let scale = weight + 1 - i32::try_from(digits.len()).ok()?;
    let size = if scale < 0 { sum / 1e4_f64.powi(-scale) } else { sum * 1e4_f64.powi(scale) };
    Some(match sign {
        0 => size,
        NEGATIVE => -size,
        NAN => f64::NAN,
        INFINITY => f64::INFINITY,
        NEGATIVE_INFINITY => f64::NEG_INFINITY,
        _ => return None,
    })
}

/// The integer it is; `None` when it has a fraction or is too large.
pub(super) fn to_int(bytes: &[u8]) -> Option<i64> {
    let Numeric { weight, sign, digits } = parse(bytes)?;
    let mut sum: i128 = 0;
    for place in 0..=weight.max(-1) {
        let digit = digits.get(usize::try_from(place).ok()?).copied().unwrap_or_default();
        sum = sum.checked_mul(10_000)?.checked_add(u16::from_be_bytes(digit).into())?;
    }
    let whole = usize::try_from(weight + 1).unwrap_or(0);
    let fraction = digits.iter().skip(whole).any(|digit| *digit != [0, 0]);
    match sign {
        0 if !fraction => sum.try_into().ok(),
        NEGATIVE if !fraction => (-sum).try_into().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numeric(weight: i16, sign: u16, digits: &[u16]) -> Vec<u8> {
        let head = [digits.len() as u16, weight as u16, sign, 4];
        head.iter().chain(digits).flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn a_decimal_becomes_the_double_of_its_digits() {
        let cases: [(i16, u16, &[u16], f64); 6] = [
            (0, 0, &[25, 5000], 25.5),
            (0, NEGATIVE, &[3, 2415, 9265], -3.241_592_65),
            (-1, 0, &[1], 0.0001),
            (-2, 0, &[1234], 0.000_012_34),
            (2, 0, &[1, 2345], 123_450_000.0),
            (0, 0, &[], 0.0),
        ];
        for (weight, sign, digits, expected) in cases {
            assert_eq!(to_float(&numeric(weight, sign, digits)), Some(expected));
        }
        assert!(to_float(&numeric(0, NAN, &[])).is_some_and(f64::is_nan));
        assert_eq!(to_float(&numeric(0, NEGATIVE_INFINITY, &[])), Some(f64::NEG_INFINITY));
        assert_eq!(to_float(&numeric(0, 0, &[1])[..9]), None);
    }

    #[test]
    fn a_whole_decimal_becomes_the_integer_and_any_other_does_not() {
        assert_eq!(to_int(&numeric(1, 0, &[1, 2345])), Some(12_345));
        assert_eq!(to_int(&numeric(2, NEGATIVE, &[7])), Some(-700_000_000));
        assert_eq!(to_int(&numeric(0, 0, &[25, 0])), Some(25));
        assert_eq!(to_int(&numeric(0, 0, &[])), Some(0));
        assert_eq!(to_int(&numeric(0, 0, &[25, 5000])), None);
        assert_eq!(to_int(&numeric(-1, 0, &[5])), None);
        assert_eq!(to_int(&numeric(0, NAN, &[])), None);
        assert_eq!(to_int(&numeric(4, NEGATIVE, &[922, 3372, 368, 5477, 5808])), Some(i64::MIN));
        assert_eq!(to_int(&numeric(4, 0, &[922, 3372, 368, 5477, 5808])), None);
        assert_eq!(to_int(&numeric(32_000, 0, &[1])), None);
    }
}
