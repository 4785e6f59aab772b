//! Text that came from outside: engine versions, reasons, names. Nothing in it may move a cursor,
//! end a line or end a table cell.

/// `text` on one line and without anything a terminal obeys: escape sequences are dropped, line
/// breaks, tabs and runs of blanks become one blank, other control characters and the characters
/// that reorder or hide text become `\u{FFFD}`.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blank = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let c = match c {
            '\x1b' => {
                skip_escape(&mut chars);
                continue;
            }
            c if c.is_whitespace() => {
                blank = true;
                continue;
            }
            c if c.is_control() || reorders_or_hides(c) => char::REPLACEMENT_CHARACTER,
            c => c,
        };
        if blank && !out.is_empty() {
            out.push(' ');
        }
        blank = false;
        out.push(c);
    }
    out
}

/// [`plain`] text of at most `most` characters, cut at the end with `…`.
pub fn clipped(text: &str, most: usize) -> String {
    let text = plain(text);
    match text.char_indices().nth(most) {
        None => text,
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// [`plain`] text that Markdown shows as it is, in a table cell too.
pub fn markdown(text: &str) -> String {
    let text = plain(text);
    let mut out = String::with_capacity(text.len());
    let mut previous = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        // An underscore between letters is left alone: it marks nothing, and names stay readable.
        let inside_a_word = |c: char| c.is_alphanumeric();
        let special = match c {
            '_' => !(inside_a_word(previous) && chars.peek().copied().is_some_and(inside_a_word)),
            _ => matches!(c, '\\' | '|' | '`' | '*' | '[' | ']' | '<' | '>' | '&' | '#' | '~'),
        };
        if special {
            out.push('\\');
        }
        out.push(c);
        previous = c;
    }
    out
}

/// One after the other, with something between them.
pub(crate) fn joined(all: impl IntoIterator<Item = String>, between: &str) -> String {
    all.into_iter().collect::<Vec<String>>().join(between)
}

/// Without repetition, in the order they come.
pub(crate) fn unique<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut known = Vec::new();
    for one in all {
        if !known.contains(&one) {
            known.push(one);
        }
    }
    known
}

/// The values of each key, both without repetition, in the order they come.
pub(crate) fn by_key<K: PartialEq, V: PartialEq>(
    all: impl IntoIterator<Item = (K, V)>,
) -> Vec<(K, Vec<V>)> {
    let mut known: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in all {
        match known.iter_mut().find(|(other, _)| *other == key) {
            Some((_, values)) if values.contains(&value) => {}
            Some((_, values)) => values.push(value),
            None => known.push((key, vec![value])),
        }
    }
    known
}

/// Skips what follows an escape character: a control sequence up to its final byte, a string (title,
/// hyperlink) up to its terminator, or one character.
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next_if(|c| !c.is_control()) {
        Some('[') => {
            while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
            chars.next_if(|c| matches!(c, '@'..='~'));
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(c) = chars.next_if(|c| *c != '\n') {
                if c == '\x07' || (c == '\x1b' && chars.next_if_eq(&'\\').is_some()) {
                    break;
                }
            }
        }
        _ => {}
    }
}

fn reorders_or_hides(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests;
