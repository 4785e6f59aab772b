//! Parameters that are sent to the server, and values that come back.

use embermark_engines::sql::{Access, Param, ResultRow, SqlStore};
use tempfile::TempDir;

use crate::server::readings::one_int;

pub fn numbers_and_json_are_read(store: &mut dyn SqlStore, _: &TempDir) {
    let sql = "SELECT 7::smallint, 7, sum(n), avg(n)::float8, 1.5::real, '{\"a\": 1}'::jsonb, \
               NULL::bigint, true, avg(n) FROM generate_series(1, 4) n \
               WHERE n > $1 AND n::numeric < $2";
    let statement = store.prepare(sql).unwrap();
    let params = [Param::Int(0), Param::Float(3.5)];
    let mut rows = 0;
    let mut look = |row: &dyn ResultRow| {
        rows += 1;
        let ints: Vec<_> = (0..3).map(|column| row.int(column).unwrap()).collect();
        assert_eq!(ints, [Some(7), Some(7), Some(6)]);
        assert_eq!((row.float(3)?, row.float(4)?), (Some(2.0), Some(1.5)));
        assert_eq!(row.float(0)?, Some(7.0));
        assert_eq!((row.text(5)?, row.int(6)?), (Some("{\"a\": 1}"), None));
        let error = row.float(7).unwrap_err().to_string();
        assert!(error.contains("bool") && error.contains("cast it"), "{error}");
        assert!(row.int(7).is_err());
        // The results of AVG and SUM of integers.
        assert_eq!((row.float(8)?, row.int(8)?), (Some(2.0), Some(2)));
        assert!(row.int(4).is_err() && row.text(0).is_err() && row.int(9).is_err());
        Ok(())
    };
    store.query(statement, &params, &mut look).unwrap();
    assert_eq!(rows, 1);
}

/// Returns the answer of a statement to parameters; `look` reads its only row.
fn answer(
    store: &mut dyn SqlStore,
    sql: &str,
    params: &[Param<'_>],
    look: &mut dyn FnMut(&dyn ResultRow),
) {
    let (statement, mut rows) = (store.prepare(sql).unwrap(), 0);
    store
        .query(statement, params, &mut |row| {
            look(row);
            rows += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!(rows, 1, "{sql}");
}

pub fn integers_come_back(store: &mut dyn SqlStore, _: &TempDir) {
    let widths = [
        ("smallint", i64::from(i16::MIN), i64::from(i16::MAX)),
        ("integer", i64::from(i32::MIN), i64::from(i32::MAX)),
        ("bigint", i64::MIN, i64::MAX),
        ("numeric::bigint", i64::MIN, i64::MAX),
    ];
    for (of, least, greatest) in widths {
        let sql = format!("SELECT $1::{of}, $2::{of}, $3::{of}, $4::{of}, $1::{of}::text");
        let params = [Param::Int(least), Param::Int(greatest), Param::Int(0), Param::Null];
        answer(store, &sql, &params, &mut |row| {
            let ints = [0, 1, 2, 3].map(|column| row.int(column).unwrap());
            assert_eq!(ints, [Some(least), Some(greatest), Some(0), None], "{of}");
            assert_eq!(row.text(4).unwrap(), Some(&*least.to_string()));
        });
    }
}

pub fn doubles_come_back(store: &mut dyn SqlStore, _: &TempDir) {
    let numbers = [0.0, -0.0, 1.0 / 3.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324];
    let others = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    for number in numbers.into_iter().chain(others) {
        let sql = "SELECT $1::double precision, $2::real, $3::double precision";
        let small = number as f32;
        let params = [Param::Float(number), Param::Float(f64::from(small)), Param::Int(7)];
        answer(store, sql, &params, &mut |row| {
            let found = row.float(0).unwrap().unwrap();
            assert_eq!(found.to_bits(), number.to_bits(), "{number}");
            let found = row.float(1).unwrap().unwrap() as f32;
            assert_eq!(found.to_bits(), small.to_bits(), "{number}");
            assert_eq!(row.float(2).unwrap(), Some(7.0));
        });
    }
    for number in [0.0, 1.25, -1e300, 1e-300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        let sql = "SELECT $1::numeric::double precision";
        answer(store, sql, &[Param::Float(number)], &mut |row| {
            let found = row.float(0).unwrap().unwrap();
            assert!(found == number || (found.is_nan() && number.is_nan()), "{found}, {number}");
        });
    }
}

pub fn texts_come_back(store: &mut dyn SqlStore, _: &TempDir) {
    let long = "grün ".repeat(1_000_000);
    for text in ["", "a", "\u{1F980} grün", "'; --", &long] {
        for of in ["text", "varchar"] {
            let sql = format!("SELECT $1::{of}, length($1::{of}), $2::{of}");
            answer(store, &sql, &[Param::Text(text), Param::Null], &mut |row| {
                assert!(row.text(0).unwrap() == Some(text), "{of}: {} bytes", text.len());
                assert_eq!(row.int(1).unwrap(), Some(text.chars().count() as i64));
                assert_eq!(row.text(2).unwrap(), None);
            });
        }
    }
    let json = format!("{{\"a\": \"{}\"}}", "x".repeat(100_000));
    let sql = "SELECT $1::json, $2::jsonb, $3::char(3), $4::name, $5::uuid::text, \
               $6::timestamp::text, $7::boolean::text, $8::jsonb";
    let uuid = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11";
    let texts = [&json, &json, "ab", "name", uuid, "2026-01-02 03:04:05", "true"];
    let mut params: Vec<Param<'_>> = texts.iter().map(|text| Param::Text(text)).collect();
    params.push(Param::Null);
    answer(store, sql, &params, &mut |row| {
        let expected = [&json, &json, "ab ", "name", uuid, "2026-01-02 03:04:05", "true"];
        for (column, expected) in expected.into_iter().enumerate() {
            assert!(row.text(column).unwrap() == Some(expected), "column {column}");
        }
        assert_eq!(row.text(7).unwrap(), None);
    });
}

pub fn misfits_end_their_transaction(store: &mut dyn SqlStore, _: &TempDir) {
    store.batch("CREATE TABLE t (n INTEGER, word TEXT, data JSONB)").unwrap();
    let insert = store.prepare("INSERT INTO t VALUES ($1, $2, $3)").unwrap();
    let good = [Param::Int(1), Param::Text("x"), Param::Text("{}")];
    let bad: [(&[Param<'_>], &str); 6] = [
        (
            &[Param::Int(1 << 31), good[1], good[2]],
            "Int(2147483648) where the statement wants int4",
        ),
        (&[Param::Text("1"), good[1], good[2]], "parameter 1: Text"),
        (&[good[0], Param::Float(1.0), good[2]], "wants text"),
        (&[good[0], Param::Text("a\0b"), good[2]], "22021"),
        (&[good[0], good[1], Param::Text("{}\0")], "parameter 3 has a zero byte"),
        (&good[..2], "2 parameters where the statement has 3"),
    ];
    for (params, expected) in bad {
        store.begin(Access::Write).unwrap();
        assert_eq!(store.run(insert, &good).unwrap(), 1);
        let error = store.run(insert, params).unwrap_err().to_string();
        assert!(error.contains("INSERT INTO t") && error.contains(expected), "{error}");
        assert_eq!(one_int(store, "SELECT count(*) FROM t").unwrap(), Some(0), "{expected}");
    }
    assert_eq!(store.run(insert, &good).unwrap(), 1);
}

pub fn overflows_are_unsupported(store: &mut dyn SqlStore, _: &TempDir) {
    let sql = "SELECT sum(v) FROM (VALUES (1e308::float8), (1e308)) AS t (v)";
    let sum = store.prepare(sql).unwrap();
    let error = store.query(sum, &[], &mut |_| Ok(())).unwrap_err();
    assert!(error.is_unsupported() && error.to_string().contains("overflow"), "{error}");
    assert_eq!(one_int(store, "SELECT 1").unwrap(), Some(1));
}
