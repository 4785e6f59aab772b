//! Splits a text into statements, because Firebird accepts one at a time.

/// Returns the statements of a text, split at semicolons outside of quotes and comments. A text
/// that begins with a block is one statement, because semicolons end the statements inside it.
pub(super) fn statements(text: &str) -> impl Iterator<Item = &str> {
    let begins = |word: &str| {
        let head = text.trim_start().get(..word.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(word))
    };
    let is_block =
        begins("EXECUTE BLOCK") || begins("CREATE PROCEDURE") || begins("CREATE TRIGGER");
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let whole = rest.take()?;
        let end = if is_block { None } else { end_of_first(whole) };
        let (first, others) = match end {
            Some(end) => (&whole[..end], Some(&whole[end + 1..])),
            None => (whole, None),
        };
        rest = others;
        Some(first.trim())
    })
    .filter(|statement| !statement.is_empty())
}

/// Returns the position of the semicolon that ends the first statement.
fn end_of_first(text: &str) -> Option<usize> {
    /// What is skipped whole, by how it begins and ends.
    const SKIPPED: [(&str, &str); 4] = [("'", "'"), ("\"", "\""), ("--", "\n"), ("/*", "*/")];
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first == ';' {
            return Some(at);
        }
        at += match SKIPPED.iter().find(|(begin, _)| rest.starts_with(begin)) {
            Some((begin, end)) => begin.len() + rest[begin.len()..].find(end)? + end.len(),
            None => first.len_utf8(),
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::statements;

    #[test]
    fn semicolons_part_statements_but_not_texts_names_remarks_or_blocks() {
        let of = |text| statements(text).collect::<Vec<_>>();
        assert_eq!(of("SELECT 1; INSERT 2 ;"), ["SELECT 1", "INSERT 2"]);
        assert_eq!(of(" ; "), [""; 0]);
        assert_eq!(of("a 'x;''y;' b; c"), ["a 'x;''y;' b", "c"]);
        assert_eq!(of("a \"x;\" -- it's; so\nb; c"), ["a \"x;\" -- it's; so\nb", "c"]);
        assert_eq!(of("a /* it's; */ b; c /* ; */"), ["a /* it's; */ b", "c /* ; */"]);
        assert_eq!(of("a 'x;"), ["a 'x;"]);
        let block = "execute block as begin a; b; end";
        assert_eq!(of(block), [block]);
    }
}
