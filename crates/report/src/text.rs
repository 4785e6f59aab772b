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
mod tests {
    use super::*;

    #[test]
    fn nothing_a_terminal_obeys_is_left() {
        assert_eq!(plain("a\x1b[31mred\x1b[0m b"), "ared b");
        assert_eq!(plain("x\x1b]8;;http://e.org\x07link\x1b]8;;\x1b\\y"), "xlinky");
        assert_eq!(plain("one\r\n\ttwo  three\n"), "one two three");
        assert_eq!(plain("bell\x07 c1\u{9b}31m rtl\u{202e}x"), "bell� c1�31m rtl�x");
        assert_eq!(plain("\x1b"), "");
        assert!(plain("a\x1b[2J\x1bcb\x1b\x07c").chars().all(|c| !c.is_control()));
    }

    #[test]
    fn a_sequence_without_an_end_swallows_no_more_than_its_line() {
        assert_eq!(plain("a\x1b]0;title\nnext line"), "a next line");
    }

    #[test]
    fn markdown_cannot_end_a_cell_or_start_a_mark() {
        assert_eq!(markdown("a|b\nc"), "a\\|b c");
        assert_eq!(markdown("<b>`x`</b> *y* # ~"), "\\<b\\>\\`x\\`\\</b\\> \\*y\\* \\# \\~");
        assert_eq!(markdown("avg_sensor _x_"), "avg_sensor \\_x\\_");
    }

    #[test]
    fn clipping_counts_characters_and_says_that_it_cut() {
        assert_eq!(clipped("ünïcödé", 4), "ünï…");
        assert_eq!(clipped("abcd", 4), "abcd");
    }
}
