//! Decimal numbers to the nearest double.

use super::fault::Fault;
use super::word;

/// Powers of ten that a double holds exactly and a short decimal's fraction can have.
const POWERS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Reads the number at `at`, up to a space or the end of the line: its value, `None` where the
/// field is empty (NULL), and where it ends.
///
/// Up to 15 digits are an integer that a double holds exactly, and so is the power of ten it is
/// to be divided by, so that the one division rounds correctly (W. D. Clinger, *How to read
/// floating point numbers accurately*, 1990). All else is left to the standard library.
#[inline]
pub(super) fn field(line: &[u8], at: usize) -> Result<(Option<f64>, usize), Fault> {
    let word = word::load(line, at);
    let length = word::find(word, b' ');
    if length == 0 {
        return Ok((None, at));
    }
    if length == 8 && line.get(at + 8).is_some_and(|&byte| byte != b' ') {
        return long(line, at);
    }
    let negative = word as u8 == b'-';
    let (digits, count) = (word >> (8 * u32::from(negative)), length - usize::from(negative));
    let point = word::find(digits, b'.');
    let (digits, count, fraction) = if point < count {
        (word::without(digits, point), count - 1, count - 1 - point)
    } else {
        (digits, count, 0)
    };
    if count == 0 {
        return Err(Fault::NotANumber);
    }
    match word::number(digits, count) {
        Some(mantissa) => Ok((Some(value(negative, mantissa, fraction)), at + length)),
        None => unusual(line, at),
    }
}

#[inline]
fn value(negative: bool, mantissa: u64, fraction: usize) -> f64 {
    let value = mantissa as f64 / POWERS[fraction];
    if negative { -value } else { value }
}

/// Numbers of more than eight characters.
fn long(line: &[u8], at: usize) -> Result<(Option<f64>, usize), Fault> {
    let negative = line[at] == b'-';
    let (mut mantissa, mut digits, mut fraction) = (0_u64, 0, None);
    let mut end = at + usize::from(negative);
    while let Some(&byte) = line.get(end) {
        match byte {
            b'0'..=b'9' if digits < 15 => {
                mantissa = mantissa * 10 + u64::from(byte - b'0');
                digits += 1;
            }
            b'.' if fraction.is_none() => fraction = Some(digits),
            b' ' => break,
            _ => return unusual(line, at),
        }
        end += 1;
    }
    Ok((Some(value(negative, mantissa, digits - fraction.unwrap_or(digits))), end))
}

/// Long mantissas, exponents, signs, and what is no number.
#[cold]
fn unusual(line: &[u8], at: usize) -> Result<(Option<f64>, usize), Fault> {
    let end = memchr::memchr(b' ', &line[at..]).map_or(line.len(), |length| at + length);
    let field = str::from_utf8(&line[at..end]).map_err(|_| Fault::NotANumber)?;
    match field.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((Some(value), end)),
        Ok(_) => Err(Fault::NotFinite),
        Err(_) => Err(Fault::NotANumber),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    fn value(text: &str) -> Result<Option<f64>, Fault> {
        // With other fields before it, and both at the end of a line and before another field.
        let before = "2004-02-28 ";
        let results = ["", " ", " 37.0 45.08 2.69"].map(|after| {
            let line = format!("{before}{text}{after}");
            field(line.as_bytes(), before.len()).map(|(value, end)| {
                assert_eq!(end, before.len() + text.len(), "{text}");
                value
            })
        });
        assert!(results.iter().all(|result| *result == results[0]), "{text}: {results:?}");
        results[0]
    }

    #[test]
    fn numbers_are_rounded_as_the_standard_library_rounds_them() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        for _ in 0..200_000 {
            let bits = rng.next_u64();
            let sign = if bits & 1 == 0 { "" } else { "-" };
            let whole = (bits >> 8) % 10_u64.pow((bits >> 1 & 7) as u32);
            let width = (bits >> 4 & 15) as usize;
            let fraction = rng.next_u64() % 10_u64.pow(width as u32);
            let text = match width {
                0 => format!("{sign}{whole}"),
                _ => format!("{sign}{whole}.{fraction:0width$}"),
            };
            let expected = text.parse::<f64>().unwrap();
            assert_eq!(value(&text).unwrap().unwrap().to_bits(), expected.to_bits(), "{text}");
        }
    }

    #[test]
    fn unusual_numbers_are_read_and_what_is_not_finite_is_refused() {
        for text in [
            "1e3",
            "-2.5E-3",
            "+4",
            "123456789012345678901234567890",
            "0.1234567890123456789",
            ".5",
            "5.",
            "-.5",
            "-3.91901",
            "12345678.",
            "123456789",
        ] {
            assert_eq!(value(text), Ok(Some(text.parse().unwrap())), "{text}");
        }
        assert_eq!(value(""), Ok(None));
        for text in ["nan", "NaN", "inf", "-inf", "infinity", "1e999"] {
            assert_eq!(value(text), Err(Fault::NotFinite), "{text}");
        }
        for text in [
            "-",
            ".",
            "-.",
            "+",
            "abc",
            "1,5",
            "0x10",
            "1.2.3",
            "--1",
            "1e",
            "-1234567x",
            "12345678x",
            "123456.78.9",
        ] {
            assert_eq!(value(text), Err(Fault::NotANumber), "{text}");
        }
    }
}
