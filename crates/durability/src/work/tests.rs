use super::*;

fn work(seed: u64) -> Work {
    Plan { seed, abilities: Abilities::of(DataModel::Sql), short: None, filling: None }.work(0)
}

#[test]
fn the_commits_follow_from_the_seed_and_can_be_taken_up_anywhere() {
    let all: Vec<Commit> = {
        let mut work = work(7);
        (0..200).map(|_| work.commit()).collect()
    };
    let mut later = work(7).after(150);
    assert!(all[150..].iter().all(|commit| *commit == later.commit()));
    let mut other = work(8);
    assert!(all[2..].iter().any(|commit| *commit != other.commit()));
}

#[test]
fn they_are_of_every_kind() {
    let mut work = work(1);
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
    let mut work = work(3);
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

#[test]
fn clients_have_works_and_rows_of_their_own() {
    let plan =
        Plan { seed: 5, abilities: Abilities::of(DataModel::Sql), short: None, filling: None };
    let [first, second] = [0, 1].map(|client| plan.work(client).after(100));
    assert!(first.rows().keys().all(|key| keys(0).contains(key)));
    assert!(second.rows().keys().all(|key| keys(1).contains(key)));
    let [first, second] = [first, second].map(|work| work.rows().len());
    assert_ne!(first, second, "another seed");
    assert!(keys(MOST_CLIENTS - 1).end > keys(MOST_CLIENTS - 1).start);
}

#[test]
fn a_family_is_asked_for_what_it_promises_alone() {
    let commits = |family| {
        let mut work =
            Plan { seed: 9, abilities: Abilities::of(family), short: None, filling: None }.work(0);
        (0..300).map(|_| work.commit()).collect::<Vec<Commit>>()
    };
    for family in [DataModel::Document, DataModel::Series] {
        let (mut updates, mut deletes) = (0, 0);
        for commit in commits(family) {
            let inserts = commit.changes.iter().filter(|c| matches!(c, Change::Insert(_))).count();
            updates += commit.changes.iter().filter(|c| matches!(c, Change::Update(_))).count();
            deletes += commit.changes.iter().filter(|c| matches!(c, Change::Delete(_))).count();
            let several = commit.changes.len() > 1;
            assert_eq!(commit.bulk, several, "{commit:?}");
            assert!(!several || inserts == commit.changes.len(), "{commit:?}");
        }
        assert!(updates > 20, "{updates}");
        assert_eq!(deletes > 10, family == DataModel::Document, "{deletes}");
    }
}
