//! Formats text from outside for reports, and lists without duplicates.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

pub use embermark_model::foreign::{clipped, plain};

/// Formats [`plain`] text so that Markdown shows it unchanged, in a table cell too. On GitHub it
/// does not link to users or issues: an HTML comment separates the sign from the name or number,
/// since a backslash does not prevent the link.
pub fn markdown(text: &str) -> String {
    let text = plain(text);
    let mut out = String::with_capacity(text.len());
    let mut previous = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        // An underscore between letters is not escaped: it has no effect there, and names stay
        // readable.
        let inside_a_word = |c: char| c.is_alphanumeric();
        let special = match c {
            '_' => !(inside_a_word(previous) && chars.peek().copied().is_some_and(inside_a_word)),
            _ => matches!(c, '\\' | '|' | '`' | '*' | '[' | ']' | '<' | '>' | '&' | '#' | '~'),
        };
        if special {
            out.push('\\');
        }
        out.push(c);
        let next = chars.peek().copied();
        if c == '@' && next.is_some_and(char::is_alphanumeric)
            || c == '#' && next.is_some_and(|next| next.is_ascii_digit())
        {
            out.push_str("<!-- -->");
        }
        previous = c;
    }
    out
}

/// Returns the name that a command uses for the file of a workload.
pub(crate) fn file_name(workload: &str) -> String {
    format!("{}.toml", plain(workload))
}

/// Joins texts with `between`.
pub(crate) fn joined(all: impl IntoIterator<Item = String>, between: &str) -> String {
    all.into_iter().collect::<Vec<String>>().join(between)
}

/// Removes duplicates and keeps the order.
pub(crate) fn unique<T: Clone + Eq + Hash>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut known = HashSet::new();
    all.into_iter().filter(|one| known.insert(one.clone())).collect()
}

/// Groups values by key, without duplicates and in order.
pub(crate) fn by_key<K: Clone + Eq + Hash, V: Clone + Eq + Hash>(
    all: impl IntoIterator<Item = (K, V)>,
) -> Vec<(K, Vec<V>)> {
    let mut places: HashMap<K, usize> = HashMap::new();
    let mut known: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in unique(all) {
        let place = *places.entry(key.clone()).or_insert_with(|| {
            known.push((key, Vec::new()));
            known.len() - 1
        });
        known[place].1.push(value);
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_cannot_end_a_cell_or_start_a_mark() {
        assert_eq!(markdown("a|b\nc"), "a\\|b c");
        assert_eq!(markdown("<b>`x`</b> *y* # ~"), "\\<b\\>\\`x\\`\\</b\\> \\*y\\* \\# \\~");
        assert_eq!(markdown("avg_sensor _x_"), "avg_sensor \\_x\\_");
        assert_eq!(markdown("@all a @ b #12"), "@<!-- -->all a @ b \\#<!-- -->12");
    }
}
