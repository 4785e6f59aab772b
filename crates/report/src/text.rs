//! Text that came from outside, as reports show it, and lists without repetition.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

pub use embermark_model::foreign::{clipped, plain};

/// [`plain`] text that Markdown shows as it is, in a table cell too. On GitHub it names nobody and no issue: a
/// comment stands between a sign and the name or number behind it, as a backslash does not prevent that.
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

/// One after the other, with something between them.
pub(crate) fn joined(all: impl IntoIterator<Item = String>, between: &str) -> String {
    all.into_iter().collect::<Vec<String>>().join(between)
}

/// Without repetition, in the order they come.
pub(crate) fn unique<T: Clone + Eq + Hash>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut known = HashSet::new();
    all.into_iter().filter(|one| known.insert(one.clone())).collect()
}

/// The values of each key, both without repetition, in the order they come.
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
