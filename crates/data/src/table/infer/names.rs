//! What the name of a field suggests about its content.

const TIMES: &str = "\
    time timestamp datetime date ts stamp when at day created updated modified t datum zeit \
    zeitstempel";
/// Words for a day, of which some also mean something else.
const DAYS: &str = "tag dt jour fecha";
const IDS: &str = "\
    id uuid guid key pk no nr number seq code sensor device station mote node host symbol user \
    machine channel tag name geraet gerät maschine kanal knoten anlage messstelle standort nummer";

/// Whether a name has a word for times.
pub(super) fn is_time(name: &str) -> bool {
    has(name, TIMES)
}

/// Whether a name has a word for times or for days.
pub(super) fn is_day(name: &str) -> bool {
    is_time(name) || has(name, DAYS)
}

/// Whether a name has a word for identifiers.
pub(super) fn is_id(name: &str) -> bool {
    has(name, IDS)
}

/// Words of [`IDS`] for a row or a state, rather than for what it is about.
const NOT_SERIES: &str = "key pk seq code";

/// Whether a name has a word for what has a series of rows, such as a sensor.
pub(super) fn is_series(name: &str) -> bool {
    is_id(name) && !has(name, NOT_SERIES)
}

/// Whether a name has one of these words: between signs that are not letters, after a change from
/// lower to upper case, or, with at least three letters, at the end of a longer word.
fn has(name: &str, words: &str) -> bool {
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
    parts.split(' ').any(|part| words.split(' ').any(|word| part == word || ends(part, word)))
}
