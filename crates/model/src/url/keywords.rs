//! Parses keywords and values, which libpq accepts instead of a URL.

/// Splits keywords and values as libpq does:
/// <https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-KEYWORD-VALUE>.
pub(super) fn keywords(text: &str) -> Result<Vec<(&str, String)>, &'static str> {
    let mut rest = text.trim_start();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let ends = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
        let (name, after) = rest.split_at(ends);
        let after = after.trim_start().strip_prefix('=');
        let after =
            after.ok_or("it is not a URL, and a word of it has no = and value")?.trim_start();
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') {
            return Err("it is not a URL, and what precedes an = is not a keyword of libpq");
        }
        let (value, after) = value(after)?;
        found.push((name, value));
        rest = after.trim_start();
    }
    Ok(found)
}

/// Reads a value, quoted or up to a blank, in which a backslash escapes the next character. Returns
/// the value and the text after it.
fn value(text: &str) -> Result<(String, &str), &'static str> {
    let quoted = text.starts_with('\'');
    let mut value = String::new();
    let mut chars = text.char_indices().skip(usize::from(quoted));
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => value.extend(chars.next().map(|(_, c)| c)),
            '\'' if quoted => return Ok((value, &text[at + 1..])),
            c if !quoted && c.is_whitespace() => return Ok((value, &text[at..])),
            c => value.push(c),
        }
    }
    if quoted { Err("a quoted value in it has no end") } else { Ok((value, "")) }
}
