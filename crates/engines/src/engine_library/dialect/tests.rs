//! Tests of a dialect with the texts of a library and without.

use std::ptr;

use super::*;
use crate::sql::Nullable;

/// Returns a dialect with only a placeholder.
fn bare(placeholder: *const c_char) -> abi::Dialect {
    abi::Dialect { placeholder, ..abi::Dialect::STANDARD }
}

fn read(from: &abi::Dialect) -> Result<LibraryDialect, String> {
    // SAFETY: its texts are constants.
    unsafe { LibraryDialect::read(from) }
}

const TABLE: TableDef = TableDef {
    name: "t",
    columns: &[("a", SqlType::Int, Nullable::No), ("b", SqlType::Text, Nullable::Yes)],
    key: &["a"],
};

#[test]
fn numbers_in_braces_are_filled_and_other_braces_stay() {
    for (text, whole) in [
        ("{1}", "x"),
        ("{2}, {1}, {1}", "{1}, x, x"),
        ("'{a}' {} { {3} {0} {1", "'{a}' {} { {3} {0} {1"),
        ("", ""),
    ] {
        // Inserted values are not expanded again.
        assert_eq!(fill(text, &["x", "{1}"]), whole);
    }
}

#[test]
fn missing_texts_are_standard_sql_or_unsupported() {
    let dialect = read(&bare(c"${1}".as_ptr())).unwrap();
    assert_eq!(dialect.placeholder(12), "$12");
    assert_eq!(
        dialect.create_table(&TABLE),
        "CREATE TABLE t (a INTEGER NOT NULL, b TEXT, PRIMARY KEY (a))"
    );
    assert_eq!(dialect.drop_table("t"), "DROP TABLE IF EXISTS t");
    assert_eq!(dialect.unsigned(16), "SMALLINT");
    assert_eq!(dialect.remainder("a", "3"), "a % 3");
    assert_eq!((dialect.longest(), dialect.sized(SqlType::Text, 10)), (None, None));
    assert_eq!((dialect.json(), dialect.binary_json()), (None, None));
    assert_eq!((dialect.month("a"), dialect.correlation("a", "b")), (None, None));
    assert!(!dialect.windows() && !dialect.row_values() && !dialect.seeks_by_key());
}

#[test]
fn texts_of_a_library_are_used() {
    extern "C" fn options(table: *const abi::Table) -> *const c_char {
        // SAFETY: a table as the header describes it.
        let (columns, key) = unsafe { ((*table).columns, (*table).key) };
        // SAFETY: it has two columns, and one in its key.
        let (second, end) = unsafe { (*columns.add(1), *key.add(1)) };
        let is_valid = second.holds == abi::TYPE_TEXT && second.nullable == 1 && end.is_null();
        if is_valid { c" STRICT".as_ptr() } else { ptr::null() }
    }
    let dialect = read(&abi::Dialect {
        has: abi::WINDOWS | abi::SKIPS_IN_GROUPS,
        type_int: c"INT".as_ptr(),
        indexed_text: c"VARCHAR(9)".as_ptr(),
        sized_text: c"VARCHAR({1})".as_ptr(),
        longest: 1000,
        json_text: c"{1} -> '{2}'".as_ptr(),
        name: c"\"{1}\"".as_ptr(),
        not_null: c"{1} NEVER NULL".as_ptr(),
        create_table: c"CREATE ROW TABLE".as_ptr(),
        table_options: Some(options),
        correlation: c"CORR({1}, {2})".as_ptr(),
        ..bare(c"?".as_ptr())
    })
    .unwrap();
    assert_eq!(
        dialect.create_table(&TABLE),
        "CREATE ROW TABLE \"t\" (\"a\" INT NEVER NULL, \"b\" TEXT, PRIMARY KEY (\"a\")) STRICT"
    );
    assert_eq!(dialect.drop_table("t"), "DROP TABLE IF EXISTS \"t\"");
    assert_eq!(dialect.indexed_type(SqlType::Text), "VARCHAR(9)");
    assert_eq!(dialect.indexed_type(SqlType::Bytes), "BLOB");
    assert_eq!(dialect.sized(SqlType::Text, 7).as_deref(), Some("VARCHAR(7)"));
    assert_eq!(dialect.longest(), Some(1000));
    assert_eq!(dialect.json_text("c", "f").as_deref(), Some("c -> 'f'"));
    assert_eq!(dialect.correlation("y", "x").as_deref(), Some("CORR(y, x)"));
    assert!(dialect.windows() && dialect.skips_in_groups() && !dialect.derived_tables());
}

#[test]
fn a_dialect_without_placeholders_is_invalid() {
    for placeholder in [ptr::null(), c"".as_ptr()] {
        let why = read(&bare(placeholder)).err().unwrap();
        assert!(why.contains("`placeholder` is empty"), "{why}");
    }
    let why = read(&abi::Dialect { month: c"\xff".as_ptr(), ..bare(c"?".as_ptr()) }).err().unwrap();
    assert!(why.contains("`month` is not UTF-8"), "{why}");
}
