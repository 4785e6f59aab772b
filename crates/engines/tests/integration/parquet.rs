//! Parquet files: what is in a file after an error, and after another table is dropped.

use std::fs;
use std::path::Path;

use embermark_engines::sql::{Param, ResultRow, SqlStore};
use embermark_engines::{OpenOptions, Scope, Store, registry};
use embermark_model::Durability;
use embermark_skips::is_here;

/// Opens the database in a folder, unless DuckDB is not here.
fn open(dir: &Path) -> Option<Box<dyn SqlStore>> {
    let engine = registry::find("parquet").unwrap();
    if !is_here(engine) {
        return None;
    }
    let options = OpenOptions::new(dir, Durability::Process, 32 << 20);
    let Store::Sql(sql) = engine.open(&options).unwrap().store else { panic!("no SQL") };
    Some(sql)
}

/// Returns the numbers of a table of one column.
fn numbers(sql: &mut dyn SqlStore, table: &str) -> Vec<i64> {
    let all = sql.prepare(&format!("SELECT a FROM {table} ORDER BY a")).unwrap();
    let mut numbers = Vec::new();
    let mut see = |row: &dyn ResultRow| {
        numbers.extend(row.int(0)?);
        Ok(())
    };
    sql.query(all, &[], &mut see).unwrap();
    numbers
}

#[test]
fn a_folder_of_any_letters_is_opened_and_one_that_would_be_a_pattern_is_unsupported() {
    let folder = tempfile::tempdir().unwrap();
    let made = |name: &str| {
        let made = folder.path().join(name);
        fs::create_dir(&made).unwrap();
        made
    };
    for name in ["it's jörg's", "{a,b} #1 %20"] {
        let Some(mut sql) = open(&made(name)) else { return };
        sql.batch("CREATE TABLE t (a BIGINT)").unwrap();
        sql.batch("INSERT INTO t VALUES (1)").unwrap();
        assert_eq!(numbers(&mut *sql, "t"), [1], "{name}");
        sql.close().unwrap();
    }
    for name in ["a\\b", "a*", "a?", "[a]"] {
        let options = OpenOptions::new(made(name), Durability::Process, 32 << 20);
        // The archive of a hybrid is Parquet files too.
        for engine in ["parquet", "hybrid", "hybrid-bdb"] {
            let engine = registry::find(engine).unwrap();
            let error = engine.open(&options).err().unwrap();
            assert!(error.is_unsupported(), "{error}");
            assert!(error.to_string().contains("choose another"), "{error}");
        }
    }
}

#[test]
fn a_commit_that_fails_leaves_nothing_and_the_next_one_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut sql) = open(folder.path()) else { return };
    sql.batch("CREATE TABLE t (a BIGINT)").unwrap();
    let insert = sql.prepare("INSERT INTO t VALUES (?)").unwrap();
    // A folder in place of the file of the next commit.
    let obstacle = folder.path().join("t/0000000001-0000000001.parquet");
    fs::create_dir(&obstacle).unwrap();
    let failed = sql.within(Scope::Batch, |sql| sql.run(insert, &[Param::Int(1)]));
    let error = failed.unwrap_err().to_string();
    assert!(error.contains("rename"), "{error}");
    fs::remove_dir(&obstacle).unwrap();
    assert_eq!(numbers(&mut *sql, "t"), [0; 0]);
    sql.within(Scope::Batch, |sql| sql.run(insert, &[Param::Int(2)])).unwrap();
    assert_eq!(numbers(&mut *sql, "t"), [2]);
    sql.close().unwrap();
}

#[test]
fn what_is_inserted_after_another_table_is_dropped_is_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut sql) = open(folder.path()) else { return };
    sql.batch("CREATE TABLE one (a BIGINT)").unwrap();
    sql.batch("CREATE TABLE two (a BIGINT)").unwrap();
    let [one, two] = ["one", "two"]
        .map(|table| sql.prepare(&format!("INSERT INTO {table} VALUES (?)")).unwrap());
    sql.run(two, &[Param::Int(1)]).unwrap();
    sql.batch("DROP TABLE IF EXISTS one").unwrap();
    sql.run(two, &[Param::Int(2)]).unwrap();
    let error = sql.run(one, &[Param::Int(3)]).unwrap_err().to_string();
    assert!(error.contains("dropped"), "{error}");
    sql.batch("CREATE TABLE one (a BIGINT)").unwrap();
    sql.close().unwrap();
    let mut sql = open(folder.path()).unwrap();
    assert_eq!(numbers(&mut *sql, "two"), [1, 2]);
    assert_eq!(numbers(&mut *sql, "one"), [0; 0]);
    sql.close().unwrap();
}
