//! Text in XML 1.0, <https://www.w3.org/TR/xml/#charsets>.

use crate::text;

/// Escapes text as one line for the content of an element or of a double-quoted attribute.
/// Characters that XML cannot have, like terminal control characters, are shown as text.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text::plain(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\u{fffe}' | '\u{ffff}' => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup_or_no_character_of_xml() {
        assert_eq!(escaped("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &apos;d&apos;");
        assert_eq!(escaped("]]>\x1b[31m\u{0}\u{ffff}\nx"), "]]&gt;\\u{1b}[31m\\u{0}\\u{ffff} x");
    }
}
