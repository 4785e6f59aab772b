//! Formats text from outside for reports, and lists without duplicates.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

pub use embermark_model::foreign::{clipped, plain, word};

/// Formats [`plain`] text so that Markdown shows it unchanged, in a table cell too. On GitHub it
/// does not link to users or issues: an HTML comment separates the sign from the name or number,
/// since a backslash does not prevent the link.
pub fn markdown(text: &str) -> String {
    let text = plain(text);
    let mut out = String::with_capacity(text.len());
    let mut previous = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied().unwrap_or(' ');
        // An underscore between letters is not escaped: it has no effect there, and names stay
        // readable.
        let is_special = match c {
            '_' => !(previous.is_alphanumeric() && next.is_alphanumeric()),
            _ => "\\|`*[]<>&#~".contains(c),
        };
        if is_special {
            out.push('\\');
        }
        out.push(c);
        if c == '@' && next.is_alphanumeric() || c == '#' && next.is_ascii_digit() {
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

/// Joins the first `most` texts with commas, and counts the others: `a, b and 3 more`.
pub(crate) fn first(all: &[impl AsRef<str>], most: usize) -> String {
    let shown: Vec<&str> = all.iter().take(most).map(AsRef::as_ref).collect();
    let shown = shown.join(", ");
    match all.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
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
    let all = unique(all);
    let mut values: HashMap<K, Vec<V>> = HashMap::new();
    for (key, value) in &all {
        values.entry(key.clone()).or_default().push(value.clone());
    }
    let keys = unique(all.into_iter().map(|(key, _)| key));
    keys.into_iter().filter_map(|key| values.remove_entry(&key)).collect()
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
