//! Examines an SQLite database, and proposes a workload file for it and for its log of statements.

use embermark_data::table::{
    StagedTable, infer_sqlite, is_sqlite, sqlite_tables, sqlite_views, stage,
};
use embermark_language::{ProposalOptions, Work, parse, propose, statements};
use embermark_model::table::{ColumnType, Value};
use rusqlite::Connection;

const SCHEMA: &str = "
    CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, \"order\" INTEGER, at TEXT);
    CREATE INDEX people_name ON people (name);
    CREATE TABLE visits (person INTEGER NOT NULL, day TEXT NOT NULL, pages REAL, PRIMARY KEY (person, day));
    CREATE TABLE notes (text TEXT);
    CREATE TABLE empty (id INTEGER PRIMARY KEY);
    CREATE VIRTUAL TABLE words USING fts5 (text);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
    INSERT INTO people SELECT i, 'name ' || (i % 7), i * 3, '2024-01-01' FROM n;
    INSERT INTO visits SELECT id, '2024-02-' || (10 + id % 3), id / 2.0 FROM people;
    INSERT INTO notes SELECT 'same' FROM people;";

const LOG: &str = "
    BEGIN;
    SELECT name, count(*) FROM people GROUP BY name; -- often
    SELECT name FROM people WHERE id = 1; SELECT name FROM people WHERE id = 22;
    SELECT \"order\" FROM people ORDER BY id LIMIT 3;
    SELECT p.name, sum(v.pages) FROM people p JOIN visits v ON v.person = p.id GROUP BY p.name;
    SELECT * FROM nowhere; SELECT * FROM people WHERE id = ?;
    INSERT INTO people VALUES (301, 'x', 1, NULL);
    UPDATE people SET name = 'y; z' WHERE id = 5; UPDATE people SET name = 'w' WHERE id = 6;
    DELETE FROM visits WHERE person = 3;
    COMMIT;";

#[test]
fn tables_keys_indexes_and_statements_of_a_database_become_a_workload_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.db");
    Connection::open(&path).unwrap().execute_batch(SCHEMA).unwrap();
    assert!(is_sqlite(&path));
    let schema = sqlite_tables(&path).unwrap();
    let names: Vec<_> = schema.iter().map(|table| &*table.name).collect();
    assert_eq!(names, ["people", "visits", "notes", "empty"]);
    let found =
        schema[..3].iter().map(|table| infer_sqlite("app.db", table, folder.path()).unwrap());
    let found: Vec<_> = found.collect();
    assert!(infer_sqlite("app.db", &schema[3], folder.path()).unwrap_err().is_without_rows());

    let all = statements(LOG);
    assert_eq!(all.len(), 13);
    let wishes = ProposalOptions { live: false, statements: Some(&all) };
    let (text, left_out) = propose("app", &found, &wishes);
    let refused = ["SELECT * FROM nowhere", "SELECT * FROM people WHERE id = ?"];
    assert_eq!(left_out, ["BEGIN", refused[0], refused[1], "COMMIT"]);
    let file = parse("app.toml", &text, &[]).unwrap_or_else(|wrong| panic!("{text}\n{wrong}"));

    let table = |name: &str| file.tables.iter().find(|table| table.name == name).unwrap();
    let columns = |name: &str, places: &[usize]| -> Vec<String> {
        places.iter().map(|place| table(name).columns[*place].name.clone()).collect()
    };
    assert_eq!(columns("people", &table("people").key), ["id"]);
    assert_eq!(columns("people", &table("people").indexes[0]), ["name"]);
    assert_eq!(columns("visits", &table("visits").key), ["person", "day"]);
    assert_eq!(columns("notes", &table("notes").key), ["rowid"]);
    let kinds: Vec<_> =
        table("people").columns.iter().map(|column| column.of.to_string()).collect();
    assert_eq!(kinds, ["u16", "text", "u16", "text"]);
    let sql = file.phases.iter().filter(|phase| matches!(phase.work, Work::Sql(_)));
    assert_eq!(sql.count(), 4);
    assert!(text.contains("SELECT order_ FROM people ORDER BY id"), "{text}");
    assert!(text.contains("SELECT name, count(*) FROM people GROUP BY name"), "{text}");
    assert!(text.contains("# In the log 2 times."), "{text}");
    for change in [
        "do = \"update\"\ntable = \"people\"\nset = [\"name\"]",
        "do = \"delete\"\ntable = \"visits\"\nwhere = [[\"person\", \"=\", 3]]",
    ] {
        assert!(text.contains(change), "{change}: {text}");
    }
    for place in 0..file.tables.len() {
        let to = folder.path().join("staged");
        let staged = stage(&file.tables, place, folder.path(), None, 42, 0.0, &to).unwrap();
        assert_eq!(staged.rows, 300);
    }
}

/// Creates a database, and proposes a file for its tables and these statements. Returns its text
/// and the statements that gave no phase.
fn proposed(schema: &str, log: &str) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.db");
    Connection::open(&path).unwrap().execute_batch(schema).unwrap();
    let tables = sqlite_tables(&path).unwrap();
    let found = tables.iter().map(|table| infer_sqlite("app.db", table, folder.path()).unwrap());
    let found: Vec<_> = found.collect();
    let log = statements(log);
    let wishes = ProposalOptions { live: false, statements: Some(&log) };
    let (text, left_out) = propose("app", &found, &wishes);
    parse("app.toml", &text, &[]).unwrap_or_else(|wrong| panic!("{text}\n{wrong}"));
    (text, left_out)
}

/// Two tables. The times of one are numbers, and those of the other one are texts, whose column has
/// another name in the file.
const TIMES: &str = "
    CREATE TABLE a (id INTEGER PRIMARY KEY, time INTEGER NOT NULL, v REAL);
    CREATE TABLE b (id INTEGER PRIMARY KEY, time TEXT, \"user\" TEXT);
    CREATE VIEW hot AS SELECT * FROM a WHERE v > 10;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
    INSERT INTO a SELECT i, 1704067200 + 60 * i, i * 0.5 FROM n;
    INSERT INTO b SELECT id, 'noon ' || id, 'u' || id FROM a;";

#[test]
fn names_in_statements_are_those_of_the_tables_that_they_name() {
    let (text, left_out) = proposed(
        TIMES,
        "SELECT max(time) FROM a WHERE time > 1700000000;
        SELECT time, \"user\" FROM b;
        SELECT x.time, y.time FROM a AS x JOIN b y ON x.id = y.id;
        SELECT a.time, b.time FROM b, a WHERE a.id = b.id;
        SELECT date(time, 'unixepoch') FROM a;
        SELECT * FROM hot; SELECT rowid FROM a; SELECT \"no such\" FROM a",
    );
    for sql in [
        "SELECT max(time) FROM a WHERE time > 1700000000",
        "SELECT time_, user_ FROM b",
        "SELECT x.time, y.time_ FROM a AS x JOIN b y ON x.id = y.id",
        "SELECT a.time, b.time_ FROM b, a WHERE a.id = b.id",
        "SELECT date(time, 'unixepoch') FROM a",
    ] {
        assert!(text.contains(&format!("sql = \"{sql}\"\n")), "{sql}: {text}");
    }
    // A view and what only SQLite has are not in the file's tables.
    let refused = ["SELECT * FROM hot", "SELECT rowid FROM a", "SELECT \"no such\" FROM a"];
    assert_eq!(left_out, refused);
}

#[test]
fn changes_by_conditions_have_them_and_what_a_phase_cannot_say_is_left_out() {
    let (text, left_out) = proposed(
        TIMES,
        "UPDATE a SET v = v + 1 WHERE id = ?;
        UPDATE b SET user = 'it''s' WHERE time <> 'x' AND b.id >= 250;
        DELETE FROM a WHERE time < 1704070000; DELETE FROM a WHERE v <= -1.5;
        DELETE FROM a WHERE a.id = 7;
        DELETE FROM b; UPDATE a SET v = 0; UPDATE a SET v = v + 1 WHERE v > 3;
        DELETE FROM a WHERE v > ?; DELETE FROM a WHERE id IN (1, 2);
        DELETE FROM a WHERE v = 1 OR v = 2;
        DELETE FROM a WHERE v < 'x'; UPDATE a SET v = 1 WHERE v > 2 LIMIT 3",
    );
    for change in [
        "do = \"update\"\ntable = \"a\"\nset = [\"v\"]\nops = 1_000\n",
        "set = { user_ = \"it's\" }\n\
         where = [[\"time_\", \"!=\", \"x\"], [\"id\", \">=\", 250]]\n",
        "where = [[\"time\", \"<\", \"2024-01-01T00:46:40Z\"]]\n",
        "where = [[\"v\", \"<=\", -1.5]]\n",
        "do = \"delete\"\ntable = \"a\"\nops = 1_000\n",
    ] {
        assert!(text.contains(change), "{change}: {text}");
    }
    assert_eq!(left_out.len(), 8, "{left_out:#?}");
    assert_eq!((&*left_out[0], &*left_out[1]), ("DELETE FROM b", "UPDATE a SET v = 0"));
}

#[test]
fn keys_of_bytes_generated_columns_and_tables_without_row_numbers_are_read_and_views_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.db");
    let schema = "
        CREATE TABLE blobs (k BLOB PRIMARY KEY NOT NULL, v TEXT) WITHOUT ROWID;
        CREATE TABLE pairs (a INT, b TEXT, v REAL, PRIMARY KEY (b, a)) WITHOUT ROWID;
        CREATE TABLE made (id INTEGER PRIMARY KEY, x INT, y INT AS (x * 2), z INT AS (x + 1) STORED);
        CREATE VIEW hot AS SELECT * FROM pairs WHERE v > 10;
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
        INSERT INTO blobs SELECT randomblob(15) || CAST(i AS BLOB), i FROM n;
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
        INSERT INTO pairs SELECT i, 'b' || (i % 10), i * 0.5 FROM n;
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
        INSERT INTO made (id, x) SELECT i, 3 * i FROM n;";
    Connection::open(&path).unwrap().execute_batch(schema).unwrap();
    assert_eq!(sqlite_views(&path).unwrap(), ["hot"]);
    let tables = sqlite_tables(&path).unwrap();
    let found = tables.iter().map(|table| infer_sqlite("app.db", table, folder.path()).unwrap());
    let found: Vec<_> = found.collect();
    let text = propose("app", &found, &ProposalOptions::default()).0;
    let file = parse("app.toml", &text, &[]).unwrap_or_else(|wrong| panic!("{text}\n{wrong}"));
    let keys = file.tables.iter().map(|table| {
        let names = table.key.iter().map(|place| &*table.columns[*place].name);
        names.collect::<Vec<_>>().join(" ")
    });
    assert_eq!(keys.collect::<Vec<_>>(), ["b a", "k", "id"]);
    assert_eq!(file.tables[1].columns[0].of, ColumnType::Bytes);
    for table in 0..3 {
        let to = folder.path().join("staged");
        assert_eq!(stage(&file.tables, table, folder.path(), None, 1, 0.0, &to).unwrap().rows, 300);
        let rows = StagedTable::open(&to).unwrap();
        let double = table == 2 && rows.value(0, 2) != Value::Int(6);
        assert!(!double, "{:?}", rows.value(0, 2));
    }
}

#[test]
fn of_an_update_that_sets_the_time_of_a_row_too_the_other_columns_are_set() {
    let folder = tempfile::tempdir().unwrap();
    // One with a log, beside which SQLite's own files would remain.
    let path = folder.path().join("my app #1?.db");
    let schema = "
        PRAGMA journal_mode = WAL;
        CREATE TABLE orders (id INTEGER PRIMARY KEY, status TEXT NOT NULL, updated INTEGER NOT NULL);
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
        INSERT INTO orders SELECT i, 'status ' || (i % 4), 1704067200 + 60 * i FROM n;";
    Connection::open(&path).unwrap().execute_batch(schema).unwrap();
    let orders = &sqlite_tables(&path).unwrap()[0];
    let found = infer_sqlite("my app #1?.db", orders, folder.path()).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let paid = "UPDATE orders SET status = 'paid', updated = 1704067300 WHERE id = 5";
    let touched = "UPDATE orders SET updated = 1704067300 WHERE id = 7";
    let all = [paid, touched].map(str::to_owned);
    let (text, left_out) =
        propose("app", &[found], &ProposalOptions { live: false, statements: Some(&all) });
    assert_eq!(left_out, [touched]);
    assert!(text.contains("# Without updated: a row keeps its key and its time."), "{text}");
    assert!(text.contains("do = \"update\"\nset = [\"status\"]"), "{text}");
    parse("app.toml", &text, &[]).unwrap_or_else(|wrong| panic!("{text}\n{wrong}"));
}

#[test]
fn numbers_and_blobs_that_are_read_as_texts_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.db");
    let schema = "
        CREATE TABLE kv (k TEXT PRIMARY KEY, v);
        INSERT INTO kv VALUES ('a', 1), ('b', 'one'), ('c', 2.5), ('d', x'6f6e65'), ('e', NULL), ('f', '1');";
    Connection::open(&path).unwrap().execute_batch(schema).unwrap();
    let kv = &sqlite_tables(&path).unwrap()[0];
    let found = infer_sqlite("app.db", kv, folder.path()).unwrap();
    let note = "3 times: number, truth value or blob in a column of texts: read as a text";
    assert_eq!(found.notes, [note]);
    let text = propose("app", &[found], &ProposalOptions::default()).0;
    let tables = parse("app.toml", &text, &[]).unwrap().tables;
    for (limit, others) in [(None, 3), (Some(2), 1)] {
        let to = folder.path().join("staged");
        let staged = stage(&tables, 0, folder.path(), limit, 1, 0.0, &to).unwrap();
        assert_eq!(staged.remarks.values().sum::<u64>(), others, "{:?}", staged.remarks);
    }
}
