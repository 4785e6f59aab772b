//! What fits into the time that there is.

use std::fmt::Write as _;
use std::time::Duration;

use embermark_report::format::counted;

use super::parts::Part;
use crate::error::Failure;
use crate::plan::milliseconds;

/// What is to be repeated, and what is not.
pub struct Repetition {
    /// The parts, in their order.
    pub parts: Vec<Part>,
    /// Those that were left out.
    pub left_out: Vec<Part>,
    /// The time for all of it, in seconds.
    pub within_s: Option<u64>,
}

/// The time of `--within` in seconds.
pub fn parsed(text: &str) -> Result<u64, Failure> {
    milliseconds("--within", text).map(|ms| ms / 1_000)
}

/// The parts of which all together are expected to fit: the longest are left out, until they do. One of
/// which nothing is known is left out first.
pub fn fitted(mut parts: Vec<Part>, within_s: Option<u64>) -> Repetition {
    let mut left_out = Vec::new();
    if let Some(within) = within_s {
        let longest = |parts: &[Part]| {
            let length = |(_, part): &(usize, &Part)| part.expected_s.unwrap_or(u64::MAX);
            parts.iter().enumerate().max_by_key(length).map(|(place, _)| place)
        };
        while expected(&parts).is_none_or(|all| all > within)
            && let Some(place) = longest(&parts)
        {
            left_out.push(parts.remove(place));
        }
    }
    Repetition { parts, left_out, within_s }
}

/// How long all of them are expected to take, in seconds; `None` where that is not known of one.
fn expected(parts: &[Part]) -> Option<u64> {
    parts.iter().map(|part| part.expected_s).sum()
}

/// What is to be known before the first begins.
pub fn announced(repetition: &Repetition) -> String {
    let Repetition { parts, left_out, within_s } = repetition;
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = match expected(parts) {
        Some(seconds) => writeln!(
            text,
            "{}, about {} on the machine of docs/reproduction.md",
            counted(parts.len() as u64, "part"),
            span(seconds)
        ),
        None => {
            let count = counted(parts.len() as u64, "part");
            writeln!(text, "{count}; how long they take is not known of all")
        }
    };
    if let (Some(within), false) = (within_s, left_out.is_empty()) {
        let _ = writeln!(text, "left out, to stay within {}:", span(*within));
        for part in left_out {
            let length = part.expected_s.map_or("how long is not known".to_owned(), span);
            let _ = writeln!(text, "  {} ({length}): {}", part.folder, part.about);
        }
    }
    text
}

/// Why a part is not begun any more, if so.
pub fn too_late(part: &Part, within_s: Option<u64>, spent: Duration) -> Option<String> {
    let left = within_s?.saturating_sub(spent.as_secs());
    let expected = part.expected_s.unwrap_or(0);
    (expected > left || left == 0).then(|| {
        format!("as it is expected to take {} and {} are left", span(expected), span(left))
    })
}

/// `2 h 5 min`, `40 s`.
pub fn span(seconds: u64) -> String {
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests;
