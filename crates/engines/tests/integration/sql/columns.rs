//! Columns of a table made for a user's rows: bytes, texts in keys and indexes, arbitrary names.

use std::slice;

use embermark_engines::sql::{Dialect, Nullable, Param, ResultRow, Rows, SqlType, TableDef};

use super::Subject;

/// Values of a row that a test stores or finds.
type Cells = Vec<Cell>;

#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Null,
    Int(i64),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Cell {
    fn param(&self) -> Param<'_> {
        match self {
            Self::Null => Param::Null,
            Self::Int(int) => Param::Int(*int),
            Self::Float(float) => Param::Float(*float),
            Self::Text(text) => Param::Text(text),
            Self::Bytes(bytes) => Param::Bytes(bytes),
        }
    }

    fn read(row: &dyn ResultRow, column: usize, of: SqlType) -> Self {
        let found = match of {
            SqlType::Int | SqlType::Big => row.int(column).unwrap().map(Self::Int),
            SqlType::Text => row.text(column).unwrap().map(|text| Self::Text(text.to_owned())),
            SqlType::Bytes => row.bytes(column).unwrap().map(|bytes| Self::Bytes(bytes.to_vec())),
            SqlType::Double => row.float(column).unwrap().map(Self::Float),
        };
        found.unwrap_or(Self::Null)
    }

    fn of(value: Param<'_>) -> Self {
        match value {
            Param::Null => Self::Null,
            Param::Int(int) => Self::Int(int),
            Param::Float(float) => Self::Float(float),
            Param::Text(text) => Self::Text(text.to_owned()),
            Param::Bytes(bytes) => Self::Bytes(bytes.to_vec()),
        }
    }
}

fn text(text: &str) -> Cell {
    Cell::Text(text.to_owned())
}

/// Rows of a bulk load.
struct Given<'a>(slice::Iter<'a, Cells>, Vec<Param<'a>>);

impl Rows for Given<'_> {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        self.1 = self.0.next()?.iter().map(Cell::param).collect();
        Some(&self.1)
    }
}

/// Columns of a result.
type Types<'a> = &'a [SqlType];

impl Subject {
    fn cells(&mut self, sql: &str, params: &[Cell], of: Types<'_>) -> Vec<Cells> {
        let statement = self.prepare(sql);
        let params: Vec<_> = params.iter().map(Cell::param).collect();
        let mut rows = Vec::new();
        let mut visit = |row: &dyn ResultRow| {
            rows.push((0..).zip(of).map(|(n, of)| Cell::read(row, n, *of)).collect());
            Ok(())
        };
        self.store.query(statement, &params, &mut visit).unwrap();
        rows
    }

    /// Returns the only row of a question, with its columns read by their types.
    fn any(&mut self, sql: &str) -> Cells {
        let statement = self.prepare(sql);
        let (mut found, mut room) = (Vec::new(), String::new());
        let mut visit = |row: &dyn ResultRow| {
            assert!(found.is_empty(), "{sql}");
            for column in 0..row.columns()? {
                found.push(Cell::of(row.any(column, &mut room)?));
            }
            Ok(())
        };
        self.store.query(statement, &[], &mut visit).unwrap();
        found
    }

    fn bulk(&mut self, table: &TableDef, rows: &[Cells]) {
        let mut given = Given(rows.iter(), Vec::new());
        assert_eq!(self.store.bulk_insert(table, &mut given).unwrap(), rows.len() as u64);
    }

    /// Inserts the rows one by one.
    fn fill(&mut self, table: &TableDef, rows: &[Cells]) {
        let places = vec!["?"; table.columns.len()].join(", ");
        let statement = self.prepare(&format!("INSERT INTO {} VALUES ({places})", table.name));
        for row in rows {
            let params: Vec<_> = row.iter().map(Cell::param).collect();
            assert_eq!(self.store.run(statement, &params).unwrap(), 1);
        }
    }
}

/// Returns the types that make columns fit for an index.
fn indexed<'a>(
    dialect: &dyn Dialect,
    table: &TableDef,
    of: &[&'a str],
) -> Vec<(&'a str, &'static str)> {
    let mut types = Vec::new();
    for name in of {
        let column = table.columns.iter().find(|(column, ..)| column == name).unwrap();
        types.push((*name, dialect.indexed_type(column.1)));
    }
    types
}

const HELD: TableDef = TableDef {
    name: "held",
    columns: &[
        ("id", SqlType::Int, Nullable::No),
        ("content", SqlType::Bytes, Nullable::Yes),
        ("tag", SqlType::Bytes, Nullable::No),
    ],
    key: &["tag"],
};

pub(super) fn bytes_round_trip(subject: &mut Subject) {
    let every: Vec<u8> = (0..=255).collect();
    let mut long = every.repeat(400);
    long.truncate(subject.store.dialect().longest().unwrap_or(usize::MAX));
    let contents =
        [&b""[..], b"a", b"\0", b"exactly12byt", b"thirteen byte", b"\xff\xfe'\"\\", &every, &long];
    let mut rows: Vec<Cells> = (0u8..)
        .zip(contents)
        .map(|(n, content)| {
            vec![
                Cell::Int(n.into()),
                Cell::Bytes(content.to_vec()),
                Cell::Bytes(vec![255 - n, 0, n]),
            ]
        })
        .collect();
    rows.push(vec![Cell::Int(8), Cell::Null, Cell::Bytes(Vec::new())]);
    let types = [SqlType::Int, SqlType::Bytes, SqlType::Bytes];
    subject.create(&HELD);
    for bulk in [false, true] {
        subject.run("DELETE FROM held", &[]).unwrap();
        match bulk {
            true => subject.bulk(&HELD, &rows),
            false => subject.fill(&HELD, &rows),
        }
        assert_eq!(subject.cells("SELECT * FROM held ORDER BY id", &[], &types), rows);
        for row in &rows {
            let by_key = "SELECT * FROM held WHERE tag = ?";
            let found = subject.cells(by_key, &row[2..], &types);
            assert_eq!(found, slice::from_ref(row));
            if row[1] != Cell::Null {
                let found =
                    subject.cells("SELECT * FROM held WHERE content = ?", &row[1..2], &types);
                assert_eq!(found, slice::from_ref(row));
            }
        }
        let descending: Vec<Cells> =
            subject.cells("SELECT tag FROM held ORDER BY tag DESC", &[], &[SqlType::Bytes]);
        assert_eq!(descending, rows.iter().map(|row| row[2..].to_vec()).collect::<Vec<_>>());
    }
    // A statement is used again after a NULL and after longer bytes.
    let update = subject.prepare("UPDATE held SET content = ? WHERE id = 1");
    for content in [Cell::Null, Cell::Bytes(long), Cell::Null, Cell::Bytes(vec![7])] {
        assert_eq!(subject.store.run(update, &[content.param()]).unwrap(), 1);
        let found = subject.cells("SELECT content FROM held WHERE id = 1", &[], &[SqlType::Bytes]);
        assert_eq!(found, [[content]]);
    }
}

const COMPARED: TableDef = TableDef {
    name: "compared",
    columns: &[
        ("word", SqlType::Text, Nullable::No),
        ("again", SqlType::Text, Nullable::Yes),
        ("raw", SqlType::Bytes, Nullable::Yes),
    ],
    key: &["word"],
};

/// Texts in the order of their bytes. No two are equal, though some languages treat them so.
const ORDERED: [&str; 17] =
    ["", "\t", " ", " a", "A", "AB", "Z", "a", "a\t", "a ", "aB", "ab", "b", "z", "Ä", "ä", "🦆"];

pub(super) fn comparisons_are_by_bytes(subject: &mut Subject) {
    subject.create(&COMPARED);
    let row = |word: &str| vec![text(word), text(word), Cell::Bytes(word.as_bytes().to_vec())];
    let rows: Vec<Cells> = ORDERED.iter().rev().map(|word| row(word)).collect();
    subject.fill(&COMPARED, &rows);
    let words: Vec<Cells> = ORDERED.map(|word| vec![text(word)]).into();
    let of_text = [SqlType::Text];
    for column in ["word", "again"] {
        let sql = format!("SELECT {column} FROM compared ORDER BY {column}");
        assert_eq!(subject.cells(&sql, &[], &of_text), words, "{column}");
        let sql = format!("SELECT MIN({column}), MAX({column}) FROM compared");
        let extremes = subject.cells(&sql, &[], &[SqlType::Text; 2]);
        assert_eq!(extremes, [[text(""), text("🦆")]]);
        let sql = format!("SELECT word FROM compared WHERE {column} >= ? ORDER BY word");
        assert_eq!(subject.cells(&sql, &[text("a")], &of_text), words[7..]);
        let sql = format!("SELECT word FROM compared WHERE {column} = ?");
        for word in &words {
            assert_eq!(subject.cells(&sql, word, &of_text), slice::from_ref(word));
        }
        let sql = format!("SELECT {column}, COUNT(*) FROM compared GROUP BY {column}");
        let groups = subject.cells(&sql, &[], &[SqlType::Text, SqlType::Int]);
        assert_eq!(groups.len(), ORDERED.len(), "{groups:?}");
        assert!(groups.iter().all(|group| group[1] == Cell::Int(1)));
    }
    let found = subject.cells("SELECT word FROM compared ORDER BY raw", &[], &of_text);
    assert_eq!(found, words);
}

const INDEXED: TableDef = TableDef {
    name: "indexed",
    columns: &[
        ("id", SqlType::Big, Nullable::No),
        ("city", SqlType::Text, Nullable::Yes),
        ("label", SqlType::Text, Nullable::Yes),
        ("hash", SqlType::Bytes, Nullable::Yes),
        ("amount", SqlType::Int, Nullable::Yes),
    ],
    key: &["id"],
};

pub(super) fn indexes_find(subject: &mut Subject) {
    let dialect = subject.store.dialect();
    let types = indexed(dialect, &INDEXED, &["city", "label", "hash"]);
    subject.store.batch(&dialect.create_table_of(&INDEXED, &types)).unwrap();
    let of = |n: i64| match n % 5 {
        0 => vec![Cell::Int(n), Cell::Null, text("x"), Cell::Null, Cell::Null],
        city => vec![
            Cell::Int(n),
            text(["", "Linz", "linz", "Linz ", "Wörgl"][city as usize]),
            text(&format!("label {}", n % 3)),
            Cell::Bytes(vec![0, city as u8]),
            Cell::Int(n % 7),
        ],
    };
    let rows: Vec<Cells> = (0..500).map(of).collect();
    let (before, after) = rows.split_at(250);
    subject.bulk(&INDEXED, before);
    for index in [
        "CREATE INDEX indexed_0 ON indexed (city, label)",
        "CREATE INDEX indexed_1 ON indexed (hash, amount)",
        "CREATE INDEX indexed_2 ON indexed (amount)",
    ] {
        subject.store.batch(index).unwrap();
    }
    subject.fill(&INDEXED, &after[..10]);
    subject.bulk(&INDEXED, &after[10..]);
    subject.store.maintain().unwrap();
    let wanted = |met: &dyn Fn(&Cells) -> bool| -> Vec<Cells> {
        rows.iter().filter(|row| met(row)).map(|row| row[..1].to_vec()).collect()
    };
    let mut found = |condition: &str, params: &[Cell]| {
        let sql = format!("SELECT id FROM indexed WHERE {condition} ORDER BY id");
        subject.cells(&sql, params, &[SqlType::Big])
    };
    let (linz, label) = (text("Linz"), text("label 1"));
    let expected = wanted(&|row| row[1] == linz && row[2] == label);
    assert_eq!(found("city = ? AND label = ?", &[linz.clone(), label]), expected);
    assert_eq!(found("city = ?", slice::from_ref(&linz)).len(), 100);
    let hash = Cell::Bytes(vec![0, 3]);
    let expected = wanted(&|row| row[3] == hash && row[4] == Cell::Int(2));
    assert_eq!(found("hash = ? AND amount = 2", &[hash]), expected);
    let expected = wanted(&|row| matches!(row[4], Cell::Int(5..)));
    assert_eq!(found("amount >= ?", &[Cell::Int(5)]), expected);
    subject.run("UPDATE indexed SET city = ? WHERE id = 1", &[Param::Text("Graz")]).unwrap();
    subject.run("DELETE FROM indexed WHERE id = 6", &[]).unwrap();
    let counted = "SELECT COUNT(*) FROM indexed WHERE city = ?";
    assert_eq!(subject.cells(counted, &[linz], &[SqlType::Int]), [[Cell::Int(98)]]);
}

/// Names as they are found in the headers of people's files.
const NAMED: TableDef = TableDef {
    name: "events",
    columns: &[
        ("station_id", SqlType::Int, Nullable::No),
        ("time", SqlType::Big, Nullable::No),
        ("value", SqlType::Big, Nullable::Yes),
        ("name", SqlType::Text, Nullable::Yes),
        ("level", SqlType::Int, Nullable::Yes),
        ("type", SqlType::Text, Nullable::Yes),
        ("count", SqlType::Int, Nullable::Yes),
        ("date", SqlType::Text, Nullable::Yes),
        ("year", SqlType::Int, Nullable::Yes),
        ("status", SqlType::Text, Nullable::Yes),
        ("position", SqlType::Int, Nullable::Yes),
        ("data", SqlType::Bytes, Nullable::Yes),
        ("timestamp", SqlType::Big, Nullable::Yes),
        ("text", SqlType::Text, Nullable::Yes),
        ("Temp_C", SqlType::Int, Nullable::Yes),
    ],
    key: &["station_id", "time"],
};

pub(super) fn names_are_taken(subject: &mut Subject) {
    let dialect = subject.store.dialect();
    let types = indexed(dialect, &NAMED, &["name", "type"]);
    subject.store.batch(&dialect.create_table_of(&NAMED, &types)).unwrap();
    let named = |name: &str| dialect.column(name);
    for (index, columns) in [(0, &["name", "type"][..]), (1, &["level", "count", "value"])] {
        let columns = columns.iter().map(|name| named(name)).collect::<Vec<_>>().join(", ");
        subject.store.batch(&format!("CREATE INDEX events_{index} ON events ({columns})")).unwrap();
    }
    let of: Vec<SqlType> = NAMED.columns.iter().map(|(_, of, _)| *of).collect();
    let row = |n: i64| -> Cells {
        let cell = |of: &SqlType| match of {
            SqlType::Text => text(&format!("text {n}")),
            SqlType::Bytes => Cell::Bytes(n.to_be_bytes().to_vec()),
            _ => Cell::Int(n),
        };
        of.iter().map(cell).collect()
    };
    let rows: Vec<Cells> = (0..20).map(row).collect();
    subject.bulk(&NAMED, &rows[..10]);
    subject.fill(&NAMED, &rows[10..]);
    let time = named("time");
    let all = format!("SELECT * FROM events ORDER BY station_id, {time}");
    assert_eq!(subject.cells(&all, &[], &of), rows);
    for ((name, ..), n) in NAMED.columns.iter().zip(0..) {
        let (value, of, name) = (rows[7][n].clone(), of[n], named(name));
        // Before version 18, PostgreSQL has neither of these for bytes.
        let (least, greatest) = if of == SqlType::Bytes { ("", "") } else { ("MIN", "MAX") };
        let sql = format!(
            "SELECT {name}, COUNT(*) AS counted, {least}({name}) AS lowest, \
             {greatest}(e.{name}) AS highest FROM events e \
             WHERE {name} = ? AND {name} >= ? GROUP BY {name} ORDER BY {name}"
        );
        let types = [of, SqlType::Int, of, of];
        let found = subject.cells(&sql, &[value.clone(), value.clone()], &types);
        assert_eq!(found, [[value.clone(), Cell::Int(1), value.clone(), value]], "{name}");
        if n > 1 {
            let set = format!("UPDATE events SET {name} = ? WHERE station_id = ? AND {time} = ?");
            let params = [rows[8][n].param(), Param::Int(3), Param::Int(3)];
            assert_eq!(subject.run(&set, &params).unwrap(), 1, "{name}");
        }
    }
    let delete = format!("DELETE FROM events WHERE {time} < ?");
    assert_eq!(subject.run(&delete, &[Param::Int(5)]).unwrap(), 5);
    subject.store.maintain().unwrap();
}

const WHOLE: TableDef = TableDef {
    name: "whole",
    columns: &[
        ("place", SqlType::Text, Nullable::No),
        ("stamp", SqlType::Big, Nullable::No),
        ("part", SqlType::Int, Nullable::No),
        ("number", SqlType::Double, Nullable::Yes),
    ],
    key: &["place", "stamp", "part"],
};

pub(super) fn keys_are_compared(subject: &mut Subject) {
    subject.create(&WHOLE);
    let places = ["", "B", "a", "a ", "ab", "ä"];
    let keys: Vec<Cells> = places
        .iter()
        .flat_map(|place| (-2..3).map(move |stamp| (place, stamp)))
        .flat_map(|(place, stamp)| {
            (0..2).map(move |part| vec![text(place), Cell::Int(stamp * 1000), Cell::Int(part)])
        })
        .collect();
    let rows: Vec<Cells> = keys.iter().map(|key| [&key[..], &[Cell::Null]].concat()).collect();
    subject.fill(&WHOLE, &rows);
    let select = "SELECT place, stamp, part FROM whole WHERE";
    let order = format!("ORDER BY place, stamp, part {}", subject.store.dialect().limit("7"));
    let of = [SqlType::Text, SqlType::Big, SqlType::Int];
    let written_out = format!(
        "{select} place >= ? AND (place > ? OR stamp >= ? AND (stamp > ? OR part >= ?)) {order}"
    );
    for (at, key) in keys.iter().enumerate() {
        let expected = &keys[at..keys.len().min(at + 7)];
        if subject.store.dialect().row_values() {
            let sql = format!("{select} (place, stamp, part) >= (?, ?, ?) {order}");
            assert_eq!(subject.cells(&sql, key, &of), expected);
        }
        let [place, stamp, part] = &key[..] else { unreachable!() };
        let params = [place, place, stamp, stamp, part].map(Clone::clone);
        assert_eq!(subject.cells(&written_out, &params, &of), expected);
    }
}

const COUNTED: TableDef = TableDef {
    name: "counted",
    columns: &[
        ("id", SqlType::Int, Nullable::No),
        ("small", SqlType::Int, Nullable::Yes),
        ("wide", SqlType::Big, Nullable::Yes),
        ("word", SqlType::Text, Nullable::Yes),
        ("raw", SqlType::Bytes, Nullable::Yes),
        ("number", SqlType::Double, Nullable::Yes),
    ],
    key: &["id"],
};

/// Reads what the harness reads of questions that it knows nothing about. The columns of HarperDB's
/// results are unknown.
pub(super) fn values_of_any_kind_are_read(subject: &mut Subject) {
    if subject.engine.info().id == "harperdb" {
        return;
    }
    subject.create(&COUNTED);
    let raw = Cell::Bytes(vec![0, 255]);
    let row = |id: i64, small: i64| {
        let cells = [Cell::Int(id), Cell::Int(small), Cell::Int(1 << 62), text("é")];
        cells.into_iter().chain([raw.clone(), Cell::Float(0.5)]).collect::<Cells>()
    };
    let nulls = std::iter::once(Cell::Int(3)).chain(std::iter::repeat_n(Cell::Null, 5)).collect();
    subject.fill(&COUNTED, &[row(1, 3), row(2, 4), nulls]);
    let all = [Cell::Int(1), Cell::Int(3), Cell::Int(1 << 62), text("é"), raw, Cell::Float(0.5)];
    assert_eq!(subject.any("SELECT * FROM counted WHERE id = 1"), all);
    let null = subject.any("SELECT * FROM counted WHERE id = 3");
    assert_eq!((null.len(), &null[1..]), (6, &[const { Cell::Null }; 5][..]));
    // Sums and means of integers are decimals or wide integers in some engines.
    let dialect = subject.store.dialect();
    let mean = dialect.mean("small");
    let sums =
        format!("SELECT SUM(small), {mean}, COUNT(*), SUM(wide / 2), SUM(number) FROM counted");
    let sums = subject.any(&sums);
    let whole = |cell: &Cell, expected: f64| match cell {
        Cell::Int(number) => *number as f64 == expected,
        Cell::Float(number) => *number == expected,
        _ => false,
    };
    let expected = [7.0, 3.5, 3.0, 4_611_686_018_427_387_904.0, 1.0];
    assert!(sums.iter().zip(expected).all(|(cell, expected)| whole(cell, expected)), "{sums:?}");
    assert_eq!(subject.float(&format!("SELECT {mean} FROM counted")), Some(3.5));
    for sum in ["SUM(small)", "SUM(id)"] {
        let sql = format!("SELECT {sum} FROM counted");
        let expected = if sum == "SUM(id)" { 6 } else { 7 };
        assert_eq!(subject.int(&sql), Some(expected), "{sql}");
        assert_eq!(subject.float(&sql), Some(expected as f64), "{sql}");
    }
    // A wide sum that does not fit in 64 bits: SQLite refuses it.
    if !subject.engine.info().id.starts_with("sqlite") {
        let sum = subject.any("SELECT SUM(wide * 1) FROM (SELECT wide FROM counted UNION ALL SELECT wide FROM counted) AS twice");
        assert_eq!(sum, [Cell::Float(4.0 * 2f64.powi(62))]);
        let sql = dialect.value("DATE '2024-02-29', TIMESTAMP '2024-02-29 23:59:59.5'");
        assert_eq!(subject.any(&sql), [text("2024-02-29"), text("2024-02-29 23:59:59.5")]);
    }
    assert_eq!(subject.any(&dialect.value("1 = 1")), [Cell::Int(1)]);
}
