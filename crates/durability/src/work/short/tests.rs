use super::*;
use embermark_contract::DataModel;

use crate::work::{Abilities, Commit, Rows};

fn plan(place: usize) -> Plan {
    Plan { seed: 0, abilities: Abilities::of(DataModel::Sql), short: Some(place), filling: None }
}

fn all(place: usize) -> Vec<Commit> {
    let mut work = plan(place).work(0);
    let count = MADE as usize + commits(place).count();
    (0..count).map(|_| work.commit()).collect()
}

#[test]
fn the_begin_of_each_is_one_too_and_none_is_there_twice() {
    for (place, steps) in WORKS.iter().enumerate() {
        assert!(steps.len() <= if place < OF_TWO { 2 } else { 3 }, "{steps:?}");
        assert!(place < OF_TWO || steps.len() == 3, "{steps:?}");
        if let Some((_, before)) = steps.split_last() {
            assert!(WORKS[..place].contains(&before), "{steps:?}");
        }
        assert!(!WORKS[..place].contains(steps), "{steps:?}");
        assert_ne!(steps.first(), Some(&Maintain), "it follows a commit");
        let later = steps.get(1..).unwrap_or_default();
        assert!(!later.contains(&Bulk), "into an empty table alone: {steps:?}");
    }
}

#[test]
fn each_commit_does_something_and_only_what_can_be_done() {
    for (place, steps) in WORKS.iter().enumerate() {
        let commits = all(place);
        let mut rows = Rows::new();
        for commit in &commits[1..] {
            assert!(!commit.changes.is_empty(), "{} {}", Named(place), commit.number);
            assert!(commit.changes.is_sorted_by_key(|change| change.key()));
            for change in &commit.changes {
                let was = match change {
                    Change::Insert(key) | Change::Update(key) => rows.insert(*key, commit.number),
                    Change::Delete(key) => rows.remove(key),
                };
                assert_eq!(was.is_none(), matches!(change, Change::Insert(_)), "{change:?}");
            }
        }
        let maintained = commits.iter().filter(|commit| commit.maintained).count();
        let asked = steps.iter().filter(|step| **step == Maintain).count();
        assert_eq!(maintained, asked, "{}", Named(place));
        assert_eq!(commits.iter().any(|c| c.bulk), steps.contains(&Bulk));
    }
}

#[test]
fn its_states_begin_with_its_last_operation() {
    let begun = |steps: &[Step]| {
        let place = WORKS.iter().position(|work| *work == steps).unwrap();
        plan(place).covered()
    };
    assert_eq!(begun(&[]), 0);
    assert_eq!(begun(&[Insert]), 1);
    assert_eq!(begun(&[Insert, Maintain]), 2);
    assert_eq!(begun(&[Insert, Maintain, Update]), 2);
    assert_eq!(begun(&[Insert, Update, Delete]), 3);
}

#[test]
fn what_comes_after_it_is_drawn() {
    let mut work = plan(1).work(0).after(2);
    let later: Vec<Commit> = (0..50).map(|_| work.commit()).collect();
    assert!(later.iter().any(|commit| commit.changes.len() > 10));
    assert_eq!(later[0].number, 3);
}
