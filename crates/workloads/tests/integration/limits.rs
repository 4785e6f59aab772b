//! What an engine declares that it cannot hold is unsupported, before anything is measured.

use std::path::Path;

use crate::common::{connecting, options, store};
use embermark_engines::registry;
use embermark_language::parse;
use embermark_model::Scale;
use embermark_model::plan::DataSource;
use embermark_model::table::Column;
use embermark_skips::sampled;
use embermark_workloads::defined::Defined;
use embermark_workloads::{Spec, Workload};

/// Stages the tables of a workload file in a folder. The first table gets this many copies of its
/// last column: the parser compares every name with every other.
fn staged(
    tables: &str,
    copies: usize,
    scale: Scale,
    folder: &Path,
) -> (&'static dyn Workload, Spec) {
    let text = format!("{tables}\n[phase.load]\ndo = \"insert\"");
    let mut definition = parse("test.toml", &text, &[]).unwrap_or_else(|e| panic!("{e}"));
    let columns = &mut definition.tables[0].columns;
    let last = columns[columns.len() - 1].clone();
    columns.extend((0..copies).map(|n| Column { name: format!("copy{n}"), ..last.clone() }));
    let workload = Defined::leak(definition, folder.to_owned(), 0.0);
    let rows = folder.join("rows");
    let source = workload.source(&DataSource::Synthetic, 42).unwrap();
    source.stage(scale, &rows).unwrap();
    (workload, Spec::of(rows, "as-written", 7))
}

/// Returns a table of this many integers, with indexes.
fn table(name: &str, columns: usize, indexes: &str) -> String {
    let column = |n| format!("c{n} = {{ type = \"u8\", make = \"cycle\", distinct = 2 }}\n");
    let columns: String = (0..columns).map(column).collect();
    format!(
        "[table.{name}]\nrows = 3\nkey = [\"id\"]\nindex = [{indexes}]\n[table.{name}.columns]\n\
         id = {{ type = \"u32\", make = \"sequence\" }}\n{columns}"
    )
}

/// Opens the tables on an engine. Returns why they are unsupported, if they are, and `None` if the
/// engine is missing.
fn refused(id: &str, workload: &dyn Workload, spec: &Spec) -> Option<Option<String>> {
    let (_dir, mut options) = options();
    let store = store(registry::find(id).unwrap(), &mut options)?;
    let spec = Spec { engine: id.to_owned(), ..spec.clone() };
    Some(match workload.prepare(&spec).unwrap().open(store, connecting()) {
        Ok(bench) => {
            bench.finish().unwrap();
            None
        }
        Err(error) => {
            assert!(error.is_unsupported(), "{id}: {error}");
            Some(error.to_string())
        }
    })
}

/// Asserts that the tables are refused for this reason.
fn is_refused(id: &str, tables: &str, copies: usize, why: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (workload, spec) = staged(tables, copies, Scale::Rows(3), folder.path());
    let Some(refused) = refused(id, workload, &spec) else { return };
    let refused = refused.unwrap_or_default();
    assert!(refused.contains(why) && refused.contains("http"), "{id}: {refused}");
}

#[test]
fn more_than_an_engine_states_is_unsupported_by_its_own_number() {
    let columns: Vec<String> = (0..33).map(|n| format!("\"c{n}\"")).collect();
    let index = format!("[{}]", columns.join(", "));
    let each: Vec<String> = (0..65).map(|n| format!("[\"c{n}\"]")).collect();
    let each = |count: usize| each[..count].join(", ");
    let few = |columns, indexes: &str| (table("t", columns, indexes), 0);
    let wide = |columns: usize| (table("wide", 1, ""), columns - 1);
    let cases = [
        ("sqlite", wide(2_000), "2001 columns, and sqlite takes 2000"),
        ("sqlite", (table("sqlite_x", 1, ""), 0), "begin with 'sqlite_'"),
        ("postgres", wide(1_600), "1601 columns, and postgres takes 1600"),
        ("postgres", few(33, &index), "33 columns, and postgres takes 32"),
        ("firebird", few(33, &index), "33 columns, and firebird takes 16"),
        ("mariadb", few(65, &each(65)), "65 indexes, and mariadb takes 64"),
        ("mongodb", few(65, &each(65)), "65 indexes, and mongodb takes 63"),
        ("lmdb", few(40, &each(40)), "41 tables and indexes, and lmdb"),
        ("hybrid", few(36, &each(36)), "37 tables and indexes"),
        ("duckdb", wide(20_000), "20001 columns, and duckdb takes"),
        ("firebird", big(20_000), "row of 'wide' have 162509 bytes, and firebird takes"),
        ("postgres", big(1_018), "bytes, and postgres takes 8136"),
        ("mariadb", big(1_014), "bytes, and mariadb takes 8100"),
    ];
    for (id, (tables, copies), why) in sampled(cases, 4) {
        is_refused(id, &tables, copies, why);
    }
}

/// Returns a table of this many integers of eight bytes beside its key: one, and how often it is
/// copied.
fn big(columns: usize) -> (String, usize) {
    (table("wide", 1, "").replace("u8", "i64"), columns - 1)
}

#[test]
fn what_is_just_within_a_limit_is_not_refused() {
    let cases = [("sqlite", 1_999), ("firebird", 8_060), ("postgres", 1_016), ("mariadb", 1_011)];
    for (id, columns) in sampled(cases, 1) {
        let folder = tempfile::tempdir().unwrap();
        let (table, copies) = big(columns);
        let table = table.replace("u32", "i64");
        let (workload, spec) = staged(&table, copies, Scale::Rows(3), folder.path());
        let Some(refused) = refused(id, workload, &spec) else { continue };
        assert_eq!(refused, None, "{id}");
    }
}

#[test]
fn a_text_that_is_longer_than_a_key_or_an_index_of_sql_takes_is_unsupported() {
    for (length, is_too_long) in [(256, true), (255, false)] {
        for (key, index, place) in [("word", "n", "key"), ("n", "word", "index")] {
            let folder = tempfile::tempdir().unwrap();
            let csv = format!("word,n\n{},1\nshort,2\n", "k".repeat(length));
            std::fs::write(folder.path().join("rows.csv"), csv).unwrap();
            let table = format!(
                "[table.t]\nfile = \"rows.csv\"\nkey = [\"{key}\"]\nindex = [[\"{index}\"]]\n\
                 [table.t.columns]\nword = \"text\"\nn = \"u8\""
            );
            let (workload, spec) = staged(&table, 0, Scale::Full, folder.path());
            for id in sampled(["firebird", "mariadb", "sqlite", "postgres"], 2) {
                let Some(refused) = refused(id, workload, &spec) else { continue };
                let limited = matches!(id, "firebird" | "mariadb");
                assert_eq!(refused.is_some(), is_too_long && limited, "{id}: {refused:?}");
                let says = format!("a text in the {place} of 't' has 256");
                assert!(refused.is_none_or(|why| why.contains(&says)), "{id}");
            }
        }
    }
}

#[test]
fn texts_that_an_engine_does_not_order_by_their_bytes_are_unsupported_in_a_key_or_an_index() {
    for (id, texts, is_refused) in [
        ("firebird", ["a ", "a\tb"], true),
        ("firebird", ["a ", "b\t"], false),
        ("sqlite", ["a ", "a\tb"], false),
        ("harperdb", ["😀", "\u{ffee}"], true),
    ] {
        for (key, index, place) in [("word", "n", "key"), ("n", "word", "index")] {
            let folder = tempfile::tempdir().unwrap();
            let csv = format!("word,n\n\"{}\",1\n\"{}\",2\n", texts[0], texts[1]);
            std::fs::write(folder.path().join("rows.csv"), csv).unwrap();
            let table = format!(
                "[table.t]\nfile = \"rows.csv\"\nread = {{ delim = \",\" }}\nkey = [\"{key}\"]\n\
                 index = [[\"{index}\"]]\n[table.t.columns]\nword = \"text\"\nn = \"u8\""
            );
            let (workload, spec) = staged(&table, 0, Scale::Full, folder.path());
            let Some(refused) = refused(id, workload, &spec) else { continue };
            assert_eq!(refused.is_some(), is_refused, "{id} {texts:?}: {refused:?}");
            let says = format!("orders the texts in the {place} of 't'");
            assert!(refused.is_none_or(|why| why.contains(&says)), "{id}");
        }
    }
}

#[test]
fn a_key_that_is_longer_than_an_engine_takes_is_unsupported_and_one_byte_less_is_not() {
    for (length, is_too_long) in [(512, true), (511, false)] {
        let folder = tempfile::tempdir().unwrap();
        let csv = format!("word,n\n{},1\nshort,2\n", "k".repeat(length));
        std::fs::write(folder.path().join("rows.csv"), csv).unwrap();
        let table = "[table.t]\nfile = \"rows.csv\"\nkey = [\"word\"]\n[table.t.columns]\n\
                     word = \"text\"\nn = \"u8\"";
        let (workload, spec) = staged(table, 0, Scale::Full, folder.path());
        let Some(refused) = refused("lmdb", workload, &spec) else { return };
        assert_eq!(refused.is_some(), is_too_long, "{refused:?}");
        if let Some(why) = refused {
            assert!(why.contains("512 bytes, and lmdb takes 511"), "{why}");
        }
    }
}
