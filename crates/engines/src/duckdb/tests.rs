//! Tests of DuckDB's own behaviour. `tests/integration/sql.rs` tests what all SQL engines have in
//! common.

use embermark_skips::is_here;

use super::*;
use crate::sql::{Nullable, Param, ResultRow, Rows, SqlStore, SqlType, TableDef};
use crate::{Engine as _, Scope, Store, Tier};

/// Returns a connection in memory, or `None` without the library.
fn connection() -> Option<Rc<Connection>> {
    if !is_here(&ENGINE) {
        return None;
    }
    let library = LIBRARY.get().unwrap();
    Some(Rc::new(Connection::open(&library.api, None, &[]).unwrap()))
}

fn one<T>(
    connection: &Rc<Connection>,
    expression: &str,
    read: impl Fn(&dyn ResultRow) -> Result<T>,
) -> Result<T> {
    let mut found = Vec::new();
    let statement = Prepared::new(connection, &format!("SELECT {expression}"), 0)?;
    let done = statement.query(&[], &mut |row| {
        found.push(read(row)?);
        Ok(())
    });
    done.map_err(Stopped::into_error)?;
    assert_eq!(found.len(), 1, "{expression}");
    Ok(found.remove(0))
}

#[test]
fn a_version_that_was_shown_not_to_keep_a_tier_is_not_offered_in_it() {
    if !is_here(&ENGINE) {
        return;
    }
    let version = &LIBRARY.get().unwrap().version;
    match [Durability::Process, Durability::Power].map(|tier| ENGINE.tier(tier)) {
        [Tier::Offered { effective_durability, .. }, Tier::Unsupported { why }] => {
            assert_eq!(effective_durability, Durability::Process, "{version}");
            assert!(tier::BROKEN.contains(&&**version), "{version}: {why}");
            assert!(why.contains("docs/durability.md"), "{why}");
        }
        [Tier::Offered { .. }, Tier::Offered { .. }] => {
            assert!(!tier::BROKEN.contains(&&**version), "{version}");
        }
        other => panic!("{version}: {other:?}"),
    }
}

#[test]
fn every_numeric_type_is_read_as_the_number_it_is() {
    let Some(connection) = connection() else { return };
    let int = |expression: &str| one(&connection, expression, |row| row.int(0));
    let float = |expression: &str| one(&connection, expression, |row| row.float(0));
    for (of, least, greatest) in [
        ("TINYINT", -128, 127),
        ("SMALLINT", -32_768, 32_767),
        ("INTEGER", i64::from(i32::MIN), i64::from(i32::MAX)),
        ("BIGINT", i64::MIN, i64::MAX),
        ("HUGEINT", i64::MIN, i64::MAX),
        ("UTINYINT", 0, 255),
        ("USMALLINT", 0, 65_535),
        ("UINTEGER", 0, i64::from(u32::MAX)),
        ("UBIGINT", 0, i64::MAX),
        ("BOOLEAN", 0, 1),
    ] {
        assert_eq!(int(&format!("({least})::{of}")).unwrap(), Some(least), "{of}");
        assert_eq!(int(&format!("({greatest})::{of}")).unwrap(), Some(greatest), "{of}");
        assert_eq!(int(&format!("NULL::{of}")).unwrap(), None, "{of}");
    }
    let sum = format!("SUM(x) FROM (VALUES ({}::BIGINT), (-5)) t(x)", i64::MAX);
    assert_eq!(int(&sum).unwrap(), Some(i64::MAX - 5));
    let error = int("170141183460469231731687303715884105727::HUGEINT").unwrap_err().to_string();
    assert!(error.contains("too large"), "{error}");
    assert_eq!(float("2::HUGEINT ** 70").unwrap(), Some(2f64.powi(70)));

    assert_eq!(float("1.5").unwrap(), Some(1.5));
    assert_eq!(float("-12345.25::DECIMAL(18, 4)").unwrap(), Some(-12_345.25));
    assert_eq!(float("0.1::DECIMAL(38, 20)").unwrap(), Some(0.1));
    assert_eq!(int("7::DECIMAL(9, 0)").unwrap(), Some(7));
    assert!(int("7.0::DECIMAL(9, 1)").is_err());
    assert_eq!(float("0.25::FLOAT").unwrap(), Some(0.25));
    assert_eq!(float("7::SMALLINT").unwrap(), Some(7.0));
    assert!(float("'NaN'::DOUBLE").unwrap().is_some_and(f64::is_nan));
    assert_eq!(float("NULLIF('NaN'::DOUBLE, 'NaN'::DOUBLE)").unwrap(), None);
}

#[test]
fn a_type_that_is_not_read_is_an_error_that_says_so() {
    let Some(connection) = connection() else { return };
    for expression in ["DATE '2004-02-28'", "[1, 2]", "'a'::BLOB"] {
        let error = one(&connection, expression, |row| row.int(0)).unwrap_err().to_string();
        assert!(error.contains("column 0") && error.contains("not an integer"), "{error}");
        assert!(one(&connection, expression, |row| row.float(0)).is_err());
        assert!(one(&connection, expression, |row| row.text(0).map(drop)).is_err());
    }
    let error = one(&connection, "1", |row| row.int(1)).unwrap_err().to_string();
    assert!(error.contains("the result has 1 columns"), "{error}");
}

#[test]
fn results_of_many_chunks_are_read_to_the_last_row() {
    let Some(connection) = connection() else { return };
    let sql = "SELECT CASE WHEN i % 3 = 0 THEN NULL ELSE i END, 'row number ' || i \
               FROM range(10001) t(i) WHERE i >= $1";
    let statement = Prepared::new(&connection, sql, 0).unwrap();
    let mut next = 1;
    statement
        .query(&[Param::Int(1)], &mut |row| {
            assert_eq!(row.int(0)?, (next % 3 != 0).then_some(next));
            assert_eq!(row.text(1)?, Some(&*format!("row number {next}")));
            next += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!(next, 10_001);
}

/// The log shows which recovery mode is in effect.
#[test]
fn only_the_tiers_that_keep_a_commit_write_a_log() {
    if !is_here(&ENGINE) {
        return;
    }
    let library = LIBRARY.get().unwrap();
    for durability in Durability::ALL {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().to_owned();
        let options = OpenOptions::new(dir, durability, 64 << 20);
        let opened = ENGINE.open(&options).unwrap();
        let settings: Vec<&str> = opened.settings.iter().map(|(name, _)| &**name).collect();
        assert!(settings.contains(&"memory_limit") && settings.contains(&"threads"));
        let Store::Sql(mut store) = opened.store else { panic!("no store of SQL") };
        store.batch("CREATE TABLE t (a BIGINT); INSERT INTO t VALUES (1)").unwrap();
        let logged =
            std::fs::metadata(options.dir.join(format!("{FILE}.wal"))).map_or(0, |m| m.len());
        let expected = tiers(Some(library)).for_tier(durability).set != Log::None;
        assert_eq!(logged > 0, expected, "{durability}: {logged} bytes");
        store.close().unwrap();
    }
}

#[test]
fn a_path_becomes_a_literal() {
    assert_eq!(quoted(Path::new("/tmp/it's/x")), "'/tmp/it''s/x'");
}

/// Returns a store in a folder with a table of one number, its key, or `None` without the library.
fn keyed(folder: &Path) -> Option<Box<dyn SqlStore>> {
    if !is_here(&ENGINE) {
        return None;
    }
    let options = OpenOptions::new(folder, Durability::Process, 64 << 20);
    let Store::Sql(mut store) = ENGINE.open(&options).unwrap().store else {
        panic!("no store of SQL")
    };
    store.batch("CREATE TABLE numbers (n BIGINT PRIMARY KEY)").unwrap();
    Some(store)
}

static NUMBERS: TableDef =
    TableDef { name: "numbers", columns: &[("n", SqlType::Big, Nullable::No)], key: &["n"] };

/// This many numbers, followed by something that is not a number.
struct Numbers(i64, i64, [Param<'static>; 1]);

impl Rows for Numbers {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        self.0 += 1;
        self.2 = [if self.0 <= self.1 { Param::Int(self.0) } else { Param::Text("none") }];
        Some(&self.2)
    }
}

#[test]
fn a_long_load_is_committed_by_row_groups_and_a_transaction_around_it_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut store) = keyed(folder.path()) else { return };
    let commit = store::COMMIT_ROWS as i64;
    let numbers = || Numbers(0, commit + 100, [Param::Null]);
    let count = |store: &mut dyn SqlStore| {
        let statement = store.prepare("SELECT COUNT(*) FROM numbers").unwrap();
        let mut counted = None;
        let mut read = |row: &dyn ResultRow| row.int(0).map(|number| counted = number);
        store.query(statement, &[], &mut read).unwrap();
        counted
    };
    let loaded = store.within(Scope::Batch, |s| s.bulk_insert(&NUMBERS, &mut numbers()));
    let error = loaded.unwrap_err().to_string();
    assert!(error.contains("none"), "{error}");
    assert_eq!(count(&mut *store), Some(0));
    assert!(store.bulk_insert(&NUMBERS, &mut numbers()).is_err());
    assert_eq!(count(&mut *store), Some(commit));
    store.close().unwrap();
}

#[test]
fn a_transaction_larger_than_the_memory_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut store) = keyed(folder.path()) else { return };
    store.batch("SET memory_limit = '24MB'; SET threads = 1").unwrap();
    let sql = "INSERT INTO numbers SELECT hash(i) >> 2 FROM range($1) r(i)";
    let insert = store.prepare(sql).unwrap();
    let error = store
        .within(Scope::Batch, |store| store.run(insert, &[Param::Int(2_000_000)]))
        .unwrap_err()
        .to_string();
    assert!(error.contains("a transaction larger than its memory_limit"), "{error}");
    assert!(error.contains("--cache") && !error.contains('\n'), "{error}");
    store.close().unwrap();
}

/// Returns a database in a folder, or `None` without the library.
fn opened(dir: &Path) -> Option<Box<dyn SqlStore>> {
    if !is_here(&ENGINE) {
        return None;
    }
    let options = OpenOptions::new(dir, Durability::Process, 64 << 20);
    let Store::Sql(mut sql) = ENGINE.open(&options).unwrap().store else { panic!("no SQL") };
    sql.batch("CREATE TABLE t (a INTEGER, b VARCHAR); INSERT INTO t VALUES (1, 'x')").unwrap();
    Some(sql)
}

#[test]
fn one_select_of_a_stranger_is_prepared_and_whatever_else_there_is_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut sql) = opened(dir.path()) else { return };
    let deep = format!("SELECT {} FROM t", ["a"; 300].join(" + "));
    for text in [
        "SELECT a, count(*), quantile_cont(a, 0.5), max(b) FROM t GROUP BY a ORDER BY random()",
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) FROM n",
        "VALUES (1), (2)",
        "SELECT * FROM range(3), unnest([1, 2]), json_each('[1]') -- a remark",
        &deep,
    ] {
        sql.prepare_untrusted(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
    let out = dir.path().join("out");
    let out = out.display();
    for text in [
        "INSERT INTO t VALUES (2, 'y') RETURNING a",
        "DELETE FROM t",
        "DROP TABLE t",
        "CREATE TABLE u AS SELECT 1",
        "BEGIN",
        "VACUUM",
        "CHECKPOINT",
        "SET threads = 1",
        "PRAGMA synchronous = OFF",
        "PRAGMA table_info('t')",
        "CALL pragma_version()",
        "PREPARE p AS SELECT 1",
        "EXPLAIN ANALYZE SELECT 1",
        "INSTALL httpfs",
        "LOAD httpfs",
        "IMPORT DATABASE '/tmp'",
        "SELECT 1; DROP TABLE t",
        "SELECT getenv('HOME')",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT (SELECT count(*) FROM READ_TEXT('/etc/passwd'))",
        "SELECT * FROM '/etc/passwd.csv'",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM query('SELECT 1')",
        "SELECT * FROM t, force_checkpoint()",
        "SELECT * FROM enable_profiling()",
        "WITH x AS (FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))) FROM x",
        &format!(
            "SELECT * FROM enable_logging(storage = 'file', storage_config = {{'path': '{out}'}})"
        ),
        &format!("COPY t TO '{out}'"),
        &format!("ATTACH '{out}' AS x"),
        &format!("EXPORT DATABASE '{out}'"),
        "",
    ] {
        assert!(sql.prepare_untrusted(text).is_err(), "{text}");
    }
    assert!(!dir.path().join("out").exists());
}

#[test]
fn after_a_query_of_a_stranger_the_database_is_closed_to_the_outside_and_works_on() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut sql) = opened(dir.path()) else { return };
    sql.prepare_untrusted("SELECT 1").unwrap();
    sql.prepare_untrusted("SELECT 2").unwrap();
    let file = dir.path().join("out.csv");
    for text in [
        format!("COPY t TO '{}'", file.display()),
        "SELECT * FROM read_text('/etc/passwd')".to_owned(),
        "SET enable_external_access = true".to_owned(),
        "LOAD httpfs".to_owned(),
    ] {
        assert!(sql.batch(&text).is_err(), "{text}");
    }
    assert!(!file.exists());
    for step in [crate::sql::QueryKind::Point, crate::sql::QueryKind::Analytic] {
        sql.expect(step).unwrap();
    }
    sql.batch("INSERT INTO t SELECT i, i FROM range(200000) AS r (i)").unwrap();
    sql.suspend_checkpoints(1 << 20).unwrap();
    sql.maintain().unwrap();
    let mut client = sql.open_client().unwrap().open().unwrap();
    let Store::Sql(other) = &mut client else { panic!("no SQL") };
    other.prepare_untrusted("SELECT count(*) FROM t").unwrap();
    client.close().unwrap();
    // From 2.0 on the locked configuration refuses this.
    assert!(sql.crash_on_close().map_or_else(|error| error.is_unsupported(), |()| true));
    sql.close().unwrap();
}
