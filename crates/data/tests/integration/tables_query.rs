//! Rows of a query: what it may read, and what it may not do.

use std::path::Path;

use crate::common::tables::*;
use embermark_data::DataError;
use embermark_data::table::{Staged, infer};
use embermark_model::table::{RowsFile, RowsFrom};

fn query(sql: &str, files: &[&Path]) -> RowsFile {
    let files = files.iter().map(|path| path.display().to_string()).collect();
    RowsFile { query: Some(sql.to_owned()), files, ..RowsFile::default() }
}

fn staged_of(folder: &Path, rows: RowsFile) -> Result<Staged, DataError> {
    let mut of = table("r.csv", &[("id", U64), ("name", TEXT)], &[0]);
    of.rows = RowsFrom::File(Box::new(rows));
    staged_with(folder, of, None, 0.0).map(|(staged, _)| staged)
}

const NAMES: &str = "id,name\n1,a\n2,b\n";

#[test]
fn a_query_joins_and_casts_what_lies_below_its_folder() {
    let folder = file("r.csv", NAMES);
    std::fs::create_dir(folder.path().join("deep")).unwrap();
    std::fs::write(folder.path().join("deep/o.jsonl"), "{\"id\":2,\"x\":1.5}\n{\"id\":1}\n")
        .unwrap();
    let sql = "SELECT r.id, name || coalesce(x::VARCHAR, '?') AS name, {'a': 1} AS s -- a comment\n\
               FROM read_csv('r.csv') r JOIN 'deep/o.jsonl' o USING (id) ORDER BY id; ";
    let staged = staged_of(folder.path(), query(sql, &[])).unwrap();
    assert_eq!((staged.rows, staged.sha256), (2, None));
    let inferred = infer(&query(sql, &[]), folder.path()).unwrap();
    let names: Vec<_> = inferred.columns.iter().map(|column| &*column.name).collect();
    assert_eq!((names, &*inferred.format), (vec!["id", "name", "s.a"], "a query"));
}

#[test]
fn a_query_reads_no_other_files_but_those_that_are_named() {
    let (folder, other) = (file("r.csv", NAMES), file("other.csv", NAMES));
    let outside = other.path().join("other.csv");
    let sql = format!("SELECT id, name FROM read_csv('{}')", outside.display());
    let refused = staged_of(folder.path(), query(&sql, &[])).unwrap_err().to_string();
    assert!(refused.contains("Permission Error"), "{refused}");
    assert_eq!(staged_of(folder.path(), query(&sql, &[&outside])).unwrap().rows, 2);
    for sql in [
        "SELECT 1 AS id, content AS name FROM read_text('/etc/passwd')",
        "SELECT 1 AS id, content AS name FROM read_text('../../etc/passwd')",
        "SELECT id, name FROM read_csv('https://example.org/r.csv')",
        "SELECT id, name FROM 's3://bucket/r.parquet'",
        "SELECT 1 AS id, file AS name FROM glob('/etc/*')",
        "SELECT 1 AS id, content AS name FROM read_text('/etc/pass*')",
        "SELECT 1 AS id, content AS name FROM read_text(['r.csv', '/proc/self/environ'])",
        "SELECT 1 AS id, getenv('HOME') AS name",
        "SELECT 1 AS id, content AS name FROM read_text('deep/../../etc/passwd')",
        "SELECT 1 AS id, line AS name FROM sniff_csv('/etc/passwd')",
        "SELECT id, name FROM sqlite_scan('/etc/x.db', 'r')",
    ] {
        let refused = staged_of(folder.path(), query(sql, &[])).unwrap_err().to_string();
        assert!(refused.contains("Error"), "{sql}: {refused}");
    }
}

#[test]
#[cfg(unix)]
fn a_query_follows_no_link_out_of_its_folder() {
    let (folder, other) = (file("r.csv", NAMES), file("other.csv", NAMES));
    std::os::unix::fs::symlink(other.path(), folder.path().join("link")).unwrap();
    let read =
        |what: &str| staged_of(folder.path(), query(&format!("SELECT * FROM '{what}'"), &[]));
    for what in ["link/other.csv", "link/*.csv", "*/*.csv", "./link/other.csv"] {
        let refused = read(what).unwrap_err().to_string();
        assert!(refused.contains("Permission Error"), "{what}: {refused}");
    }
    assert_eq!(read("*.csv").unwrap().rows, 2);
}

#[test]
fn a_query_is_one_select() {
    let folder = file("r.csv", NAMES);
    let out = folder.path().join("out.csv");
    for sql in [
        format!("COPY (SELECT 1) TO '{}'", out.display()),
        format!(
            "SELECT 1 AS id, 'a' AS name); COPY (SELECT 1) TO '{}'; SELECT * FROM (SELECT 1",
            out.display()
        ),
        "SET enable_external_access = true".to_owned(),
        "SELECT 1 AS id, 'a' AS name); SET lock_configuration = false; SELECT (1".to_owned(),
        "INSTALL httpfs".to_owned(),
        "ATTACH 'x.db'".to_owned(),
        "LOAD 'httpfs'".to_owned(),
        "SELECT 1 AS id, 'a' AS name); LOAD '/tmp/x.duckdb_extension'; SELECT (1".to_owned(),
        "EXPORT DATABASE 'out'".to_owned(),
        "PRAGMA enable_external_access".to_owned(),
        "CREATE TABLE t AS SELECT 1".to_owned(),
        "SELECT".to_owned(),
        String::new(),
    ] {
        let refused = staged_of(folder.path(), query(&sql, &[]));
        assert!(refused.is_err(), "{sql}");
        let files = std::fs::read_dir(folder.path()).unwrap().flatten();
        let left: Vec<_> =
            files.map(|file| file.file_name()).filter(|name| name != "r.csv").collect();
        assert!(left.is_empty(), "{sql}: {left:?}");
    }
}

#[test]
fn options_of_the_reader_are_handed_on_and_those_of_embermark_refused() {
    let folder = file("r.csv", "# made by hand\nid|name\n1|none\n2|'b|c'\n");
    let option = |name: &str, value: &str| {
        (name.to_owned(), embermark_model::table::Literal::Text(value.to_owned()))
    };
    let read = vec![option("quote", "'"), option("nullstr", "none")];
    let rows = RowsFile { read, ..RowsFile::from("r.csv") };
    let mut of = table("r.csv", &[("id", U64), ("name?", TEXT)], &[0]);
    of.rows = RowsFrom::File(Box::new(rows.clone()));
    let (_, staged) = staged(folder.path(), of);
    assert_eq!(crate::common::tables::rows(&staged), [[int(1), NULL], [int(2), text("b|c")]]);
    for (name, says) in [("all_varchar", "is not allowed"), ("no_such_option", "no_such_option")] {
        let read = vec![option(name, "x")];
        let refused = staged_of(folder.path(), RowsFile { read, ..rows.clone() }).unwrap_err();
        assert!(refused.to_string().contains(says), "{refused}");
    }
}

#[test]
fn members_of_structures_are_told_apart_whatever_their_names() {
    let sql = "SELECT 1 AS id, {'a \"b\", c': {'x': 1.5::DOUBLE, 'y': [1, 2]}, 'd (e)': MAP {'k': 2}} AS s";
    let folder = tempfile::tempdir().unwrap();
    let inferred = infer(&query(sql, &[]), folder.path()).unwrap();
    let columns = inferred.columns.iter();
    let columns: Vec<_> = columns.map(|column| (&*column.name, &column.examples[0])).collect();
    let expected = [
        ("id", int(1)),
        ("s.a \"b\", c.x", float(1.5)),
        ("s.a \"b\", c.y", text("[1,2]")),
        ("s.d (e)", text("{\"k\":2}")),
    ];
    assert_eq!(columns, expected.each_ref().map(|(name, value)| (*name, value)));
}
