//! Recognises how numbers are written.

/// Whether a number has leading zeros, which quantities do not have.
pub(super) fn is_padded(number: &[u8]) -> bool {
    matches!(number, [b'0', b'0'..=b'9', ..] | [b'-' | b'+', b'0', b'0'..=b'9', ..])
        && !matches!(number, [_, _, _, _, b'-', ..])
}

/// Whether a whole number with a plus has as many digits as a telephone number.
pub(super) fn is_phone(number: &[u8]) -> bool {
    matches!(number, [b'+', digits @ ..] if digits.len() > 6 && digits.iter().all(u8::is_ascii_digit))
}

/// Whether a text has digits, or groups of three with points between, then a comma and digits.
pub(super) fn has_decimal_comma(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let mut parts = text.split(|byte| *byte == b',');
    let digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    matches!(
        (parts.next(), parts.next(), parts.next()),
        (Some(a), Some(b), None) if (digits(a) || is_grouped(a, b'.')) && digits(b)
    )
}

/// Whether a text has groups of three digits separated by a sign, the first without leading zeros.
/// Commas come before a point.
pub(super) fn is_grouped(text: &[u8], sign: u8) -> bool {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let whole = text.split(|byte| *byte == b'.' && sign == b',').next().unwrap_or_default();
    let mut groups = whole.split(|byte| *byte == sign);
    let digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    let first = groups.next().is_some_and(|first| (1..=3).contains(&first.len()) && digits(first));
    let mut rest = 0;
    let others = groups.all(|group| {
        rest += 1;
        group.len() == 3 && digits(group)
    });
    first && others && rest > 0 && !text.starts_with(b"0")
}
