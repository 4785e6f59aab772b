use std::path::Path;

use embermark_contract::{EngineError, OpenOptions, Store};
use embermark_engines::registry::ENGINES;
use embermark_hybrid::{Hybrid, Options};
use embermark_model::Durability;
use embermark_skips::is_here;

use super::*;
use crate::work::{Abilities, Plan};

const PLAN: Plan = Plan {
    seed: 3,
    abilities: Abilities::of(embermark_contract::DataModel::KeyValue),
    short: None,
    filling: None,
};

fn open(id: &str, folder: &Path) -> Result<Store> {
    let engine = ENGINES.iter().find(|engine| engine.info().id == id).unwrap();
    std::fs::create_dir_all(folder).unwrap();
    let options = OpenOptions::new(folder, Durability::Process, 16 << 20);
    engine.open(&OpenOptions { clients: 4, ..options }).map(|opened| opened.store)
}

/// A ledger in a store that keeps its tables in columns, too.
fn ledger(folder: &Path) -> KvLedger {
    let Ok(Store::Kv(front)) = open("lmdb", &folder.join("front")) else { panic!("lmdb") };
    let mirror = |folder: &Path| match open("duckdb", folder)? {
        Store::Sql(sql) => Ok(sql),
        _ => Err(EngineError::unsupported("duckdb", "SQL")),
    };
    let options = Options::new(folder.join("mirror"), std::sync::Arc::new(mirror));
    KvLedger::new(Box::new(Hybrid::open(front, options).unwrap())).unwrap()
}

fn are_here() -> bool {
    let needed = ENGINES.iter().filter(|engine| ["lmdb", "duckdb"].contains(&engine.info().id));
    needed.filter(|engine| is_here(**engine)).count() == 2
}

#[test]
fn both_copies_are_compared_after_changes_that_came_between_questions() {
    if !are_here() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let mut work = PLAN.work(0);
    for _ in 0..2 {
        let mut ledger = ledger(&folder);
        for _ in 0..50 {
            ledger.commit(&work.commit()).unwrap();
        }
        let found = ledger.found().unwrap();
        let rows = work.rows().iter().map(|(key, commit)| (*key, Some(*commit))).collect();
        assert_eq!(found, Found { table: true, rows, differs: None });
        Box::new(ledger).close().unwrap();
    }
}

#[test]
fn a_row_that_is_not_its_pair_is_told() {
    if !are_here() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut ledger = ledger(&folder.path().canonicalize().unwrap());
    let mut work = PLAN.work(0);
    for _ in 0..2 {
        ledger.commit(&work.commit()).unwrap();
    }
    let told = |ledger: &mut KvLedger, change: &str| {
        let (sql, _) = ledger.store.mirror().unwrap().sql().unwrap();
        sql.batch(change).unwrap();
        ledger.found().unwrap().differs
    };
    let says = "the rows are not the pairs: key 7 is of commit 2, by SQL of commit 9";
    let change = "UPDATE ledger_hot SET commit_number = 9 WHERE id = 7";
    assert_eq!(told(&mut ledger, change).unwrap(), says);
    let says = "the rows are not the pairs: key 0 of commit 2 is not there by SQL";
    assert_eq!(told(&mut ledger, "DELETE FROM ledger_hot WHERE id = 0").unwrap(), says);
}
