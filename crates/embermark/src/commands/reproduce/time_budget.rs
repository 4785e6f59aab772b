//! Selects the parts that fit into the given time.

use std::fmt::Write as _;
use std::time::Duration;

use embermark_report::format::counted;

use super::parts::Part;
use crate::error::Failure;
use crate::plan::milliseconds;

/// Parts to repeat, and parts that are left out.
pub struct Repetition {
    /// Parts to repeat, in their order.
    pub parts: Vec<Part>,
    /// Parts that are left out.
    pub left_out: Vec<Part>,
    /// Time for everything, in seconds.
    pub within_s: Option<u64>,
}

/// Parses the time of `--for`, in seconds.
pub fn parse(text: &str) -> Result<u64, Failure> {
    milliseconds("--for", text).map(|ms| ms / 1_000)
}

/// Selects parts that are expected to fit together. Parts behind headlines come first, the shortest
/// first, then the others. A part of unknown time does not fit into a limited time.
pub fn select(parts: Vec<Part>, within_s: Option<u64>) -> Repetition {
    let mut left = within_s.unwrap_or(u64::MAX);
    let mut fits = vec![within_s.is_none(); parts.len()];
    let mut indexes: Vec<usize> = (0..parts.len()).collect();
    indexes.sort_by_key(|index| (!parts[*index].decides, parts[*index].expected_s));
    for index in indexes {
        if let Some(rest) = parts[index].expected_s.and_then(|takes| left.checked_sub(takes)) {
            (left, fits[index]) = (rest, true);
        }
    }
    let (fitting, others): (Vec<_>, Vec<_>) =
        parts.into_iter().zip(fits).partition(|(_, fits)| *fits);
    let [parts, left_out] =
        [fitting, others].map(|parts| parts.into_iter().map(|(part, _)| part).collect());
    Repetition { parts, left_out, within_s }
}

/// Describes the repetition before the first part begins.
pub fn announcement(repetition: &Repetition) -> String {
    let Repetition { parts, left_out, within_s } = repetition;
    let count = counted(parts.len() as u64, "part");
    let mut text = match parts.iter().map(|part| part.expected_s).sum::<Option<u64>>() {
        Some(seconds) => {
            format!("{count}, about {} on the machine of docs/reproduction.md", span(seconds))
        }
        None => format!("{count}; the time of some is unknown"),
    };
    if let (Some(within), false) = (within_s, left_out.is_empty()) {
        let _ = write!(text, "\nleft out, to stay within {}:", span(*within));
        for part in left_out {
            let length = part.expected_s.map_or("time unknown".to_owned(), span);
            let _ = write!(text, "\n  {} ({length}): {}", part.folder, part.about);
        }
    }
    text
}

/// Returns the reason why a part is too late to begin, if it is.
pub fn too_late(part: &Part, within_s: Option<u64>, spent: Duration) -> Option<String> {
    let left = within_s?.saturating_sub(spent.as_secs());
    let expected = part.expected_s.unwrap_or(0);
    (expected > left || left == 0).then(|| {
        format!("as it is expected to take {} and {} are left", span(expected), span(left))
    })
}

/// Formats a time: `2 h 5 min`, `40 s`.
pub fn span(seconds: u64) -> String {
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use embermark_model::plan::Repeats;

    use super::*;
    use crate::plan::PlanArgs;

    fn part(folder: &str, expected_s: Option<u64>) -> Part {
        Part {
            repeats: Repeats { source: "ulb".into(), piece: folder.into() },
            folder: folder.to_owned(),
            about: "does something".into(),
            device: None,
            counting: false,
            decides: false,
            expected_s,
            plan: PlanArgs::default(),
        }
    }

    fn names(parts: &[Part]) -> Vec<&str> {
        parts.iter().map(|part| &*part.folder).collect()
    }

    #[test]
    fn the_longest_are_left_out() {
        let all =
            || vec![part("short", Some(60)), part("long", Some(7_000)), part("middle", Some(600))];
        let fitted = |seconds| super::select(all(), Some(seconds));
        assert_eq!(names(&fitted(10_000).parts), ["short", "long", "middle"]);
        let two = fitted(7_000);
        assert_eq!(
            (names(&two.parts), names(&two.left_out)),
            (vec!["short", "middle"], vec!["long"])
        );
        assert_eq!(names(&fitted(100).parts), ["short"]);
        assert!(fitted(10).parts.is_empty());
        assert_eq!(super::select(all(), None).parts.len(), 3);
    }

    #[test]
    fn parts_on_which_headlines_rest_go_before_shorter_ones() {
        let decisive = Part { decides: true, ..part("decisive", Some(500)) };
        let all = || vec![part("short", Some(60)), decisive.clone(), part("shorter", Some(50))];
        let fitted = |seconds| super::select(all(), Some(seconds));
        assert_eq!(names(&fitted(500).parts), ["decisive"]);
        assert_eq!(names(&fitted(555).parts), ["decisive", "shorter"]);
        // A part that does not fit does not keep out others.
        assert_eq!(names(&fitted(400).parts), ["short", "shorter"]);
    }

    #[test]
    fn what_nothing_is_known_of_is_left_out() {
        let fitted =
            super::select(vec![part("unknown", None), part("known", Some(500))], Some(600));
        assert_eq!(
            (names(&fitted.parts), names(&fitted.left_out)),
            (vec!["known"], vec!["unknown"])
        );
    }

    #[test]
    fn what_is_left_out_is_announced_by_name_and_length() {
        let all = vec![part("short", Some(60)), part("long", Some(7_500)), part("unknown", None)];
        let said = announcement(&super::select(all, Some(3_600)));
        assert!(said.starts_with("1 part, about 1 min 0 s"), "{said}");
        assert!(said.contains("left out, to stay within 1 h 0 min:"), "{said}");
        assert!(said.contains("long (2 h 5 min): does something"), "{said}");
        assert!(said.contains("unknown (time unknown)"), "{said}");
        assert!(
            !announcement(&super::select(vec![part("short", Some(60))], None)).contains("left out")
        );
    }

    #[test]
    fn a_part_is_not_begun_that_would_end_too_late() {
        let spent = Duration::from_secs(3_500);
        let of = |expected, within| too_late(&part("a", expected), within, spent);
        assert_eq!(of(Some(90), Some(3_600)), None);
        let late = of(Some(101), Some(3_600)).unwrap();
        assert!(late.contains("1 min 41 s") && late.contains("1 min 40 s are left"), "{late}");
        assert!(of(None, Some(3_600)).is_none());
        assert!(of(None, Some(3_500)).is_some(), "nothing is begun when the time is over");
        assert!(of(Some(9_999), None).is_none());
    }
}
