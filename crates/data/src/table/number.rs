//! Parses numbers and truth values.

use super::fault::Fault;

/// Returns the nanoseconds since 1970 of seconds with a fraction. Digits beyond the ninth are cut
/// off.
pub(super) fn decimal_seconds(text: &[u8]) -> Result<i128, Fault> {
    let parts = str::from_utf8(text).ok().and_then(|text| text.split_once('.'));
    let (seconds, fraction) = parts.ok_or(Fault::NotATime)?;
    let is_digits = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let digits = if is_digits { &fraction[..fraction.len().min(9)] } else { "none" };
    format!("{seconds}{digits:0<9}").parse().map_err(|_| Fault::NotATime)
}

/// Parses a whole number, with or without a sign and blanks around it.
#[inline]
pub(super) fn whole(text: &[u8]) -> Result<i64, Fault> {
    let (negative, digits) = match text.trim_ascii() {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    if digits.is_empty() || digits.iter().any(|byte| !byte.is_ascii_digit()) {
        return Err(Fault::NotWhole);
    }
    let mut sum = 0_i64;
    for digit in digits {
        // Counted downwards, because the least integer has no positive counterpart.
        let ten = sum.checked_mul(10).ok_or(Fault::OutOfRange)?;
        sum = ten.checked_sub(i64::from(digit - b'0')).ok_or(Fault::OutOfRange)?;
    }
    if negative { Ok(sum) } else { sum.checked_neg().ok_or(Fault::OutOfRange) }
}

/// Converts a double to the whole number that it is.
pub(super) fn whole_number(value: f64) -> Result<i64, Fault> {
    // Largest number up to which doubles represent every whole number.
    const EXACT: f64 = (1_u64 << 53) as f64;
    match value {
        _ if value.fract() != 0.0 => Err(Fault::NotWhole),
        _ if value.abs() > EXACT => Err(Fault::OutOfRange),
        _ => Ok(value as i64),
    }
}

/// Parses a truth value: in DuckDB's forms, and those of switches.
pub(super) fn boolean(text: &[u8]) -> Option<bool> {
    let is = |words: &[&str]| {
        words.iter().any(|word| text.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
    };
    match () {
        () if is(&["true", "t", "yes", "y", "on", "1"]) => Some(true),
        () if is(&["false", "f", "no", "n", "off", "0"]) => Some(false),
        () => None,
    }
}
