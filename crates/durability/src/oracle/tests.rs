use super::*;
use embermark_contract::DataModel;

use crate::work::{Abilities, BULK_COMMIT, Change, Work};

const PLAN: Plan =
    Plan { seed: 11, abilities: Abilities::for_family(DataModel::Sql), short: None, filling: None };
const PROMISED: Promised = Promised { acknowledged: 50, begun: 51 };

fn work() -> Work {
    PLAN.work(0)
}

/// Judges one client.
fn judge(found: &TableContent, promised: Promised) -> Judgement {
    super::judge(PLAN, found, &[promised])
}

fn judged(verdict: Verdict, last: u64) -> Judgement {
    Judgement { verdict, client: 0, last: Some(vec![last]) }
}

/// The content of a database after this number of commits.
fn after(commits: u64) -> TableContent {
    let work = work().after(commits);
    let rows = work.rows().iter().map(|(key, commit)| (*key, Some(*commit))).collect();
    TableContent { table: true, rows, differs: None }
}

fn verdict(found: &TableContent) -> Verdict {
    judge(found, PROMISED).verdict
}

/// The number and the changes of a commit with several rows, at or below the given number.
fn large(below: u64) -> (u64, Vec<Change>) {
    (1..=below)
        .rev()
        .map(|n| (n, work().after(n - 1).commit().changes))
        .find(|(_, changes)| changes.len() > 10)
        .unwrap()
}

#[test]
fn every_acknowledged_commit_and_perhaps_the_one_under_way_is_right() {
    for last in [50, 51] {
        assert_eq!(judge(&after(last), PROMISED), judged(Verdict::Holds, last));
    }
}

#[test]
fn an_earlier_state_has_lost_commits_and_says_how_many() {
    for last in [1, 2, 30, 49] {
        let lost = judged(Verdict::LostCommits, last);
        assert_eq!(judge(&after(last), PROMISED), lost, "{last}");
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
    let judged = judge(&found, Promised { acknowledged, begun });
    assert_eq!(judged.verdict, Verdict::HalfCommit);
}

#[test]
fn a_commit_that_is_missing_before_a_later_one_is_a_hole() {
    let mut found = after(50);
    // A row that an early commit wrote and none changes later.
    let mut later = work().after(48);
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
fn a_row_that_comes_twice_is_corrupt() {
    let found = after(50);
    let (key, commit) = found.rows.iter().next().map(|(key, commit)| (*key, *commit)).unwrap();
    for second in [commit, Some(BULK_COMMIT)] {
        let mut twice = TableContent { table: true, ..TableContent::default() };
        let rows = found.rows.iter().map(|(key, commit)| (*key, *commit));
        rows.for_each(|(key, commit)| twice.add_row(key, commit));
        assert_eq!(twice, found);
        twice.add_row(key, second);
        assert_eq!(verdict(&twice), Verdict::CorruptRow, "{second:?}");
    }
}

#[test]
fn an_old_version_of_a_row_is_no_right_state() {
    let mut found = after(50);
    let updated = found.rows.iter().find(|(key, commit)| {
        let first = work().after(BULK_COMMIT);
        first.rows().contains_key(key) && **commit != Some(BULK_COMMIT) && **commit != Some(50)
    });
    let key = *updated.unwrap().0;
    found.rows.insert(key, Some(BULK_COMMIT));
    assert_eq!(verdict(&found), Verdict::Hole);
}

#[test]
fn a_table_that_is_gone_is_its_commit_lost_and_none_where_it_was_not_acknowledged() {
    let none = TableContent::default();
    let of_none = |acknowledged| judge(&none, Promised::after(acknowledged));
    assert_eq!(of_none(0), judged(Verdict::Holds, 0));
    for acknowledged in [1, 50] {
        assert_eq!(of_none(acknowledged), judged(Verdict::LostCommits, 0), "{acknowledged}");
    }
    let empty = TableContent { table: true, ..TableContent::default() };
    let judged = |acknowledged| judge(&empty, Promised::after(acknowledged)).verdict;
    assert_eq!([0, 1, 2].map(judged), [Verdict::Holds, Verdict::Holds, Verdict::LostCommits]);
}

#[test]
fn half_of_a_commit_that_only_removes_rows_and_half_of_an_earlier_one_are_seen() {
    // All but one row of the bulk load, with nothing after it.
    let mut found = after(BULK_COMMIT);
    found.rows.pop_first();
    let judged = |acknowledged| judge(&found, Promised::after(acknowledged)).verdict;
    assert_eq!([1, 2, 30].map(judged), [Verdict::HalfCommit; 3]);
    // Only the removals of a commit are present.
    let deletes = |n: &u64| {
        let changes = work().after(n - 1).commit().changes;
        changes.len() > 10 && changes.iter().any(|change| matches!(change, Change::Delete(_)))
    };
    let number = (3..50).find(deletes).unwrap();
    let mut found = after(number - 1);
    for change in work().after(number - 1).commit().changes {
        if let Change::Delete(key) = change {
            found.rows.remove(&key);
        }
    }
    let judged = judge(&found, Promised::after(number - 1));
    assert_eq!(judged.verdict, Verdict::HalfCommit);
}

/// What two clients left after these numbers of commits.
fn of_two(commits: [u64; 2]) -> TableContent {
    let rows = (0..).zip(commits).flat_map(|(client, commits)| {
        let work = PLAN.work(client).after(commits);
        let rows: Vec<_> = work.rows().iter().map(|(key, c)| (*key, Some(*c))).collect();
        rows
    });
    TableContent { table: true, rows: rows.collect(), differs: None }
}

#[test]
fn each_client_is_judged_by_its_own_commits_and_the_worst_is_told() {
    let promised = [Promised::after(50), Promised::after(20)];
    let judge = |found: &TableContent| super::judge(PLAN, found, &promised);
    for last in [[50, 20], [51, 20], [50, 21]] {
        let right = Judgement { verdict: Verdict::Holds, client: 0, last: Some(last.to_vec()) };
        assert_eq!(judge(&of_two(last)), right);
    }
    let lost = Judgement { verdict: Verdict::LostCommits, client: 1, last: Some(vec![50, 18]) };
    assert_eq!(judge(&of_two([50, 18])), lost);
    // A commit of the second client that it had not begun.
    assert_eq!(judge(&of_two([50, 30])).verdict, Verdict::CorruptRow);
    let mut found = of_two([49, 20]);
    let second = *found.rows.range(keys(1)).next().unwrap().0;
    found.rows.insert(second, None);
    let judged = judge(&found);
    assert_eq!((judged.verdict, judged.client, judged.last), (Verdict::CorruptRow, 1, None));
    // A row that belongs to neither.
    let mut found = of_two([50, 20]);
    found.rows.insert(keys(2).start, Some(3));
    assert_eq!(judge(&found).verdict, Verdict::CorruptRow);
}

/// Rows that are loaded together without a transaction: any of the active load may be present, and
/// all of an acknowledged one must be.
#[test]
fn without_transactions_a_part_of_a_commit_is_none_of_it() {
    let plan = Plan { abilities: Abilities::for_family(DataModel::Document), ..PLAN };
    let (number, commit) = (3..)
        .map(|number| (number, plan.work(0).after(number - 1).commit()))
        .find(|(_, commit)| commit.changes.len() > 10)
        .unwrap();
    let before = plan.work(0).after(number - 1);
    let rows = before.rows().iter().map(|(key, c)| (*key, Some(*c)));
    let mut found = TableContent { table: true, rows: rows.collect(), differs: None };
    for change in commit.changes.iter().step_by(3) {
        found.rows.insert(change.key(), Some(number));
    }
    let judge = |found: &TableContent, acknowledged| {
        super::judge(plan, found, &[Promised::after(acknowledged)])
    };
    assert_eq!(judge(&found, number - 1), judged(Verdict::Holds, number - 1));
    assert_eq!(judge(&found, number), judged(Verdict::LostCommits, number - 1));
    // A row of an earlier commit is missing, and a part of the active one does not excuse it.
    found.rows.pop_first();
    assert_eq!(judge(&found, number - 1).verdict, Verdict::Hole);
}

#[test]
fn another_second_copy_is_told_unless_the_pairs_are_worse() {
    let mut found = TableContent { differs: Some("key 1".to_owned()), ..after(50) };
    assert_eq!(judge(&found, PROMISED), judged(Verdict::CopiesDiffer, 50));
    // A loss that a tier may allow does not hide it.
    found.rows = after(30).rows;
    assert_eq!(judge(&found, PROMISED), judged(Verdict::CopiesDiffer, 30));
    found.rows.insert(3, None);
    assert_eq!(verdict(&found), Verdict::CorruptRow);
}

#[test]
fn rows_of_a_refused_load_are_nobodys_when_a_removal_took_its_number() {
    let abilities = Abilities::for_family(DataModel::Document);
    let with = |from, removals| {
        let filling = Some(crate::work::filling::Filling { from, removals });
        Plan { abilities, filling, ..PLAN }
    };
    let mut all = with(0, 0).work(0).after(60);
    let load = std::iter::repeat_with(|| all.commit()).find(|commit| commit.bulk).unwrap();
    let plan = with(load.number, 2);
    let work = plan.work(0).after(load.number + 1);
    let mut rows: BTreeMap<_, _> =
        work.rows().iter().map(|(key, commit)| (*key, Some(*commit))).collect();
    let verdict = |rows: &BTreeMap<_, _>| {
        let found = TableContent { table: true, rows: rows.clone(), differs: None };
        super::judge(plan, &found, &[Promised::after(load.number + 1)]).verdict
    };
    assert_eq!(verdict(&rows), Verdict::Holds);
    let key = load.changes[0].key();
    rows.insert(key, Some(load.number));
    assert_eq!(verdict(&rows), Verdict::Holds);
    // From another commit.
    rows.insert(key, Some(load.number - 1));
    assert_ne!(verdict(&rows), Verdict::Holds);
}
