//! Rows from a CSV file, in engines that load one.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use embermark_engines::sql::{Access, CsvFile, Nullable, SqlType, TableDef};

use super::Subject;

const TABLE: TableDef = TableDef {
    name: "listed",
    columns: &[
        ("id", SqlType::Int, Nullable::No),
        ("stamp", SqlType::Big, Nullable::No),
        ("number", SqlType::Double, Nullable::Yes),
        ("other", SqlType::Double, Nullable::Yes),
    ],
    key: &["id", "stamp"],
};

/// The columns in another order than in the table.
const COLUMNS: [&str; 4] = ["stamp", "id", "number", "other"];

/// More rows than any engine loads in its way for few.
const ROWS: i64 = 50_000;

fn number(id: i64) -> Option<f64> {
    (id % 7 != 0).then_some(id as f64 / 3.0)
}

/// Returns lines of this many rows. The last value of a line is NULL, and so are some numbers.
fn lines(rows: i64) -> String {
    let mut text = COLUMNS.join(",") + "\n";
    for id in 0..rows {
        let stamp = 1_000_000_000_000_000 - id;
        let number = number(id).map(|number| number.to_string()).unwrap_or_default();
        writeln!(text, "{stamp},{id},{number},").unwrap();
    }
    text
}

/// Loads a file that holds `text`.
fn load(subject: &mut Subject, path: &Path, text: &str) -> Result<u64, String> {
    fs::write(path, text).unwrap();
    let file = CsvFile { path, columns: &COLUMNS };
    subject.store.load_csv(&TABLE, &file).map_err(|error| error.to_string())
}

pub fn files_are_loaded(subject: &mut Subject) {
    subject.create(&TABLE);
    // The name has to be quoted.
    let folder = tempfile::Builder::new().prefix("o'csv").tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("rows.csv");
    if !subject.store.loads_csv() {
        let error = load(subject, &path, &lines(1)).unwrap_err();
        assert!(error.contains("does not support to load a CSV file"), "{error}");
        return;
    }
    for rows in [1, ROWS] {
        subject.run("DELETE FROM listed", &[]).unwrap();
        assert_eq!(load(subject, &path, &lines(rows)), Ok(rows as u64));
        assert_eq!(subject.count(&TABLE), rows);
    }
    let nulls =
        "SELECT COUNT(*) FROM listed WHERE other IS NULL AND (number IS NULL) = (id % 7 = 0)";
    assert_eq!(subject.int(nulls), Some(ROWS));
    for id in [1, 4_000, ROWS - 2] {
        let found = subject.float(&format!("SELECT number FROM listed WHERE id = {id}"));
        assert_eq!(found, number(id));
        let stamp = subject.int(&format!("SELECT stamp FROM listed WHERE id = {id}"));
        assert_eq!(stamp, Some(1_000_000_000_000_000 - id));
    }
    for spoilt in ["5,5,warm,\n", "1,x,,\n", "1000000000000000,0,,\n"] {
        subject.run("DELETE FROM listed", &[]).unwrap();
        let error = load(subject, &path, &(lines(3) + spoilt)).unwrap_err();
        assert!(error.starts_with(subject.engine.info().id), "{error}");
        assert_eq!(subject.count(&TABLE), 0, "{spoilt}");
    }
    subject.store.begin(Access::Write).unwrap();
    let error = load(subject, &path, &lines(1)).unwrap_err();
    assert!(error.contains("a transaction is open"), "{error}");
    subject.store.commit().unwrap();
    fs::remove_file(&path).unwrap();
    let file = CsvFile { path: &path, columns: &COLUMNS };
    let error = subject.store.load_csv(&TABLE, &file).unwrap_err().to_string();
    assert!(error.contains("rows.csv"), "{error}");
    assert_eq!(subject.count(&TABLE), 0);
}
