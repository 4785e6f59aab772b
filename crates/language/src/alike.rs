//! A name that stands for many columns of one kind: `v[1..100]` for `v1` to `v100`.

use crate::node::Entry;

/// Largest number of columns of one line.
const MOST: u32 = 2_000;

/// Returns the names of the columns of a line, one if it has no range. Adds a mistake if the range
/// is invalid.
pub fn names(entry: &Entry<'_>) -> Option<Vec<String>> {
    let Some((stem, rest)) = entry.name.split_once('[') else {
        return Some(vec![entry.name.to_owned()]);
    };
    let ends = rest.strip_suffix(']').and_then(|range| range.split_once(".."));
    let numbers = ends.and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    match numbers {
        Some((first, last)) if first <= last && last - first < MOST => {
            Some((first..=last).map(|number: u32| format!("{stem}{number}")).collect())
        }
        _ => entry.at_name().mistake(
            format!("'{}' names no columns", entry.name),
            format!("write for example \"v[1..100]\" for v1 to v100: at most {MOST} columns"),
        ),
    }
}
