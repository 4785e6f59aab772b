//! Errors for names that a user chooses from a list.

use std::cmp::Reverse;
use std::collections::BTreeSet;

/// A name that is not in the list. The text lists the valid names and the nearest one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}; valid: {}", self.brief(), .valid.join(", "))]
pub struct UnknownName {
    /// Kind of name ("engine", "workload", …).
    pub what: &'static str,
    /// The name that was given.
    pub given: String,
    /// The most similar valid name, if any is close.
    pub nearest: Option<String>,
    /// Every valid name.
    pub valid: Vec<String>,
}

impl UnknownName {
    /// Returns the text without the valid names.
    pub fn brief(&self) -> String {
        let Self { what, given, nearest, .. } = self;
        let hint = nearest.as_ref().map(|name| format!(", did you mean '{name}'?"));
        format!("unknown {what} '{given}'{}", hint.unwrap_or_default())
    }
}

/// Makes the error for `given`, which is not among `valid`.
pub fn unknown<I>(what: &'static str, given: &str, valid: I) -> UnknownName
where
    I: IntoIterator,
    I::Item: Into<String>,
{
    let valid: Vec<String> = valid.into_iter().map(Into::into).collect();
    let nearest = nearest(given, valid.iter().map(String::as_str)).map(str::to_owned);
    UnknownName { what, given: given.to_owned(), nearest, valid }
}

/// Returns the most similar name, or `None` if no name is close. Upper and lower case are alike.
pub fn nearest<'n>(given: &str, valid: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let given = given.to_lowercase();
    let rank = |name: &'n str| {
        let lower = name.to_lowercase();
        let distance = strsim::osa_distance(&given, &lower);
        let is_near = distance <= most_edits(&given, &lower) || is_beginning(&given, &lower);
        let has_same_letters = letters(&given) == letters(&lower);
        let common = given.chars().zip(lower.chars()).take_while(|(a, b)| a == b).count();
        // The first words of a name: `flush` of `flush-us`.
        let rest = lower.strip_prefix(given.as_str());
        let is_first_words = rest.is_some_and(|rest| rest.starts_with(['-', '_']));
        let rank = (!is_first_words, distance, !has_same_letters, Reverse(common));
        is_near.then_some((rank, name))
    };
    valid.into_iter().filter_map(rank).min_by_key(|(rank, _)| *rank).map(|(_, name)| name)
}

/// Returns the largest number of edits by which two names are still alike: three of seven letters,
/// but not every letter.
fn most_edits(a: &str, b: &str) -> usize {
    let longest = a.chars().count().max(b.chars().count());
    (longest * 3 / 7).max(1).min(longest.saturating_sub(1))
}

/// Whether the shorter of two names has three letters or more and is the beginning of the other,
/// of which it is at least a third.
fn is_beginning(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    short.len() >= 3 && short.len() * 3 >= long.len() && long.starts_with(short)
}

/// Returns the different letters of a name.
fn letters(name: &str) -> BTreeSet<char> {
    name.chars().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_has_the_fewest_edits_and_the_same_letters() {
        for (given, valid, right) in [
            ("=>", &["=", "!=", "<", "<=", ">", ">="][..], Some(">=")),
            ("==", &["!=", "=", "<", "<="], Some("=")),
            ("form", &["type", "unit", "from", "format", "absent"], Some("from")),
            ("foo", &["a", "f", "b"], None),
            ("delimm", &["sep", "delim"], Some("delim")),
            ("delimiter", &["header", "delim"], Some("delim")),
            ("separator", &["delim", "sep"], Some("sep")),
            ("zipf", &["uniform", "zipfian"], Some("zipfian")),
            ("flush", &["flash", "flush-us"], Some("flush-us")),
            ("Time", &["sensor", "time"], Some("time")),
            ("Europe/Berln", &["Europe/Bern", "Europe/Berlin"], Some("Europe/Berlin")),
            ("a", &["b", "c"], None),
            ("name", &["time", "id"], None),
        ] {
            assert_eq!(nearest(given, valid.iter().copied()), right, "{given}");
        }
    }

    #[test]
    fn a_misspelt_name_is_answered_with_the_nearest_and_all_valid_ones() {
        let error = unknown("engine", "sqlight", ["sqlite", "duckdb"]);
        assert_eq!(
            error.to_string(),
            "unknown engine 'sqlight', did you mean 'sqlite'?; valid: sqlite, duckdb"
        );
    }

    #[test]
    fn a_name_like_none_of_them_gets_no_suggestion() {
        assert_eq!(unknown("engine", "xyz", ["sqlite", "duckdb"]).nearest, None);
    }
}
