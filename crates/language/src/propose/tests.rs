use embermark_data::table::{FileStates, Inferred, InferredColumn, NearKey};
use embermark_model::table::{
    ColumnType, Field, Keep, Literal, MakeKind, OwnedValue, RowsFile, RowsFrom, Table, TimeUnit,
};

use super::{ProposalOptions, propose};
use crate::{Definition, Work, parse};

const U16: ColumnType = ColumnType::Int { bits: 16, signed: false };
const LIVE: ProposalOptions<'_> = ProposalOptions { live: true, statements: None };
const SECONDS: ColumnType = ColumnType::Timestamp(TimeUnit::Seconds);

/// A column that every row has, with this number of different integers from 1.
fn column(name: &str, of: ColumnType, distinct: u64) -> InferredColumn {
    InferredColumn {
        name: name.to_owned(),
        from: None,
        of,
        nullable: false,
        absent: 0,
        least: OwnedValue::Int(1),
        greatest: OwnedValue::Int(distinct as i64),
        distinct,
        exact: true,
        examples: vec![OwnedValue::Int(1), OwnedValue::Int(2)],
        ascending: false,
    }
}

fn table(
    file: &str,
    columns: Vec<InferredColumn>,
    keys: &[&[usize]],
    time: Option<usize>,
) -> Inferred {
    Inferred {
        from: RowsFile::from(file),
        format: "CSV".to_owned(),
        rows: 100_000,
        dropped: [("another number of fields".to_owned(), 3)].into(),
        columns,
        keys: keys.iter().map(|key| key.to_vec()).collect(),
        near_key: None,
        time,
        schema: None,
        notes: Vec::new(),
        states: FileStates::default(),
    }
}

/// Readings of 50 stations, each minute for 33 hours.
fn readings() -> Inferred {
    let first = 1_704_067_200;
    let mut time = column("time", SECONDS, 2_000);
    (time.least, time.greatest) = (OwnedValue::Int(first), OwnedValue::Int(first + 2_000 * 60));
    let mut temp = column("temp (°C)", ColumnType::Float, 500);
    (temp.nullable, temp.absent) = (true, 12);
    (temp.least, temp.greatest) = (OwnedValue::Float(-3.5), OwnedValue::Float(31.0));
    let mut note = column("order", ColumnType::Text, 9_000);
    note.exact = false;
    note.examples =
        vec![OwnedValue::Text("a \"b\"\nc".to_owned()), OwnedValue::Text("x".repeat(99))];
    let columns = vec![column("Station ID", U16, 50), time, temp, note];
    table("data/Readings 2024.csv.gz", columns, &[&[0, 1], &[3]], Some(1))
}

/// Reads a proposed file, and the names of its phases.
fn read(tables: &[Inferred]) -> (Definition, Vec<String>) {
    let text = propose("my rows", tables, &LIVE).0;
    let file = parse("x.toml", &text, &[]).unwrap_or_else(|mistakes| panic!("{text}\n{mistakes}"));
    let names = file.phases.iter().map(|phase| phase.name.clone()).collect();
    (file, names)
}

#[test]
fn what_is_proposed_of_readings_is_told_and_right() {
    assert_eq!(propose("weather", &[readings()], &LIVE).0, include_str!("tests/readings.toml"));
    let (file, phases) = read(&[readings()]);
    assert_eq!(file.name, "my-rows");
    let [table] = &file.tables[..] else { panic!("{:#?}", file.tables) };
    assert_eq!(table.name, "readings_2024");
    assert_eq!(table.rows, RowsFrom::File(Box::new("data/Readings 2024.csv.gz".into())));
    assert_eq!((&table.key[..], table.indexes.len()), (&[0, 1][..], 0));
    let names = |table: &Table| -> Vec<_> {
        table.columns.iter().map(|column| (column.name.clone(), column.from.clone())).collect()
    };
    let field = |from: &str| Box::new(Field { names: vec![from.to_owned()], ..Field::default() });
    let named = |name: &str, from: Option<&str>| (name.to_owned(), from.map(field));
    assert_eq!(
        names(table),
        [
            named("station_id", Some("Station ID")),
            named("time", None),
            named("temp_c", Some("temp (°C)")),
            named("order_", Some("order")),
        ]
    );
    let expected = [
        "ingest", "load", "get", "latest", "window", "top", "hours", "update", "live", "expire",
        "arrival",
    ];
    assert_eq!(phases, expected);
}

#[test]
fn a_table_without_a_key_has_the_number_of_the_row() {
    let mut rows = readings();
    rows.keys.clear();
    rows.columns[2].name = "Row".to_owned();
    let text = propose("x", &[rows.clone()], &ProposalOptions::default()).0;
    assert!(text.contains("No columns were found that are unique together"), "{text}");
    let (file, _) = read(&[rows]);
    let table = &file.tables[0];
    let key = &table.columns[table.key[0]];
    assert_eq!(key.name, "row_");
    let make = key.make.as_ref().map(|make| &make.kind);
    assert!(matches!(make, Some(MakeKind::Sequence { from: 0, step: 1, repeat: 1 })));
    // The newest rows of a station are not found by the number of the row.
    let names = |index: &Vec<usize>| {
        index.iter().map(|place| table.columns[*place].name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(table.indexes.iter().map(names).collect::<Vec<_>>(), [["station_id", "time"]]);
}

#[test]
fn long_texts_are_no_series() {
    for (length, indexes) in [(100, 1), (101, 0)] {
        let mut body = column("body", ColumnType::Text, 9);
        let text = OwnedValue::Text("x".repeat(length));
        (body.least, body.greatest, body.examples) = (text.clone(), text, Vec::new());
        let columns = vec![column("id", U16, 100_000), body, column("at", SECONDS, 9)];
        let (file, _) = read(&[table("log.csv", columns, &[&[0]], Some(2))]);
        assert_eq!(file.tables[0].indexes.len(), indexes, "{length}");
    }
}

#[test]
fn tables_of_any_shape_are_right() {
    let id = || column("id", U16, 100_000);
    let text = || {
        let mut text = column("", ColumnType::Text, 3);
        (text.least, text.examples) = (OwnedValue::Null, Vec::new());
        (text.nullable, text.absent) = (true, 100_000);
        text
    };
    let at = |name: &str, nullable| InferredColumn { nullable, ..column(name, SECONDS, 1) };
    for (columns, keys, time) in [
        (vec![id()], vec![&[0][..]], None),
        (vec![id()], vec![], None),
        (vec![text()], vec![], None),
        (vec![id(), text(), column("9 lives", ColumnType::Bool, 2)], vec![&[0]], None),
        (vec![column("time", U16, 9), id()], vec![&[1]], None),
        (vec![column("time", ColumnType::Text, 9), id()], vec![&[1]], None),
        (vec![at("time", true), id()], vec![&[1]], Some(0)),
        (vec![at("time", false), at("then", false), id()], vec![&[2]], Some(0)),
        (vec![at("time", false), at("then", false), id()], vec![&[2]], Some(1)),
        (vec![at("a b", false), at("A-B", false), column("TIME", U16, 7)], vec![&[0, 1]], Some(0)),
        (vec![column("_id", ColumnType::Bytes, 100_000), at("x", false)], vec![&[0]], Some(1)),
        (vec![column("größe", ColumnType::Float, 9), at(&"x".repeat(90), false)], vec![], Some(1)),
    ] {
        let mut rows = table("order.jsonl", columns, &keys, time);
        for count in [1, 40, 100_000] {
            rows.rows = count;
            let (file, phases) = read(&[rows.clone()]);
            assert_eq!(file.tables[0].name, "order_");
            assert!(phases.len() >= 6, "{phases:?}");
        }
    }
}

#[test]
fn several_tables_have_phases_of_their_own() {
    let mut other = readings();
    other.from = "readings-2024.parquet".into();
    let (file, phases) = read(&[readings(), other]);
    let names: Vec<_> = file.tables.iter().map(|table| &*table.name).collect();
    assert_eq!(names, ["readings_2024", "readings_2024_"]);
    assert_eq!(phases.len(), 22);
    assert!(phases.contains(&"readings_2024_-expire".to_owned()));
    let mixes = file.phases.iter().filter(|phase| matches!(phase.work, Work::Mix(_)));
    assert_eq!(mixes.count(), 2);
}

#[test]
fn how_rows_are_read_is_written_down_and_read_back() {
    let mut rows = readings();
    let option = |name: &str, value: Literal| (name.to_owned(), value);
    let list = Literal::List(vec![Literal::Text("a \"b\"".to_owned()), Literal::Int(-3)]);
    rows.from = RowsFile {
        files: vec!["a.csv".to_owned(), "b.csv".to_owned()],
        query: Some("SELECT *\nFROM 'a.csv'".to_owned()),
        read: vec![
            option("delim", Literal::Text(";".to_owned())),
            option("skip", Literal::Int(3)),
            option("auto_type_candidates", list),
            option("header", Literal::Bool(false)),
            option("field_appearance_threshold", Literal::Float(1.0)),
            option("hive_types", Literal::Map(vec![option("x", Literal::Text("INT".to_owned()))])),
        ],
        absent: vec!["NA".to_owned(), "-9999".to_owned()],
        zone: Some("Europe/Berlin".to_owned()),
        keep: Keep::Last,
    };
    let first = ("line 3".to_owned(), "line 5".to_owned());
    rows.near_key = Some(NearKey { key: vec![0, 1], rows: 4, first });
    rows.notes = vec!["a note\nof two lines".to_owned()];
    let names = vec!["day".to_owned(), "clock".to_owned()];
    let format = Some("%d.%m.%Y %H:%M".to_owned());
    let from = Field { names, format, ..Field::default() };
    rows.columns[1].from = Some(from.clone());
    let (file, _) = read(&[rows.clone()]);
    assert_eq!(file.tables[0].rows, RowsFrom::File(Box::new(rows.from)));
    assert_eq!(file.tables[0].columns[1].from.as_deref(), Some(&from));
}

#[test]
fn the_newest_rows_are_of_a_series_rather_than_of_a_measured_number() {
    let by = |columns: Vec<InferredColumn>| {
        let time = readings().columns[1].clone();
        let columns = [vec![time, column("row", U16, 100_000)], columns].concat();
        let rows = table("a.csv", columns, &[&[1]], Some(0));
        let (file, _) = read(&[rows]);
        file.tables[0].columns[file.tables[0].indexes[0][0]].name.clone()
    };
    let humidity = || column("humidity", U16, 90);
    let text = |name: &str| InferredColumn {
        least: OwnedValue::Text("a".to_owned()),
        greatest: OwnedValue::Text("b".to_owned()),
        examples: vec![OwnedValue::Text("a".to_owned())],
        ..column(name, ColumnType::Text, 5)
    };
    assert_eq!(by(vec![humidity(), column("sensor", U16, 5)]), "sensor");
    assert_eq!(by(vec![humidity(), column("MaschinenNr", U16, 5)]), "MaschinenNr");
    assert_eq!(by(vec![humidity(), text("state")]), "state");
    assert_eq!(by(vec![humidity(), text("state"), column("device_id", U16, 3)]), "device_id");
    assert_eq!(by(vec![humidity()]), "humidity");
}
