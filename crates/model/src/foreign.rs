//! Text from outside on its way to a reader: engine versions, reasons, names, file names, messages
//! of libraries and servers. It must not move a cursor, end a line, reorder neighbouring text, or
//! act as a spreadsheet formula.

/// Largest number of characters of a line on a terminal. The rest is in the log or in the result.
const LONGEST_LINE: usize = 2_000;

/// Puts `text` on one line. Line breaks, tabs and runs of blanks become one blank. Characters that
/// a terminal obeys, or that reorder or hide text, are written as text: `\u{1b}`.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        word.chars().for_each(|c| show(c, &mut out));
    }
    out
}

/// Returns the [`plain`] text with at most `most` characters. A cut is marked by `…` at the end.
pub fn clipped(text: &str, most: usize) -> String {
    shortened(plain(text), most)
}

/// Returns a text with at most `most` characters. A cut is marked by `…` at the end.
pub fn shortened(mut text: String, most: usize) -> String {
    if text.char_indices().nth(most).is_some() {
        let end = text.char_indices().nth(most.saturating_sub(1)).map_or(0, |(end, _)| end);
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Formats a message of several lines for a terminal: each line by [`screen`] without colours. A
/// long line is cut, with the number of characters left out.
pub fn message(text: &str) -> String {
    let line = |line: &str| match line.char_indices().nth(LONGEST_LINE) {
        None => screen(line, false),
        Some((cut, _)) => {
            let left = line[cut..].chars().count();
            format!("{}… ({left} more characters)", screen(&line[..cut], false))
        }
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Prepares a finished text for a terminal. Line breaks and tabs stay, and so do sequences that set
/// colours if it is `coloured`. Anything else that a terminal obeys is written as text.
pub fn screen(text: &str, coloured: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let colour = if coloured { colour(rest) } else { None };
        let taken = colour.map_or(c.len_utf8(), str::len);
        match (colour, c) {
            (Some(colour), _) => out.push_str(colour),
            (None, '\n' | '\t') => out.push(c),
            (None, c) => show(c, &mut out),
        }
        rest = &rest[taken..];
    }
    out
}

/// Quotes a word for a shell, in commands that a user copies.
pub fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
    // A word that begins with a dash would look like an option.
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    text.chars().for_each(|c| show(c, &mut shown));
    format!("'{}'", shown.replace('\'', r"'\''"))
}

/// Prepares a text for a CSV cell. Text that a spreadsheet would take for a formula gets a leading
/// `'` (<https://owasp.org/www-community/attacks/CSV_Injection>). A number stays as it is.
pub fn cell(text: &str) -> String {
    let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) && !is_number;
    if formula { format!("'{text}") } else { text.to_owned() }
}

/// Returns the sequence at the beginning of a text if it only sets colours.
fn colour(text: &str) -> Option<&str> {
    let body = text.strip_prefix("\x1b[")?;
    let end = body.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    body[end..].starts_with('m').then(|| &text[.."\x1b[".len() + end + 1])
}

fn show(c: char, out: &mut String) {
    match c {
        c if c.is_control() || reorders_or_hides(c) => out.extend(c.escape_unicode()),
        c => out.push(c),
    }
}

fn reorders_or_hides(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown_as_text() {
        assert_eq!(plain("a\x1b[31mred\x1b[0m b"), r"a\u{1b}[31mred\u{1b}[0m b");
        assert_eq!(plain("one\r\n\ttwo  three\n"), "one two three");
        assert_eq!(
            plain("bell\x07 c1\u{9b}31m rtl\u{202e}x"),
            r"bell\u{7} c1\u{9b}31m rtl\u{202e}x"
        );
        assert!(plain("a\x1b[2J\x1bcb\x1b\x07c").chars().all(|c| !c.is_control()));
    }

    #[test]
    fn clipping_counts_characters_and_says_that_it_cut() {
        assert_eq!(clipped("ünïcödé", 4), "ünï…");
        assert_eq!(clipped("abcd", 4), "abcd");
    }

    #[test]
    fn a_message_keeps_its_lines_and_a_long_one_is_cut() {
        assert_eq!(message("a\n\x1b[2Jb\r"), "a\n\\u{1b}[2Jb\\u{d}");
        let cut = message(&format!("{}\nend", "é".repeat(100_000)));
        assert!(cut.ends_with("é… (98000 more characters)\nend"), "{}", &cut[cut.len() - 60..]);
    }

    #[test]
    fn a_screen_has_colours_where_it_may_and_nothing_else_that_a_terminal_obeys() {
        let text = "\x1b[1mbold\x1b[0m\n\x1b[2J\x1b]0;title\x07 \x1b[1";
        assert_eq!(
            screen(text, true),
            "\x1b[1mbold\x1b[0m\n\\u{1b}[2J\\u{1b}]0;title\\u{7} \\u{1b}[1"
        );
        assert!(!screen(text, false).contains('\x1b'));
    }

    #[test]
    fn a_word_ends_no_word_and_begins_no_other_command() {
        for (text, shown) in [
            ("sensors", "sensors"),
            ("results/ünï-2026/result.json", "results/ünï-2026/result.json"),
            ("my  card/run", "'my  card/run'"),
            ("R&D", "'R&D'"),
            ("x; rm -rf ~", "'x; rm -rf ~'"),
            ("it's", r"'it'\''s'"),
            ("$(id)", "'$(id)'"),
            ("-e", "'-e'"),
            ("", "''"),
            ("a\nb", r"'a\u{a}b'"),
            ("\u{1b}[2J", r"'\u{1b}[2J'"),
        ] {
            assert_eq!(word(text), shown);
        }
    }

    #[test]
    fn a_formula_is_quoted_and_a_number_is_not() {
        for formula in ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-inf"] {
            assert_eq!(cell(formula), format!("'{formula}"));
        }
        for text in ["-1", "+1.5e-3", "1", "a=b", "", "'x", "-0.25"] {
            assert_eq!(cell(text), text);
        }
    }
}
