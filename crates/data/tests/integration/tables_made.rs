//! Generated tables: the same on every machine, and as their columns say.

use std::collections::{BTreeMap, HashSet};

use crate::common::tables::*;
use embermark_data::table::{Staged, StagedTable, stage};
use embermark_model::table::{Column, ColumnType, Late, Make, MakeKind, RowsFrom, Table, Value};
use sha2::{Digest, Sha256};

fn made(name: &str, of: ColumnType, kind: MakeKind, absent: f64) -> Column {
    Column {
        nullable: absent > 0.0,
        make: Some(Make { absent, ..Make::new(kind) }),
        ..column(name, of)
    }
}

fn customers() -> Table {
    let columns = vec![
        made("id", U64, MakeKind::Sequence { from: 100, step: 10, repeat: 1 }, 0.0),
        made("city", TEXT, MakeKind::Words { distinct: 500, skew: 0.99 }, 0.0),
    ];
    table_of("customers", columns, &[0], 50)
}

fn table_of(name: &str, columns: Vec<Column>, key: &[usize], rows: u64) -> Table {
    let rows = RowsFrom::Made(rows);
    Table { name: name.to_owned(), columns, key: key.to_vec(), indexes: Vec::new(), rows }
}

/// A table with a column of every kind.
fn orders() -> Table {
    let choice = MakeKind::Choice {
        values: vec![text("open"), text("paid"), text("sent")],
        weights: vec![1.0, 2.0, 7.0],
    };
    let walk = MakeKind::Walk { from: 20.0, step: 0.5, lowest: 15.0, highest: 25.0 };
    let columns = vec![
        made("sensor", U16, MakeKind::Cycle { from: 1, distinct: 20 }, 0.0),
        made("time", SECONDS, MakeKind::Sequence { from: 1_000, step: 60, repeat: 20 }, 0.0),
        made("customer", U64, MakeKind::Reference { table: 1, skew: 0.9 }, 0.0),
        made("n", I64, MakeKind::RandomInt { from: -3, to: 3 }, 0.0),
        made("x", FLOAT, MakeKind::RandomFloat { from: -1.0, to: 1.0 }, 0.25),
        made("field", BYTES, MakeKind::Random { from: 100, to: 100 }, 0.0),
        made("note", TEXT, MakeKind::Random { from: 0, to: 9 }, 0.5),
        made("word", TEXT, MakeKind::Words { distinct: 1_000, skew: 0.99 }, 0.0),
        made("temp", FLOAT, walk, 0.0),
        made("state", TEXT, choice, 0.0),
    ];
    table_of("orders", columns, &[0, 1], 20_000)
}

fn staged(limit: Option<u64>, seed: u64) -> (Staged, StagedTable) {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("t");
    let tables = [orders(), customers()];
    let staged = stage(&tables, 0, folder.path(), limit, seed, 0.0, &to).unwrap();
    (staged, StagedTable::open(&to).unwrap())
}

fn digest(table: &StagedTable) -> String {
    let mut hash = Sha256::new();
    for at in 0..table.rows() {
        hash.update(format!("{:?}\n", row(table, at)));
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn made_rows_are_the_same_everywhere_and_others_with_another_seed() {
    let (staged_rows, table) = staged(None, 42);
    assert_eq!((staged_rows.rows, staged_rows.sha256), (20_000, None));
    assert_eq!(digest(&table), "19e417696f1f03db");
    assert_ne!(digest(&staged(None, 43).1), digest(&table));
    // The first rows are the same for any number of rows.
    let (_, first) = staged(Some(500), 42);
    assert_eq!(first.rows(), 500);
    assert!((0..500).all(|at| row(&first, at) == row(&table, at)));
}

#[test]
fn values_are_as_their_columns_say() {
    let (_, table) = staged(None, 42);
    let table = &table;
    let rows = table.rows();
    let share =
        |is: &dyn Fn(usize) -> bool| (0..rows).filter(|&row| is(row)).count() as f64 / rows as f64;
    let ints = |column| {
        (0..rows).map(move |row| match table_int(table, row, column) {
            Some(value) => value,
            None => panic!("row {row} has no integer"),
        })
    };
    assert!(ints(0).enumerate().all(|(row, sensor)| sensor == 1 + (row as i64 % 20)));
    assert!(ints(1).enumerate().all(|(row, time)| time == 1_000 + 60 * (row as i64 / 20)));
    let customers: HashSet<i64> = ints(2).collect();
    assert!(customers.iter().all(|id| (100..600).contains(id) && id % 10 == 0));
    assert_eq!(customers.len(), 50);
    let mut counts = BTreeMap::new();
    ints(3).for_each(|n| *counts.entry(n).or_insert(0) += 1);
    assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [-3, -2, -1, 0, 1, 2, 3]);
    assert!(counts.values().all(|&count| (2_600..3_120).contains(&count)), "{counts:?}");
    assert!((share(&|row| table.value(row, 4) == Value::Null) - 0.25).abs() < 0.02);
    assert!((share(&|row| table.value(row, 6) == Value::Null) - 0.5).abs() < 0.02);
    let (Value::Float(least), Value::Float(greatest)) = (table.least(4), table.greatest(4)) else {
        panic!("no floats")
    };
    assert!((-1.0..-0.999).contains(&least) && (0.999..1.0).contains(&greatest));
    assert!(
        (0..rows)
            .all(|row| matches!(table.value(row, 5), Value::Bytes(bytes) if bytes.len() == 100))
    );
    let lengths: HashSet<usize> = (0..rows)
        .filter_map(|row| match table.value(row, 6) {
            Value::Text(text) => Some(text),
            _ => None,
        })
        .inspect(|text| assert!(text.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{text:?}"))
        .map(str::len)
        .collect();
    assert_eq!(lengths, (0..=9).collect());
    for (state, weight) in [("open", 0.1), ("paid", 0.2), ("sent", 0.7)] {
        let got = share(&|row| table.value(row, 9) == Value::Text(state));
        assert!((got - weight).abs() < 0.02, "{state}: {got}");
    }
    let words = words(table, 7);
    // The rarest words are drawn less than three times on average.
    assert!((950..=1_000).contains(&words.len()), "{}", words.len());
    // The sum of 1 / k^0.99 up to 1,000 is 7.729.
    let commonest = f64::from(*words.values().max().unwrap()) / rows as f64;
    assert!((commonest - 1.0 / 7.729).abs() < 0.01, "{commonest}");
}

fn table_int(table: &StagedTable, row: usize, column: usize) -> Option<i64> {
    match table.value(row, column) {
        Value::Int(value) => Some(value),
        _ => None,
    }
}

/// The words of a column with their counts. They consist of letters only.
fn words(table: &StagedTable, column: usize) -> BTreeMap<String, u32> {
    let mut words = BTreeMap::new();
    for row in 0..table.rows() {
        let Value::Text(word) = table.value(row, column) else { panic!("row {row}") };
        assert!(word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_lowercase()), "{word}");
        *words.entry(word.to_owned()).or_insert(0) += 1;
    }
    words
}

#[test]
fn a_walk_goes_by_small_steps_between_its_bounds() {
    let (_, table) = staged(None, 42);
    let at = |row| match table.value(row, 8) {
        Value::Float(value) => value,
        other => panic!("{other:?}"),
    };
    assert_eq!(at(0), 20.0);
    let mut squares = 0.0;
    for row in 1..table.rows() {
        let step = at(row) - at(row - 1);
        assert!((15.0..=25.0).contains(&at(row)) && step.abs() < 3.0);
        squares += step * step;
    }
    // A step is shorter where the walk turns back.
    let deviation = (squares / (table.rows() - 1) as f64).sqrt();
    assert!((0.47..0.51).contains(&deviation), "{deviation}");
    assert!(
        (0..table.rows()).any(|row| at(row) < 15.5) && (0..table.rows()).any(|row| at(row) > 24.5)
    );
}

/// Four devices that report each minute: the minute of each row, in the order of arrival.
fn minutes(late: Late) -> Vec<i64> {
    let mut columns = vec![
        made("device", U16, MakeKind::Cycle { from: 0, distinct: 4 }, 0.0),
        made("time", SECONDS, MakeKind::Sequence { from: 0, step: 60, repeat: 4 }, 0.0),
    ];
    columns[1].make = columns[1].make.take().map(|make| Make { late: Some(late), ..make });
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("t");
    let tables = [table_of("said", columns, &[0, 1], 4_000)];
    assert_eq!(stage(&tables, 0, folder.path(), None, 1, 0.0, &to).unwrap().rows, 4_000);
    let table = StagedTable::open(&to).unwrap();
    (0..table.rows()).map(|row| table_int(&table, row, 1).unwrap() / 60).collect()
}

#[test]
fn late_rows_come_behind_others_and_none_is_later_than_said() {
    let all = minutes(Late { share: 1.0, within: 600 });
    let mut made = all.clone();
    made.sort_unstable();
    assert!(made.iter().enumerate().all(|(n, minute)| *minute == n as i64 / 4), "each row once");
    // What came before a row was made less than ten minutes after it.
    let newest = |rows: &[i64]| rows.iter().max().copied().unwrap_or_default();
    let behind = |rows: &[i64]| -> Vec<i64> {
        (0..rows.len()).map(|n| newest(&rows[..=n]) - rows[n]).collect()
    };
    let delays = behind(&all);
    assert!(delays.iter().all(|minutes| *minutes < 10) && delays.contains(&9));
    let some = behind(&minutes(Late { share: 0.05, within: 600 }));
    let late = some.iter().filter(|minutes| **minutes > 0).count();
    // One in twenty, except those that are not late enough to be passed.
    assert!((100..=200).contains(&late), "{late}");
    assert!(minutes(Late { share: 0.0, within: 600 }).is_sorted());
}

#[test]
fn what_cannot_be_made_is_told() {
    let refusal = |of, kind| {
        let folder = tempfile::tempdir().unwrap();
        let tables = [table_of("t", vec![made("c", of, kind, 0.0)], &[], 10)];
        let to = folder.path().join("t");
        stage(&tables, 0, folder.path(), None, 42, 0.0, &to).unwrap_err().to_string()
    };
    let text = refusal(TEXT, MakeKind::Sequence { from: 0, step: 1, repeat: 1 });
    assert!(
        text.contains(
            "table t, column c: its values cannot be generated: its 'make' gives integers"
        ),
        "{text}"
    );
    let text = refusal(U64, MakeKind::Reference { table: 7, skew: 0.0 });
    assert!(text.contains("refers to an unknown table"), "{text}");
    let text = refusal(U16, MakeKind::RandomInt { from: 70_000, to: 80_000 });
    assert!(text.contains("table t: 10 of 10 rows cannot be used"), "{text}");
    assert!(text.contains("out of the range"), "{text}");
}
