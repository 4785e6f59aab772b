//! What the name of a field suggests about its content.

const TIMES: [&str; 13] = [
    "time",
    "timestamp",
    "datetime",
    "date",
    "ts",
    "stamp",
    "when",
    "at",
    "day",
    "created",
    "updated",
    "modified",
    "t",
];
const IDS: [&str; 18] = [
    "id", "uuid", "guid", "key", "pk", "no", "nr", "number", "seq", "code", "sensor", "device",
    "station", "mote", "node", "host", "symbol", "user",
];

/// Whether a name has a word for times.
pub(super) fn is_time(name: &str) -> bool {
    has(name, &TIMES)
}

/// Whether a name has a word for identifiers.
pub(super) fn is_id(name: &str) -> bool {
    has(name, &IDS)
}

/// Whether a name has one of these words: between signs that are not letters, after a change from
/// lower to upper case, or, with at least three letters, at the end of a longer word.
fn has(name: &str, words: &[&str]) -> bool {
    let mut parts = String::new();
    let mut small = false;
    for char in name.chars() {
        if char.is_uppercase() && small {
            parts.push(' ');
        }
        small = char.is_lowercase();
        let letter = char.is_alphabetic();
        parts.extend(if letter { char.to_lowercase().next() } else { Some(' ') });
    }
    let ends = |part: &str, word: &str| word.len() > 2 && part.ends_with(word);
    parts.split(' ').any(|part| words.iter().any(|word| part == *word || ends(part, word)))
}
