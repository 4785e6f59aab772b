use super::*;

#[test]
fn the_commits_follow_from_the_seed_and_can_be_taken_up_anywhere() {
    let all: Vec<Commit> = {
        let mut work = Work::new(7);
        (0..200).map(|_| work.commit()).collect()
    };
    let mut later = Work::new(7).after(150);
    assert!(all[150..].iter().all(|commit| *commit == later.commit()));
    let mut other = Work::new(8);
    assert!(all[2..].iter().any(|commit| *commit != other.commit()));
}

#[test]
fn they_are_of_every_kind() {
    let mut work = Work::new(1);
    let commits: Vec<Commit> = (0..300).map(|_| work.commit()).collect();
    assert!(commits[0].changes.is_empty(), "the table is made");
    assert!(commits[1].bulk && commits[1].changes.len() == LOADED as usize);
    let later = &commits[2..];
    assert!(
        later.iter().any(|c| c.changes.len() == 1) && later.iter().any(|c| c.changes.len() > 50)
    );
    assert!(later.iter().all(|c| c.changes.len() <= MOST_CHANGES as usize && !c.bulk));
    let changes: Vec<Change> = later.iter().flat_map(|c| c.changes.clone()).collect();
    let deleted = changes.iter().filter(|c| matches!(c, Change::Delete(_))).count();
    assert!(deleted > 100 && deleted < changes.len() / 2, "{deleted} of {}", changes.len());
    assert!(later.iter().filter(|c| c.maintained).count() >= 5);
}

#[test]
fn the_rows_are_what_the_changes_made_in_their_order() {
    let mut work = Work::new(3);
    let mut rows = Rows::new();
    for _ in 0..200 {
        let commit = work.commit();
        for change in &commit.changes {
            match change {
                Change::Insert(key) | Change::Update(key) => rows.insert(*key, commit.number),
                Change::Delete(key) => Some(rows.remove(key).unwrap()),
            };
        }
        assert_eq!(rows, *work.rows(), "{}", commit.number);
    }
}
