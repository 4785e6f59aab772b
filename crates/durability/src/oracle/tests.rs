use super::*;
use crate::work::{BULK, Change};

const SEED: u64 = 11;
const PROMISED: Promised = Promised { acknowledged: 50, begun: 51 };

/// What a database holds after so many commits.
fn after(commits: u64) -> Found {
    let work = Work::new(SEED).after(commits);
    let rows = work.rows().iter().map(|(key, commit)| (*key, Some(*commit))).collect();
    Found { table: true, rows }
}

fn verdict(found: &Found) -> Verdict {
    judge(SEED, found, PROMISED).verdict
}

/// The number and the changes of a commit of several rows, at or below the one given.
fn large(below: u64) -> (u64, Vec<Change>) {
    (1..=below)
        .rev()
        .map(|n| (n, Work::new(SEED).after(n - 1).commit().changes))
        .find(|(_, changes)| changes.len() > 10)
        .unwrap()
}

#[test]
fn every_acknowledged_commit_and_perhaps_the_one_under_way_is_right() {
    for last in [50, 51] {
        let judged = judge(SEED, &after(last), PROMISED);
        assert_eq!(judged, Judged { verdict: Verdict::Holds, last: Some(last) });
    }
}

#[test]
fn an_earlier_state_has_lost_commits_and_says_how_many() {
    for last in [1, 2, 30, 49] {
        let judged = judge(SEED, &after(last), PROMISED);
        assert_eq!(judged, Judged { verdict: Verdict::LostCommits, last: Some(last) }, "{last}");
    }
}

#[test]
fn some_changes_of_the_last_commit_are_half_a_commit() {
    let (number, changes) = large(51);
    let (begun, acknowledged) = (number, number - 1);
    let mut found = after(number - 1);
    for change in &changes[..5] {
        match change {
            Change::Insert(key) | Change::Update(key) => found.rows.insert(*key, Some(number)),
            Change::Delete(key) => found.rows.remove(key),
        };
    }
    let judged = judge(SEED, &found, Promised { acknowledged, begun });
    assert_eq!(judged.verdict, Verdict::HalfCommit);
}

#[test]
fn a_commit_that_is_missing_before_a_later_one_is_a_hole() {
    let mut found = after(50);
    // A row that an early commit put and none touches later.
    let mut later = Work::new(SEED).after(48);
    let later: Vec<_> = (49..=51).flat_map(|_| later.commit().changes).map(Change::key).collect();
    let early = |(key, commit): &(&Key, &Option<u64>)| {
        commit.is_some_and(|c| c < 20) && !later.contains(key)
    };
    let (key, _) = found.rows.iter().find(early).unwrap();
    let key = *key;
    found.rows.remove(&key);
    assert_eq!(verdict(&found), Verdict::Hole);
}

#[test]
fn a_row_of_nobody_or_of_a_commit_not_begun_is_corrupt() {
    for wrong in [None, Some(52)] {
        let mut found = after(50);
        *found.rows.values_mut().next().unwrap() = wrong;
        assert_eq!(verdict(&found), Verdict::CorruptRow);
    }
}

#[test]
fn an_old_version_of_a_row_is_no_right_state() {
    let mut found = after(50);
    let updated = found.rows.iter().find(|(key, commit)| {
        let first = Work::new(SEED).after(BULK);
        first.rows().contains_key(key) && **commit != Some(BULK) && **commit != Some(50)
    });
    let key = *updated.unwrap().0;
    found.rows.insert(key, Some(BULK));
    assert_eq!(verdict(&found), Verdict::Hole);
}

#[test]
fn a_table_that_is_gone_is_its_commit_lost_and_none_where_it_was_not_acknowledged() {
    let none = Found::default();
    let judged = |acknowledged| judge(SEED, &none, Promised::after(acknowledged));
    assert_eq!(judged(0), Judged { verdict: Verdict::Holds, last: Some(0) });
    for acknowledged in [1, 50] {
        let lost = Judged { verdict: Verdict::LostCommits, last: Some(0) };
        assert_eq!(judged(acknowledged), lost, "{acknowledged}");
    }
    let empty = Found { table: true, ..Found::default() };
    let judged = |acknowledged| judge(SEED, &empty, Promised::after(acknowledged)).verdict;
    assert_eq!([0, 1, 2].map(judged), [Verdict::Holds, Verdict::Holds, Verdict::LostCommits]);
}

#[test]
fn half_of_a_commit_that_only_removes_rows_and_half_of_an_earlier_one_are_seen() {
    // The whole of the bulk load but one row, with nothing after it.
    let mut found = after(BULK);
    found.rows.pop_first();
    let judged = |acknowledged| judge(SEED, &found, Promised::after(acknowledged)).verdict;
    assert_eq!([1, 2, 30].map(judged), [Verdict::HalfCommit; 3]);
    // Only removals of a commit are there.
    let deletes = |n: &u64| {
        let changes = Work::new(SEED).after(n - 1).commit().changes;
        changes.len() > 10 && changes.iter().any(|change| matches!(change, Change::Delete(_)))
    };
    let number = (3..50).find(deletes).unwrap();
    let mut found = after(number - 1);
    for change in Work::new(SEED).after(number - 1).commit().changes {
        if let Change::Delete(key) = change {
            found.rows.remove(&key);
        }
    }
    let judged = judge(SEED, &found, Promised::after(number - 1));
    assert_eq!(judged.verdict, Verdict::HalfCommit);
}
