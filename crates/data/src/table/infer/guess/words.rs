//! Words among the values of a field, and which of them represent missing values.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::MISFITS;
use crate::table::absent::is_marker;

/// Number of different words that are remembered per field, and the same number of known markers of
/// missing values.
const REMEMBERED: usize = 256;
/// Bytes of the longest word. Longer texts have content.
const LONGEST: usize = 64;
/// Largest share of words for missing values, and the largest number of different ones.
const FEW: (f64, usize) = (0.3, 3);

/// Different words, and how often each occurs. Its size does not grow with the rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    counts: HashMap<Vec<u8>, u64>,
    /// Whether some are not remembered.
    has_more: bool,
}

impl Words {
    /// Counts a word without blanks around it.
    pub(super) fn take(&mut self, word: &[u8]) {
        if let Some(count) = self.counts.get_mut(word) {
            *count += 1;
            return;
        }
        let is_known = || str::from_utf8(word).is_ok_and(is_known);
        let has_room =
            self.counts.len() < REMEMBERED || self.counts.len() < 2 * REMEMBERED && is_known();
        if has_room && word.len() <= LONGEST {
            self.counts.insert(word.to_owned(), 1);
        } else {
            self.has_more = true;
        }
    }

    /// Returns the word that occurs most often and does not represent a missing value.
    pub(super) fn most_frequent(&self) -> Option<String> {
        let words = self.counts.iter();
        let words = words.filter_map(|(word, count)| Some((*count, str::from_utf8(word).ok()?)));
        let words = words.filter(|(_, word)| !is_known(word));
        words.max_by_key(|(count, word)| (*count, Reverse(*word))).map(|(_, word)| word.to_owned())
    }

    /// Returns the words for missing values among `seen` values, with their counts. Known markers
    /// count, and so do others if they are few, have no digits, and are more than the allowed
    /// misfits. If numbers have commas, another word with a digit is a number.
    pub(super) fn absent(&self, seen: u64, has_commas: bool) -> Vec<(String, u64)> {
        let text = |word: &Vec<u8>| String::from_utf8_lossy(word).into_owned();
        let has_digit = |word: &str| word.bytes().any(|byte| byte.is_ascii_digit());
        let words = self.counts.iter().map(|(word, count)| (text(word), *count));
        let is_word = |word: &str| !has_commas || !has_digit(word) || is_known(word);
        let mut words: Vec<_> = words.filter(|(word, _)| is_word(word)).collect();
        words.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
        let (mut absent, others): (Vec<_>, Vec<_>) =
            words.into_iter().partition(|(word, _)| is_known(word));
        let count: u64 = others.iter().map(|(_, count)| count).sum();
        let share = count as f64 / seen as f64;
        let are_words = others.len() <= FEW.1 && others.iter().all(|(word, _)| !has_digit(word));
        if share > MISFITS && share <= FEW.0 && are_words && !self.has_more {
            absent.extend(others);
        }
        absent
    }
}

/// Whether a word represents a missing value nearly everywhere, or a number that is not finite.
pub(super) fn is_known(word: &str) -> bool {
    is_marker(word) || word.parse::<f64>().is_ok_and(|value| !value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_words_are_remembered_than_there_is_room_for_whatever_they_look_like() {
        for word in [|n: u32| format!("<{n:x}>"), |n| format!("1e{}", 400 + n), |n| format!("w{n}")]
        {
            let mut words = Words::default();
            (0..10_000).for_each(|n| words.take(word(n).as_bytes()));
            assert!(words.counts.len() <= 2 * REMEMBERED, "{}", word(0));
            assert!(words.has_more);
        }
    }

    #[test]
    fn a_marker_is_told_after_many_other_words() {
        let mut words = Words::default();
        (0..1_000).for_each(|n| words.take(format!("w{n}").as_bytes()));
        words.take(b"NA");
        words.take(b"NA");
        words.take(&[b'x'; 100]);
        assert_eq!(words.absent(1_003, false), [("NA".to_owned(), 2)]);
    }
}
