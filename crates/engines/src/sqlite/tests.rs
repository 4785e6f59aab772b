//! Tests of SQLite's own behaviour. `tests/integration/sql.rs` tests what all SQL engines have in
//! common.

use embermark_model::Durability;

use super::*;
use crate::Engine;
use crate::sql::{Dialect, Nullable, Param, SqlType, TableDef};

fn options(durability: Durability) -> (tempfile::TempDir, OpenOptions) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_owned();
    (folder, OpenOptions::new(dir, durability, 8 << 20))
}

#[test]
fn the_pragmas_of_each_tier_are_in_force() {
    let [alone, shared, clients] = [(1, false), (1, true), (2, false)];
    let expected = [
        (Durability::None, alone, ["memory", "0", "-8192", "4096", "exclusive", "1000", "0"]),
        (Durability::None, shared, ["memory", "0", "-8192", "4096", "exclusive", "1000", "0"]),
        (Durability::Process, alone, ["wal", "0", "-8192", "4096", "exclusive", "1000", "0"]),
        (Durability::Process, shared, ["wal", "0", "-8192", "4096", "normal", "1000", "0"]),
        (Durability::Process, clients, ["wal", "0", "-8192", "4096", "normal", "1000", "0"]),
        (Durability::Power, alone, ["wal", "2", "-8192", "4096", "exclusive", "1000", "0"]),
        (Durability::Power, shared, ["wal", "2", "-8192", "4096", "normal", "1000", "0"]),
    ];
    for (durability, (clients, shared), values) in expected {
        let (_folder, options) = options(durability);
        let options = OpenOptions { clients, shared, ..options };
        let mut settings = ENGINE.open(&options).unwrap().settings;
        settings.retain(|(name, _)| name != MEMORY_STATISTICS);
        let wanted = PRAGMAS.into_iter().zip(values).map(|(n, v)| (n.to_owned(), v.to_owned()));
        assert_eq!(settings, wanted.collect::<Vec<_>>(), "{durability}");
    }
}

#[test]
fn who_shares_a_database_waits_for_the_others() {
    for settings in [vec![], vec![("journal_mode".to_owned(), "DELETE".to_owned())]] {
        let (_folder, options) = options(Durability::Process);
        let options = OpenOptions { shared: true, settings, ..options };
        let first = connect(&options, Client::First).unwrap();
        let second = connect(&options, Client::Further).unwrap();
        for client in [first, second] {
            let patience = client.pragma_query_value(None, "busy_timeout", |row| row.get(0));
            assert_eq!(patience, Ok(i64::try_from(PATIENCE.as_millis()).unwrap()));
        }
    }
}

#[test]
fn a_log_has_the_files_beside_the_database_that_its_candidate_names() {
    let wal = SETTINGS.candidates.iter().find(|one| one.set == [("journal_mode", "WAL")]).unwrap();
    assert!(wal.trades.starts_with("one more file") && wal.trades.contains("two without"));
    for (locking_mode, others) in [("EXCLUSIVE", 1), ("NORMAL", 2)] {
        let (_folder, options) = options(Durability::Power);
        let settings = [("journal_mode", "WAL"), ("locking_mode", locking_mode)];
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let options = OpenOptions { settings, ..options };
        let connection = connect(&options, Client::First).unwrap();
        connection.execute_batch("CREATE TABLE t (a INTEGER)").unwrap();
        let files = std::fs::read_dir(&options.dir).unwrap().count();
        assert_eq!(files, 1 + others, "{locking_mode}");
    }
}

#[test]
fn who_has_a_database_alone_shares_nothing_and_keeps_it_to_itself() {
    for durability in [Durability::Process, Durability::Power] {
        let (_folder, options) = options(durability);
        let write = |options: &OpenOptions| {
            let mut store = ENGINE.open(options).unwrap().store;
            let Store::Sql(sql) = &mut store else { panic!("no store of SQL") };
            sql.batch("CREATE TABLE IF NOT EXISTS t (a INTEGER); INSERT INTO t VALUES (1)")
                .unwrap();
            store
        };
        let shared_memory = options.dir.join(format!("{FILE}-shm"));
        let mut store = write(&options);
        assert!(!shared_memory.exists(), "{durability}");
        let other = Connection::open(options.dir.join(FILE)).unwrap();
        other.busy_timeout(std::time::Duration::ZERO).unwrap();
        let error = other.query_row("SELECT COUNT(*) FROM t", [], |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("locked"), "{error}");
        let error = store.lifecycle().open_client().err().unwrap();
        assert!(error.is_unsupported() && error.to_string().contains("EXCLUSIVE"), "{error}");
        store.close().unwrap();
        let store = write(&OpenOptions { shared: true, ..options });
        assert!(shared_memory.exists(), "{durability}");
        let count = other.query_row("SELECT COUNT(*) FROM t", [], |row| row.get::<_, i64>(0));
        assert_eq!(count, Ok(2), "{durability}");
        store.close().unwrap();
    }
}

#[test]
fn a_table_is_stored_by_its_key() {
    type Columns = &'static [(&'static str, SqlType, Nullable)];
    const COLUMNS: Columns =
        &[("id", SqlType::Big, Nullable::No), ("w", SqlType::Text, Nullable::Yes)];
    let create =
        |key| dialect::SqliteDialect.create_table(&TableDef { name: "t", columns: COLUMNS, key });
    let columns = "CREATE TABLE t (id INTEGER NOT NULL, w TEXT, PRIMARY KEY";
    assert_eq!(create(&["id"]), format!("{columns} (id))"));
    assert_eq!(create(&["id", "w"]), format!("{columns} (id, w)) WITHOUT ROWID"));
    assert_eq!(create(&["w"]), format!("{columns} (w)) WITHOUT ROWID"));
}

#[test]
fn a_table_of_wide_rows_keeps_its_row_numbers() {
    let named = ["k", "a", "b", "c", "d", "e", "f"].map(|name| (name, SqlType::Text, Nullable::No));
    let create = |columns: usize| {
        let columns = Vec::leak(named[..columns].to_vec());
        dialect::SqliteDialect.create_table(&TableDef { name: "t", columns, key: &["k"] })
    };
    assert!(create(6).ends_with("WITHOUT ROWID"), "{}", create(6));
    assert!(create(7).ends_with("PRIMARY KEY (k))"), "{}", create(7));
}

#[test]
fn a_statement_is_not_planned_again_for_new_parameters() {
    let (_folder, options) = options(Durability::None);
    let path = options.dir.join(FILE);
    count_no_memory();
    let connection = Rc::new(Connection::open(path).unwrap());
    configure(&connection, &options, Client::First).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE t (s INTEGER, ts INTEGER, PRIMARY KEY (s, ts)) WITHOUT ROWID;
             WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
             INSERT INTO t SELECT i % 10, i FROM n; ANALYZE",
        )
        .unwrap();
    let next = "SELECT ts FROM t WHERE s = ?1 AND ts >= ?2 ORDER BY ts LIMIT 1";
    let next = statement::Prepared::new(&connection, next).unwrap();
    for ts in (0..5_000).map(|i| i * 10) {
        let mut found = None;
        let wanted = [Param::Int(3), Param::Int(ts % 9_000)];
        let mut visit = |row: &dyn crate::sql::ResultRow| {
            found = row.int(0)?;
            Ok(())
        };
        next.query(&wanted, &mut visit).unwrap();
        assert_eq!(found, Some(ts % 9_000 + 3));
    }
    assert!(next.times_planned_again() <= 1, "{}", next.times_planned_again());
}

#[test]
fn a_text_of_no_statement_or_of_two_is_refused() {
    count_no_memory();
    let connection = Rc::new(Connection::open_in_memory().unwrap());
    for sql in ["", " -- only a remark", "SELECT 1; SELECT 2"] {
        let error = statement::Prepared::new(&connection, sql).err().unwrap().to_string();
        assert!(error.contains("statement"), "{error}");
    }
    statement::Prepared::new(&connection, "SELECT 1; \n").unwrap();
}

#[test]
fn pragmas_that_are_pasted_into_a_program_give_it_the_same_settings() {
    let (_folder, options) = options(Durability::Power);
    let settings = vec![("page_size".to_owned(), "8192".to_owned())];
    let options = OpenOptions { settings, ..options };
    let read_back = ENGINE.open(&options).unwrap().settings;
    let given = read_back.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let set = SETTINGS.set_by_embermark(given).chain([("page_size", "8192")]);
    let pasted = SETTINGS.in_a_program(set).join("\n");
    assert!(pasted.contains("PRAGMA synchronous = 2;"), "{pasted}");
    let elsewhere = tempfile::tempdir().unwrap();
    let program = rusqlite::Connection::open(elsewhere.path().join("its.db")).unwrap();
    program.execute_batch(&pasted).unwrap();
    program.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1);").unwrap();
    let pragma = |name: &str| -> String {
        let value =
            program.pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0));
        match value.unwrap() {
            rusqlite::types::Value::Text(text) => text,
            rusqlite::types::Value::Integer(number) => number.to_string(),
            other => panic!("{other:?}"),
        }
    };
    for (name, value) in read_back.iter().filter(|(name, _)| name != MEMORY_STATISTICS) {
        assert_eq!(&pragma(name), value, "{name}");
    }
}

/// SQLite stores it as NULL, and no question could tell it from a missing value then.
#[test]
fn a_number_that_would_be_stored_as_null_is_refused_and_nothing_of_its_row_stays() {
    let (_folder, options) = options(Durability::None);
    let mut opened = ENGINE.open(&options).unwrap();
    let Store::Sql(sql) = &mut opened.store else { panic!("no store of SQL") };
    sql.batch("CREATE TABLE t (a REAL)").unwrap();
    let insert = sql.prepare("INSERT INTO t VALUES (?)").unwrap();
    let refused = sql.run(insert, &[Param::Float(f64::NAN)]).unwrap_err().to_string();
    assert!(refused.contains("NaN") && refused.contains("INSERT"), "{refused}");
    for number in [f64::INFINITY, -0.5] {
        sql.run(insert, &[Param::Float(number)]).unwrap();
    }
    let all = sql.prepare("SELECT a FROM t ORDER BY a").unwrap();
    let mut found = Vec::new();
    let mut see = |row: &dyn crate::sql::ResultRow| {
        found.push(row.float(0)?);
        Ok(())
    };
    sql.query(all, &[], &mut see).unwrap();
    assert_eq!(found, [Some(-0.5), Some(f64::INFINITY)]);
    opened.store.close().unwrap();
}
