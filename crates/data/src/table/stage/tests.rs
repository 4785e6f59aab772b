use embermark_model::table::{Column, ColumnType, Make, MakeKind, TimeUnit, Value};
use tempfile::TempDir;

use super::*;
use crate::table::StagedTable;

fn column(name: &str, of: ColumnType, kind: MakeKind) -> Column {
    let make = Some(Make::new(kind));
    Column { make, ..Column::new(name, of) }
}

fn table(columns: Vec<Column>, key: &[usize], rows: u64) -> Table {
    let rows = RowsFrom::Made(rows);
    Table { name: "t".to_owned(), columns, key: key.to_vec(), indexes: Vec::new(), rows }
}

const U64: ColumnType = ColumnType::Int { bits: 64, signed: false };

/// Stages a generated table. The file is removed with the folder.
fn staged(table: Table) -> (TempDir, Staged, StagedTable) {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("t");
    let staged = stage(&[table], 0, folder.path(), None, 42, 0.01, &to).unwrap();
    let rows = StagedTable::open(&to).unwrap();
    assert_eq!(rows.rows() as u64, staged.rows);
    (folder, staged, rows)
}

#[test]
fn a_sequence_lies_in_the_order_of_its_keys_and_is_found() {
    let id = MakeKind::Sequence { from: 10, step: 5, repeat: 1 };
    let (_folder, staged, rows) = staged(table(vec![column("id", U64, id)], &[0], 1_000));
    assert_eq!((staged.rows, staged.dropped.len()), (1_000, 0));
    for nth in 0..1_000 {
        assert_eq!(rows.nth_by_key(nth), nth);
        assert_eq!(rows.value(nth, 0), Value::Int(10 + 5 * nth as i64));
        assert_eq!(rows.find(&[Value::Int(10 + 5 * nth as i64)]), Ok(nth));
    }
    assert_eq!(rows.find(&[Value::Int(11)]), Err(1));
    assert_eq!(rows.find(&[Value::Int(-1)]), Err(0));
    assert_eq!(rows.find(&[Value::Int(1 << 40)]), Err(1_000));
    assert_eq!((rows.least(0), rows.greatest(0)), (Value::Int(10), Value::Int(5_005)));
    assert_eq!(rows.user_bytes(7), 8);
}

#[test]
fn rows_out_of_order_are_sorted_by_all_columns_of_their_key() {
    let time = MakeKind::Sequence { from: 1_000_000, step: -60, repeat: 7 };
    let sensor = MakeKind::Cycle { from: 1, distinct: 7 };
    let columns = vec![
        column("time", ColumnType::Timestamp(TimeUnit::Seconds), time),
        column("sensor", ColumnType::Int { bits: 16, signed: false }, sensor),
    ];
    let (_folder, _, rows) = staged(table(columns, &[1, 0], 7_000));
    let key = |nth| {
        let row = rows.nth_by_key(nth);
        [rows.value(row, 1), rows.value(row, 0)]
    };
    let keys: Vec<_> = (0..7_000).map(key).collect();
    let numbers: Vec<_> = keys
        .iter()
        .map(|key| match key {
            [Value::Int(sensor), Value::Int(time)] => (*sensor, *time),
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(numbers.is_sorted_by(|a, b| a < b), "{:?}", &numbers[..10]);
    for (nth, key) in keys.iter().enumerate() {
        assert_eq!(rows.find(key), Ok(nth));
    }
    assert_eq!(rows.find(&[Value::Int(3)]), Ok(2_000));
    assert_eq!(rows.find(&[Value::Int(8)]), Err(7_000));
    assert_eq!(rows.user_bytes(0), 10);
}

#[test]
fn of_rows_with_one_key_the_first_stays() {
    let columns = vec![
        column("k", U64, MakeKind::Cycle { from: 0, distinct: 90 }),
        column("n", U64, MakeKind::Sequence { from: 0, step: 1, repeat: 1 }),
    ];
    let (_folder, staged, rows) = staged(table(columns, &[0], 1_000));
    assert_eq!(staged.rows, 90);
    assert_eq!(staged.dropped[DUPLICATE_KEY], 910);
    for row in 0..90 {
        assert_eq!(rows.value(row, 0), rows.value(row, 1));
        assert_eq!(rows.nth_by_key(row), row);
    }
    assert_eq!(rows.greatest(1), Value::Int(89));
}

#[test]
fn the_records_of_a_file_without_a_key_are_numbered() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("r.csv"), "word\na\nb\na\n").unwrap();
    let number = MakeKind::Sequence { from: 5, step: 2, repeat: 1 };
    let word = Column { make: None, ..column("word", ColumnType::Text, number.clone()) };
    let rows = RowsFrom::File(Box::new("r.csv".into()));
    let table = Table { rows, ..table(vec![column("row", U64, number), word], &[0], 0) };
    let to = folder.path().join("t");
    let staged = stage(&[table], 0, folder.path(), None, 42, 0.01, &to).unwrap();
    assert_eq!((staged.rows, staged.dropped.len()), (3, 0));
    let rows = StagedTable::open(&to).unwrap();
    let read: Vec<_> = (0..3).map(|row| (rows.value(row, 0), rows.value(row, 1))).collect();
    let expected = [(5, "a"), (7, "b"), (9, "a")];
    assert_eq!(read, expected.map(|(row, word)| (Value::Int(row), Value::Text(word))));
}
