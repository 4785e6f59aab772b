//! Splits the beginning of a text into lines and fields, and recognises its encoding.

use super::DELIMITERS;

/// Number of lines that are examined.
const LINES: usize = 500;
/// Largest number of lines of a quoted text here.
const QUOTED: usize = 20;

/// Returns what to do about a text whose encoding DuckDB cannot read. `None` if it can.
pub(super) fn unreadable(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"\xff\xfe\0\0") || head.starts_with(b"\0\0\xfe\xff") {
        return Some("it is UTF-32: convert it with `iconv -f UTF-32 -t UTF-8`");
    }
    (head.starts_with(b"\xfe\xff") || zeros(head) == Some(0)).then_some(
        "it is UTF-16 with the high byte first: convert it with `iconv -f UTF-16 -t UTF-8`, or \
         `-f UTF-16BE` if it has no byte order mark",
    )
}

/// Returns the encoding of a text that is not UTF-8.
pub(super) fn encoding(head: &[u8], guesses: bool) -> Option<&'static str> {
    if head.starts_with(b"\xff\xfe") || zeros(head) == Some(1) {
        return Some("utf-16");
    }
    // If there are UTF-8 characters too, invalid bytes are damage.
    let (mut valid, mut invalid) = (false, false);
    for chunk in head.utf8_chunks() {
        valid |= !chunk.valid().is_ascii();
        // The end may be within a character.
        invalid |= !chunk.invalid().is_empty()
            && head.as_ptr_range().end != chunk.invalid().as_ptr_range().end;
    }
    (guesses && invalid && !valid).then_some("latin-1")
}

/// Returns which byte of each of the first pairs is zero, if the other never is, as in UTF-16.
fn zeros(head: &[u8]) -> Option<usize> {
    let pairs = &head[..head.len().min(64) / 2 * 2];
    let is_zero = |place: usize| {
        pairs.len() > 8 && pairs.chunks(2).all(|pair| pair[place] == 0 && pair[1 - place] != 0)
    };
    [0, 1].into_iter().find(|place| is_zero(*place))
}

pub(super) fn decoded(head: &[u8], encoding: Option<&str>) -> String {
    match encoding {
        Some("utf-16") => {
            let text = head.strip_prefix(b"\xff\xfe").unwrap_or(head);
            let units = text.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
            String::from_utf16_lossy(&units.collect::<Vec<_>>())
        }
        Some("latin-1") => head.iter().map(|byte| char::from(*byte)).collect(),
        _ => {
            let text = String::from_utf8_lossy(head);
            text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned()
        }
    }
}

/// Returns the first lines, without one that the end of the head cuts. A quoted text may span
/// several.
pub(super) fn lines<'a>(text: &'a str, quote: &str) -> Vec<&'a str> {
    records(text, quote).take(LINES).map(|line| line.trim_end_matches('\r')).collect()
}

/// Returns the lines without their last byte, except one that the end of the head cuts. A quoted
/// text may span several.
fn records<'a>(text: &'a str, quote: &str) -> impl Iterator<Item = &'a str> {
    let end = if text.contains('\n') { '\n' } else { '\r' };
    let mut ends: Vec<usize> = text.match_indices(end).map(|(at, _)| at).collect();
    if ends.len() < 2 {
        // A last line without an end counts if there are no others.
        ends.push(text.len());
    }
    let quote = quote.chars().next();
    let (mut start, mut at) = (0, 0);
    std::iter::from_fn(move || {
        (at < ends.len()).then(|| {
            let is_open = |line: &str| quote.is_some_and(|quote| is_open(line, quote, false));
            // A quote that is not closed soon is not a quote.
            let mut near = at..ends.len().min(at + QUOTED);
            let last = near.find(|at| !is_open(&text[start..ends[*at]])).unwrap_or(at);
            let line = &text[start..ends[last]];
            (start, at) = ((ends[last] + 1).min(text.len()), last + 1);
            line
        })
    })
}

/// Whether a quote is open at the end of a line. It opens at the beginning of a field, or was open
/// before.
pub(in crate::table::source) fn is_open(line: &str, quote: char, mut open: bool) -> bool {
    let mut before = DELIMITERS[0];
    for char in line.chars() {
        // A doubled quote closes and opens again.
        let begins = before == quote || before.is_whitespace() || DELIMITERS.contains(&before);
        open ^= char == quote && (open || begins);
        before = char;
    }
    open
}

/// Whether lines end in more than one way. The ends of lines within a quoted text do not count.
pub(super) fn mixes_ends(text: &str, quote: &str) -> bool {
    let (mut pairs, mut feeds, mut returns) = (0, 0, 0);
    // Without a last line that has no end.
    for line in records(text, quote).take(text.matches('\n').count()) {
        let (line, count) = match line.strip_suffix('\r') {
            Some(line) => (line, &mut pairs),
            None => (line, &mut feeds),
        };
        *count += 1;
        returns += usize::from(line.contains('\r') && !line.contains(quote));
    }
    pairs > 0 && feeds > 0 || returns > 0
}

/// Splits a line into fields.
pub(super) fn split(line: &str, delimiter: &str, quote: &str) -> Vec<String> {
    let quote = quote.chars().next();
    let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut rest = line;
    while let Some(char) = rest.chars().next() {
        if !quoted && rest.starts_with(delimiter) {
            fields.push(std::mem::take(&mut field));
            rest = &rest[delimiter.len()..];
            continue;
        }
        rest = &rest[char.len_utf8()..];
        if Some(char) != quote {
            field.push(char);
        } else if quoted && rest.chars().next() == quote {
            field.push(char);
            rest = &rest[char.len_utf8()..];
        } else if quoted || field.trim().is_empty() {
            quoted = !quoted;
        } else {
            field.push(char);
        }
    }
    fields.push(field);
    fields
}

/// Returns the number of fields that most lines have. Of equal counts it is the greater.
pub(super) fn usual_width<'a>(records: impl Iterator<Item = &'a Vec<String>>) -> usize {
    let filled = records.filter(|record| !matches!(&record[..], [one] if one.trim().is_empty()));
    let mut counts = std::collections::BTreeMap::new();
    for record in filled {
        *counts.entry(record.len()).or_insert(0_usize) += 1;
    }
    counts.into_iter().max_by_key(|(width, count)| (*count, *width)).map_or(1, |(width, _)| width)
}

/// Returns the delimiter by which most lines have the same number of fields, more than one.
pub(super) fn delimiter_of(lines: &[&str], quote: &str) -> String {
    let score = |delimiter: &char| {
        let delimiter = delimiter.to_string();
        let records: Vec<_> = lines.iter().map(|line| split(line, &delimiter, quote)).collect();
        let width = usual_width(records.iter());
        if width < 2 { 0 } else { records.iter().filter(|record| record.len() == width).count() }
    };
    let is_whole = |delimiter: &str| {
        lines.first().is_some_and(|names| split(names, delimiter, quote).len() > 1)
    };
    // The first of equal scores. A blank only if there is nothing else and the first line has it.
    let scores = DELIMITERS.map(|delimiter| score(&delimiter));
    let best = scores[..5].iter().max().copied().unwrap_or(0);
    match scores.iter().position(|score| *score == best) {
        Some(place) if best > 0 => DELIMITERS[place].to_string(),
        _ if scores[5] * 10 > lines.len() * 9 && is_whole(" ") => " ".to_owned(),
        _ => ",".to_owned(),
    }
}
