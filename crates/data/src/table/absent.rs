//! Words and numbers that represent a missing value.

/// Words that people and programs write for a missing value, in lower case.
const MARKERS: [&str; 31] = [
    "na", "n/a", "#n/a", "#nv", "#div/0!", "#value!", "#wert!", "#ref!", "#bezug!", "#name?",
    "#num!", "#zahl!", "#null!", "nan", "-nan", "nil", "null", "none", "no data", "nodata", "void",
    "-", "--", "---", "?", ".", "*", "1.#qnan", "-1.#ind", "1.#inf", "-1.#inf",
];
/// The same for words for a state.
const STATES: [&str; 5] = ["missing", "unavailable", "unknown", "undefined", "invalid"];

/// Whether a word represents a missing value nearly everywhere.
pub(super) fn is_marker(word: &str) -> bool {
    let word = word.trim();
    let begins =
        |start: &str| word.get(..start.len()).is_some_and(|of| of.eq_ignore_ascii_case(start));
    MARKERS.iter().chain(&STATES).any(|marker| marker.eq_ignore_ascii_case(word))
        || word.starts_with('<') && word.ends_with('>')
        || begins("#n/a")
}

/// Words and numbers that represent absent values in a table.
#[derive(Debug, Default)]
pub(super) struct AbsentMarkers {
    words: Vec<String>,
    numbers: Vec<f64>,
    not_a_number: bool,
}

impl AbsentMarkers {
    pub(super) fn new(words: &[String]) -> Self {
        let numbers = words.iter().filter_map(|word| word.trim().parse::<f64>().ok());
        let (nan, numbers): (Vec<f64>, Vec<f64>) = numbers.partition(|number| number.is_nan());
        Self { words: words.to_vec(), numbers, not_a_number: !nan.is_empty() }
    }

    /// Whether no word represents an absent value.
    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether a text is one of the words, without the blanks around it.
    #[inline]
    pub(super) fn has_text(&self, text: &[u8]) -> bool {
        !self.words.is_empty() && {
            let text = text.trim_ascii();
            self.words.iter().any(|word| word.as_bytes() == text)
        }
    }

    /// Whether a number is one of the numbers.
    #[inline]
    pub(super) fn has_number(&self, value: f64) -> bool {
        self.not_a_number && value.is_nan() || self.numbers.contains(&value)
    }
}
