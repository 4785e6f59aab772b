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
        expected_s,
        plan: PlanArgs::default(),
    }
}

fn names(parts: &[Part]) -> Vec<&str> {
    parts.iter().map(|part| &*part.folder).collect()
}

#[test]
fn the_longest_are_left_out_until_the_others_fit() {
    let all =
        || vec![part("short", Some(60)), part("long", Some(7_000)), part("middle", Some(600))];
    let fitted = |seconds| super::fitted(all(), Some(seconds));
    assert_eq!(names(&fitted(10_000).parts), ["short", "long", "middle"]);
    let two = fitted(7_000);
    assert_eq!((names(&two.parts), names(&two.left_out)), (vec!["short", "middle"], vec!["long"]));
    assert_eq!(names(&fitted(100).parts), ["short"]);
    assert!(fitted(10).parts.is_empty());
    assert_eq!(super::fitted(all(), None).parts.len(), 3);
}

#[test]
fn what_nothing_is_known_of_is_left_out_first() {
    let fitted = super::fitted(vec![part("unknown", None), part("known", Some(500))], Some(600));
    assert_eq!((names(&fitted.parts), names(&fitted.left_out)), (vec!["known"], vec!["unknown"]));
}

#[test]
fn what_is_left_out_is_announced_by_name_and_length() {
    let all = vec![part("short", Some(60)), part("long", Some(7_500)), part("unknown", None)];
    let said = announced(&super::fitted(all, Some(3_600)));
    assert!(said.starts_with("1 part, about 1 min 0 s"), "{said}");
    assert!(said.contains("left out, to stay within 1 h 0 min:"), "{said}");
    assert!(said.contains("long (2 h 5 min): does something"), "{said}");
    assert!(said.contains("unknown (how long is not known)"), "{said}");
    assert!(!announced(&super::fitted(vec![part("short", Some(60))], None)).contains("left out"));
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
