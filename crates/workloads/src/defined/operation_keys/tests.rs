use std::collections::HashMap;

use embermark_language::Count;
use embermark_model::Scale;

use super::super::keep::tests::cell;
use super::*;

/// Returns staged rows of a made table of ten stations at 200 times, and what keeps them.
fn rows(dir: &std::path::Path, key: &str) -> Rows {
    let text = format!(
        r#"
        [table.t]
        rows = 2000
        key = {key}
        [table.t.columns]
        station = {{ type = "u8", make = "cycle", from = 0, distinct = 10 }}
        time = {{ type = "u16", make = "sequence", from = 5, step = 3, repeat = 10 }}
        [phase.p]
        do = "get"
        "#
    );
    cell(&text, Scale::Rows(2_000), dir).unwrap().tables.remove(0)
}

fn keys(of: KeysOf, absent: f64) -> Keys {
    Keys { ops: Count::Exactly(5_000), of, absent, rows: 1 }
}

#[test]
fn draws_are_the_same_from_the_same_seed_and_follow_their_law() {
    let dir = tempfile::tempdir().unwrap();
    let rows = rows(dir.path(), r#"["station", "time"]"#);
    let drawn = |of, seed| {
        let draws =
            OperationKeys::new(&keys(of, 0.0), 5_000, &rows, &mut Draw::new(seed, 1)).unwrap();
        (0..5_000).map(|i| draws.at(i, rows.loaded)).collect::<Vec<_>>()
    };
    let most = |drawn: &[DrawnKey]| {
        let mut counts: HashMap<usize, u32> = HashMap::new();
        for drawn in drawn {
            let DrawnKey::Row(place) = drawn else { panic!("absent") };
            *counts.entry(*place).or_default() += 1;
        }
        counts.into_iter().max_by_key(|(_, count)| *count).unwrap()
    };
    assert_eq!(drawn(KeysOf::Uniform, 1), drawn(KeysOf::Uniform, 1));
    assert_ne!(drawn(KeysOf::Uniform, 1), drawn(KeysOf::Uniform, 2));
    assert!(most(&drawn(KeysOf::Uniform, 1)).1 < 20);
    let (place, count) = most(&drawn(KeysOf::Zipfian { skew: 0.99 }, 1));
    // The most frequent of 10^10 has a share of 1 / 26.469, some 3.8 %, and is not at an end of the
    // table.
    assert!((130..260).contains(&count) && place != 0, "{place} {count}");
    assert_eq!(most(&drawn(KeysOf::Newest { skew: 0.99 }, 1)).0, 1_999);
}

#[test]
fn absent_keys_are_absent_and_as_many_as_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let rows = rows(dir.path(), r#"["station", "time"]"#);
    let draws = OperationKeys::new(&keys(KeysOf::Uniform, 0.2), 5_000, &rows, &mut Draw::new(1, 1))
        .unwrap();
    let absent = (0..5_000).filter_map(|i| match draws.at(i, rows.loaded) {
        DrawnKey::Absent(number) => Some(draws.absent(number)),
        DrawnKey::Row(_) => None,
    });
    let mut counted = 0;
    for (place, last) in absent {
        let mut key = rows.key(place);
        key.pop();
        key.push(last);
        assert!(rows.staged.find(&key).is_err(), "{key:?}");
        counted += 1;
    }
    assert!((850..1_150).contains(&counted), "{counted}");
}

#[test]
fn no_key_is_absent_where_every_value_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let text = r#"
        [table.t]
        rows = 256
        key = ["id"]
        [table.t.columns]
        id = { type = "u8", make = "sequence", from = 0 }
        [phase.p]
        do = "get"
        "#;
    let rows = cell(text, Scale::Rows(256), dir.path()).unwrap().tables.remove(0);
    let refused = OperationKeys::new(&keys(KeysOf::Uniform, 0.5), 10, &rows, &mut Draw::new(1, 1));
    assert!(matches!(refused, Err(WorkloadError::NoAbsentKey { .. })));
}

#[test]
fn deletes_draw_each_row_once() {
    let dir = tempfile::tempdir().unwrap();
    let rows = rows(dir.path(), r#"["station", "time"]"#);
    for (ops, of) in [(500, KeysOf::Zipfian { skew: 0.99 }), (1_900, KeysOf::Uniform)] {
        let keys = Keys { ops: Count::Exactly(ops), of, absent: 0.0, rows: 1 };
        let draws = OperationKeys::distinct(&keys, &rows, &mut Draw::new(1, 1)).unwrap();
        let mut places: Vec<u32> = draws.drawn.clone();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len() as u64, ops);
    }
}

#[test]
fn ranges_are_rows_that_follow_each_other_in_one_group_and_never_overlap() {
    let dir = tempfile::tempdir().unwrap();
    let rows = rows(dir.path(), r#"["station", "time"]"#);
    // Ten stations with 200 rows each have 19 or 20 ranges of ten each.
    for (wanted, got) in [(30, 30..=30), (1_000, 190..=200)] {
        let keys = Keys { ops: Count::Exactly(wanted), of: KeysOf::Uniform, absent: 0.0, rows: 10 };
        let drawn = |seed| OperationKeys::ranges(&keys, &rows, &mut Draw::new(seed, 1));
        let draws = drawn(1);
        let spans: Vec<&[u32]> = (0..draws.drawn.len()).map(|i| draws.span(i)).collect();
        assert!(got.contains(&spans.len()), "{}", spans.len());
        let mut seen = std::collections::HashSet::new();
        for (i, span) in spans.iter().enumerate() {
            assert_eq!(span.len(), 10);
            assert_eq!(draws.at(i, rows.loaded), DrawnKey::Row(span[0] as usize));
            assert!(span.iter().all(|place| seen.insert(*place)), "no row is in two ranges");
            let keys: Vec<_> = span.iter().map(|place| rows.key(*place as usize)).collect();
            // The next row of a station is three rows later.
            for pair in keys.windows(2) {
                assert_eq!(pair[0][0], pair[1][0]);
                let [Value::Int(a), Value::Int(b)] = [pair[0][1], pair[1][1]] else { panic!() };
                assert_eq!(b - a, 3);
            }
        }
        let again = drawn(1);
        assert!((0..spans.len()).all(|i| again.span(i) == spans[i]));
        let other = drawn(2);
        assert!((0..spans.len().min(other.drawn.len())).any(|i| other.span(i) != spans[i]));
    }
}

#[test]
fn a_range_of_a_group_with_fewer_rows_has_them_all() {
    let dir = tempfile::tempdir().unwrap();
    let rows = rows(dir.path(), r#"["station", "time"]"#);
    let keys = Keys { ops: Count::Exactly(99), of: KeysOf::Uniform, absent: 0.0, rows: 500 };
    let draws = OperationKeys::ranges(&keys, &rows, &mut Draw::new(1, 1));
    let lengths: Vec<usize> = (0..draws.drawn.len()).map(|i| draws.span(i).len()).collect();
    assert_eq!(lengths, [200; 10]);
}
