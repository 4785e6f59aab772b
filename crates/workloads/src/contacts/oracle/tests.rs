use embermark_data::contacts::{self, CHOSEN_STATE, CHOSEN_ZIP, PUBLISHED_ROWS};
use embermark_model::answer::Answer;

use super::*;

const STATE: Column = Column::State;
const ZIP: Column = Column::Zip;

/// Contact 1 has the chosen state, 2 the chosen zip, 3 both, 4 neither.
fn four() -> Oracle {
    let contacts = (1..=4).map(|id| Contact {
        id,
        lastname: ArrayString::from("Smith").unwrap(),
        firstname: ArrayString::from("Ann").unwrap(),
        street: ArrayString::from("1 Main Street").unwrap(),
        city: ArrayString::from("Springfield").unwrap(),
        state: ArrayString::from(if id % 2 == 1 { CHOSEN_STATE } else { "CA" }).unwrap(),
        zip: ArrayString::from(if matches!(id, 2 | 3) { CHOSEN_ZIP } else { "12345-6789" })
            .unwrap(),
        country: ArrayString::from("United States").unwrap(),
        phone: ArrayString::from("+1-5551234567").unwrap(),
    });
    Oracle { contacts: contacts.collect(), drawn: vec![4, 1, 4], reads: true }
}

/// What is said of a store that holds these rows.
fn said(step: Phase, ops: u64, rows: &[Contact]) -> String {
    let oracle = four();
    let mut content = ReadBack::new(&oracle, step, ops);
    rows.iter().for_each(|row| content.see(&Stored::of(row)));
    content.finish().err().map_or_else(String::new, |difference| difference.to_string())
}

fn checksum(ids: &[usize]) -> Answer {
    let rows = four().contacts;
    Answer::Checksum(ids.iter().map(|id| Stored::of(&rows[id - 1]).fingerprint()).collect())
}

#[test]
fn the_rows_chosen_are_as_many_as_published() {
    let oracle = Oracle {
        contacts: contacts::generate(PUBLISHED_ROWS, 42).collect(),
        drawn: vec![1; 250],
        reads: true,
    };
    let ops = Phase::ALL.map(|step| oracle.ops(step));
    assert_eq!(ops, [250, 25_000, 10_000, 5_000, 10_000, 5_000, 10_000, 5_000]);
}

#[test]
fn the_answers_of_four_rows_are_those_found_by_hand() {
    let oracle = four();
    let right = |step, ops, answer: Answer| oracle.answer(step, ops).check(&answer).is_ok();
    assert!(right(Phase::OpenClose, 3, checksum(&[4, 1, 4])));
    assert!(right(Phase::OpenClose, 2, checksum(&[1, 4])));
    assert!(!right(Phase::OpenClose, 3, checksum(&[4, 1, 1])));
    assert!(right(Phase::Select(STATE), 2, checksum(&[3, 1])));
    assert!(right(Phase::Select(ZIP), 2, checksum(&[2, 3])));
    for wrong in [&[2][..], &[2, 4], &[2, 3, 3], &[2, 3, 4], &[]] {
        assert!(!right(Phase::Select(ZIP), 2, checksum(wrong)), "{wrong:?}");
    }
    assert!(right(Phase::Update(STATE), 2, Answer::Count(2)));
    assert!(!right(Phase::Delete(ZIP), 2, Answer::Count(3)));
}

#[test]
fn an_update_by_one_column_sets_the_other_of_the_rows_chosen_alone() {
    let mut rows = four().contacts;
    for id in [1, 3] {
        rows[id - 1].zip = ArrayString::from("ZZZZZ-ZZZZ").unwrap();
    }
    assert_eq!(said(Phase::Update(STATE), 2, &rows), "");
    rows[1].zip = rows[0].zip;
    let text = r#"row 2, column zip: expected "78701-2019", found "ZZZZZ-ZZZZ""#;
    assert_eq!(said(Phase::Update(STATE), 2, &rows), text);

    let mut rows = four().contacts;
    rows[1].state = ArrayString::from("ZZ").unwrap();
    let text = r#"row 3, column state: expected "ZZ", found "TX""#;
    assert_eq!(said(Phase::Update(ZIP), 2, &rows), text);
    rows[2].state = rows[1].state;
    rows.reverse();
    assert_eq!(said(Phase::Update(ZIP), 2, &rows), "");
}

#[test]
fn a_delete_leaves_the_rows_not_chosen_and_those_alone() {
    let rows = four().contacts;
    assert_eq!(said(Phase::Delete(STATE), 2, &[rows[3], rows[1]]), "");
    assert_eq!(said(Phase::Delete(ZIP), 2, &[rows[0], rows[3]]), "");
    let text = said(Phase::Delete(ZIP), 2, &[rows[0], rows[1], rows[3]]);
    assert!(text.starts_with("row 2 (Smith, Ann, ") && text.ends_with("not be in the store"));
    let text = said(Phase::Delete(ZIP), 2, &[rows[3]]);
    assert!(text.starts_with("row 1 (") && text.ends_with("is missing"), "{text}");
}

#[test]
fn a_row_twice_and_a_row_from_nowhere_are_noticed() {
    let rows = four().contacts;
    let twice = [rows[0], rows[1], rows[0], rows[2], rows[3]];
    assert_eq!(said(Phase::Insert, 4, &twice), "row 1 is in the store twice");
    let mut strange = rows.clone();
    strange.push(Contact { id: 5, ..rows[0] });
    assert!(said(Phase::Insert, 4, &strange).starts_with("row 5 ("));
}

#[test]
fn an_insert_that_ended_early_left_its_first_rows() {
    let rows = four().contacts;
    assert_eq!(said(Phase::Insert, 4, &rows), "");
    assert_eq!(said(Phase::Insert, 2, &rows[..2]), "");
    assert!(said(Phase::Insert, 2, &rows[..1]).ends_with("is missing"));
    assert!(said(Phase::Insert, 2, &rows[..3]).ends_with("should not be in the store"));
}

#[test]
fn a_change_that_ended_early_changed_as_many_rows_as_it_says_whichever() {
    let rows = four().contacts;
    assert_eq!(said(Phase::Delete(STATE), 1, &rows[1..]), "");
    assert_eq!(said(Phase::Delete(STATE), 1, &[rows[0], rows[1], rows[3]]), "");
    let text = "expected 1 rows changed in the store, found 0";
    assert_eq!(said(Phase::Delete(STATE), 1, &rows), text);
    let mut updated = rows.clone();
    updated[2].zip = ArrayString::from("ZZZZZ-ZZZZ").unwrap();
    assert_eq!(said(Phase::Update(STATE), 1, &updated), "");
    updated[0].zip = updated[2].zip;
    assert!(said(Phase::Update(STATE), 1, &updated).ends_with("found 2"));
}
