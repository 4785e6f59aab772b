use super::super::value;
use super::*;
use crate::work::text;

fn pair(key: Key, commit: u64) -> Read {
    Read::of_pair(&key.to_be_bytes(), &value(key, commit))
}

#[test]
fn a_pair_is_a_row_of_its_key_commit_and_text() {
    let (key, bytes, content) = (70_000_u32.to_be_bytes(), value(70_000, 5), text(70_000, 5));
    let mut row = Row::new();
    assert_eq!(Ledger.key(&key, &mut row), Some(()));
    assert_eq!(Ledger.value(&bytes, &mut row), Some(()));
    assert_eq!(*row, [Param::Int(70_000), Param::Int(5), Param::Text(&content)]);
    assert_eq!(row.len(), ROWS.columns.len());
}

#[test]
fn other_bytes_are_no_row() {
    for key in [&[0; 3][..], &[0; 5], &[]] {
        assert_eq!(Ledger.key(key, &mut Row::new()), None);
    }
    let not_text = [&[0; 8][..], &[0xff]].concat();
    for value in [&[0; 7][..], &[], &not_text] {
        assert_eq!(Ledger.value(value, &mut Row::new()), None);
    }
}

#[test]
fn the_first_difference_is_told() {
    let pairs = [pair(1, 2), pair(2, 3), pair(4, 3)];
    let says = |rows: &[Read], what: &str| {
        let told = difference(&pairs, rows).unwrap();
        assert!(told.ends_with(what), "{told}");
    };
    assert_eq!(difference(&pairs, &pairs), None);
    assert_eq!(difference(&[], &[]), None);
    let [first, second, third] = pairs.clone();
    says(&[first.clone(), second.clone()], "key 4 of commit 3 is not there by SQL");
    says(&[second.clone(), third.clone()], "key 1 of commit 2 is not there by SQL");
    says(&[first.clone(), pair(2, 2), third.clone()], "key 2 is of commit 3, by SQL of commit 2");
    let twice = [first.clone(), first.clone(), second.clone(), third.clone()];
    says(&twice, "key 1 of commit 2 is there by SQL alone");
    let more = [first.clone(), second.clone(), third.clone(), pair(9, 9)];
    says(&more, "key 9 of commit 9 is there by SQL alone");
    let other = Read { content: b"x".to_vec(), ..second };
    says(&[first, other, third], "key 2 of commit 3 has another text by SQL");
}
