//! Files of rows staged as tables: hand-written CSV, JSON lines and Parquet with everything that is
//! unusual.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::common::tables::*;
use crate::common::{self, gzip};
use embermark_data::DataError;
use embermark_data::draw::Draw;
use embermark_data::table::{StagedTable, compare};
use embermark_model::table::{Field, Literal, RowsFrom, Table, Value};
use embermark_skips::sampled;

const COLUMNS: [(&str, embermark_model::table::ColumnType); 5] =
    [("station", U16), ("time", SECONDS), ("temp?", FLOAT), ("note?", TEXT), ("ok", BOOL)];

/// Four good rows.
const CSV: &str = "\u{feff}station, time ,temp,note,ok,unused\r\n\
    2,2004-02-28 00:59:16,19.5,\"said \"\"no\"\", twice\",true,x\r\n\
    1,1077929956,,,False,x\r\n\
    \r\n\
    1,2004-02-28T00:59:17Z,-1e-3,\"two\nlines\",1,x\r\n\
    65535,0,7, blanks ,0,x";

fn expected() -> Vec<Vec<embermark_model::table::OwnedValue>> {
    vec![
        vec![int(2), int(1_077_929_956), float(19.5), text("said \"no\", twice"), int(1)],
        vec![int(1), int(1_077_929_956), NULL, NULL, int(0)],
        vec![int(1), int(1_077_929_957), float(-0.001), text("two\nlines"), int(1)],
        vec![int(65_535), int(0), float(7.0), text(" blanks "), int(0)],
    ]
}

fn readings(file: &str) -> Table {
    table(file, &COLUMNS, &[0, 1])
}

#[test]
fn csv_is_read_with_quotes_marks_blank_lines_and_columns_that_nobody_wants() {
    let folder = file("r.csv", CSV);
    let (staged, table) = staged(folder.path(), readings("r.csv"));
    assert_eq!(rows(&table), expected());
    assert!(staged.dropped.is_empty() && staged.remarks.is_empty(), "{staged:?}");
    assert_eq!(staged.file, Some(folder.path().join("r.csv")));
    assert_eq!(staged.sha256.unwrap().len(), 64);
    let by_key: Vec<_> = (0..4).map(|nth| table.nth_by_key(nth)).collect();
    assert_eq!(by_key, [1, 2, 0, 3]);
    assert_eq!(table.find(&[Value::Int(2), Value::Int(1_077_929_956)]), Ok(2));
    assert_eq!((table.least(2), table.greatest(2)), (Value::Float(-0.001), Value::Float(19.5)));
    assert_eq!((table.least(3), table.present(3)), (Value::Null, 3));
    let widths: Vec<_> = (0..4).map(|row| table.user_bytes(row)).collect();
    assert_eq!(widths, [2 + 8 + 8 + 16 + 1, 2 + 8 + 1, 2 + 8 + 8 + 9 + 1, 2 + 8 + 8 + 8 + 1]);
}

#[test]
fn delimiters_are_found_out_and_gzip_is_told_by_its_first_bytes() {
    for delimiter in [";", "\t", "|"] {
        let text = format!("a{delimiter}b\n1{delimiter}x,y\n");
        for bytes in [text.clone().into_bytes(), gzip(text.as_bytes())] {
            let folder = file("r", bytes);
            let (_, table) = staged(folder.path(), table("r", &[("b", TEXT), ("a", U64)], &[1]));
            assert_eq!(rows(&table), [[text_of("x,y"), int(1)]]);
        }
    }
}

fn text_of(value: &str) -> embermark_model::table::OwnedValue {
    text(value)
}

#[test]
fn json_lines_are_read_in_any_order_of_fields_and_nested_ones_as_their_text() {
    let lines = concat!(
        "{\"station\":2,\"time\":\"2004-02-28 00:59:16\",\"temp\":19.5,\"note\":\"said \\\"no\\\", twice\",\"ok\":true}\n",
        "{\"ok\":false,\"time\":1077929956,\"station\":1,\"temp\":null,\"deep\":[1,{\"a\":2}]}\r\n",
        "\n",
        " {\"station\":\"1\",\"time\":\"2004-02-28T00:59:17Z\",\"temp\":-1e-3,\"note\":\"two\\nlines\",\"ok\":true}\n",
        "{\"station\":65535,\"time\":0,\"temp\":7,\"note\":\" blanks \",\"ok\":false}",
    );
    for bytes in [lines.as_bytes().to_vec(), gzip(lines.as_bytes())] {
        let folder = file("r.jsonl", bytes);
        let (staged, table) = staged(folder.path(), readings("r.jsonl"));
        assert_eq!(rows(&table), expected());
        assert!(staged.dropped.is_empty(), "{staged:?}");
    }
    let folder = file("r.jsonl", lines);
    let columns = [("deep?", TEXT), ("station", U16)];
    let (_, table) = staged(folder.path(), table("r.jsonl", &columns, &[]));
    let deep: Vec<_> = (0..4).map(|row| table.value(row, 0)).collect();
    assert_eq!(deep[1], Value::Text("[1,{\"a\":2}]"));
    assert_eq!(deep.iter().filter(|value| **value == Value::Null).count(), 3);
}

#[test]
fn numbers_and_truth_values_of_json_that_are_read_as_texts_are_counted() {
    let lines = concat!(
        "{\"id\":1,\"x\":true,\"o\":{\"k\":1},\"X y\":2}\n",
        "{\"id\":2,\"x\":\"no\",\"o\":{\"k\":\"z\"}}\n",
        "{\"id\":3,\"x\":0}\n{\"id\":4,\"x\":[1]}\n{\"id\":5,\"x\":null}\n",
    );
    let columns = [("id", U64), ("x?", TEXT), ("o.k?", TEXT)];
    // Fields whose names differ only in case are read in another way, without nested ones.
    for (name, columns, others) in [("X y", &columns[..], 3), ("X", &columns[..2], 2)] {
        let folder = file("r.jsonl", lines.replace("X y", name));
        let (staged, rows) = staged(folder.path(), table("r.jsonl", columns, &[0]));
        assert_eq!(rows.value(2, 1), Value::Text("0"));
        let remark = "number, truth value or blob in a column of texts: read as a text";
        assert_eq!(staged.remarks.get(remark), Some(&others), "{:?}", staged.remarks);
    }
}

#[test]
fn rows_that_do_not_fit_are_dropped_and_counted_by_reason() {
    let csv = "station,time,temp,note,ok\n\
        1,1,1.5,fine,true\n\
        x,2,1.5,,true\n\
        70000,2,1.5,,true\n\
        1,noon,1.5,,true\n\
        1,3,warm,,true\n\
        1,3,NaN,,true\n\
        1,3,1,,maybe\n\
        ,3,1,,true\n\
        1,3,1\n\
        1,3,1,,true,7\n\
        1,3,1,nul\0,true\n\
        1,1,9,again,true\n\
        5,5,5,lost,maybe\n\
        5,6,5,kept,true\n\
        1,3h,,,true\n";
    let mut bytes = csv.as_bytes().to_vec();
    bytes.extend(b"1,4,1,\xff,true\n");
    let folder = file("r.csv", bytes);
    let (staged, table) = staged(folder.path(), readings("r.csv"));
    let dropped: Vec<_> =
        staged.dropped.iter().map(|(reason, count)| (reason.as_str(), *count)).collect();
    assert_eq!(
        dropped,
        [
            ("a key that an earlier row has", 1),
            ("column note: has a NUL", 1),
            ("column ok: neither true nor false", 2),
            ("column station: absent, though the column has no '?'", 1),
            ("column station: not a whole number", 1),
            ("column station: out of the range of its type", 1),
            ("column temp: not a number", 1),
            ("column temp: not finite", 1),
            ("column time: not a time", 2),
            ("not UTF-8", 1),
            ("too few fields", 1),
            ("too many fields", 1),
        ]
    );
    let first = [int(1), int(1), float(1.5), text("fine"), int(1)];
    let second = [int(5), int(6), float(5.0), text("kept"), int(1)];
    assert_eq!(rows(&table), [first, second]);
}

#[test]
fn more_misfits_than_are_allowed_fail_with_the_first_of_them_and_what_to_do() {
    let mut csv = "id,temp\n".to_owned();
    for id in 0..199 {
        csv += &format!("{id},{id}.5\n");
    }
    csv += "199,warm\n";
    let folder = file("r.csv", &csv);
    let of = |file| table(file, &[("id", U64), ("temp", FLOAT)], &[0]);
    let (staged, _) = staged_with(folder.path(), of("r.csv"), None, 0.01).unwrap();
    assert_eq!((staged.rows, staged.dropped["column temp: not a number"]), (199, 1));

    std::fs::write(folder.path().join("r.csv"), csv + "200,cold\n201,\n").unwrap();
    let error = staged_with(folder.path(), of("r.csv"), None, 0.01).unwrap_err();
    let text = error.to_string();
    for part in [
        "r.csv: 3 of 202 rows cannot be used",
        "more than 1 %",
        "1 with column temp: absent",
        "2 with column temp: not a number",
        "the first in line 201: column temp: not a number: \"warm\"",
        "correct the types",
        "--lenient",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(staged_with(folder.path(), of("r.csv"), None, 0.02).is_ok());
    // Only the first rows are good.
    let (staged, _) = staged_with(folder.path(), of("r.csv"), Some(10), 0.0).unwrap();
    assert_eq!((staged.rows, staged.dropped.len()), (10, 0));
}

#[test]
fn lines_that_are_no_objects_are_counted() {
    let folder = file("r.jsonl", "{\"id\":1}\n{\"id\":2\n[3]\n{\"id\":4} x\n{\"id\":5}\n");
    let (staged, table) = staged(folder.path(), table("r.jsonl", &[("id", U64)], &[0]));
    assert_eq!(staged.dropped["not a JSON object with these fields"], 3);
    assert_eq!(rows(&table), [[int(1)], [int(5)]]);
}

#[test]
fn a_field_that_the_file_lacks_is_named_with_the_nearest() {
    let lines = "{\"station\":1,\"temperature\":3}\n{\"station\":2,\"humidity\":3}\n";
    for (name, bytes) in [("r.csv", "station,temperature,humidity\n1,3,\n"), ("r.jsonl", lines)] {
        let folder = file(name, bytes);
        let of = table(name, &[("station", U16), ("temperatur?", FLOAT)], &[0]);
        let error = staged_with(folder.path(), of, None, 1.0).unwrap_err();
        assert!(matches!(error, DataError::NoField { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("unknown field 'temperatur', did you mean 'temperature'?"), "{text}");
        assert!(text.contains("valid: station, temperature, humidity"), "{text}");
        assert!(text.contains("'from'"), "{text}");
    }
}

#[test]
fn all_fields_that_the_file_lacks_are_named_at_once() {
    let folder = file("r.csv", "id,time,sensor\n1,2024-01-01,A\n");
    let of = table("r.csv", &[("id", U64), ("Time", U64), ("sensr", U64), ("batt", U64)], &[0]);
    let text = staged_with(folder.path(), of, None, 1.0).unwrap_err().to_string();
    let fields = "unknown field 'Time', did you mean 'time'?; unknown field 'sensr', did you mean \
                  'sensor'?; unknown field 'batt'; valid: id, time, sensor: correct the columns'";
    assert!(text.contains(fields), "{text}");
}

#[test]
fn a_given_delimiter_that_the_file_lacks_is_named() {
    let folder = file("r.csv", "id,x\n1,2\n");
    let mut of = table("r.csv", &[("id", U64), ("x", U64)], &[0]);
    let RowsFrom::File(rows) = &mut of.rows else { panic!("no file") };
    rows.read.push(("delim".to_owned(), Literal::Text("||".to_owned())));
    let text = staged_with(folder.path(), of, None, 1.0).unwrap_err().to_string();
    let expected =
        "the given delim = \"||\" is not between its names, which are one field, \"id,x\"";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_file_of_a_header_alone_has_no_rows() {
    let folder = file("r.csv", "id,x\n");
    let (staged, table) = staged(folder.path(), table("r.csv", &[("id", U64)], &[0]));
    assert_eq!((staged.rows, table.rows(), table.least(0)), (0, 0, Value::Null));
    assert_eq!(table.find(&[Value::Int(7)]), Err(0));
}

#[test]
fn a_column_may_have_another_name_than_its_field() {
    let folder = file("r.csv", "Temp (°C)\n1.5\n");
    let mut of = table("r.csv", &[("temp", FLOAT)], &[]);
    of.columns[0].from =
        Some(Box::new(Field { names: vec!["Temp (°C)".to_owned()], ..Field::default() }));
    assert_eq!(rows(&staged(folder.path(), of).1), [[float(1.5)]]);
}

#[test]
fn rows_longer_than_the_usual_buffer_are_read_and_those_that_are_too_long_are_counted() {
    let csv = |bytes: usize| {
        let rows = (0..300).map(|id| match id {
            150 => format!("150,{}\n", "x".repeat(bytes)),
            id => format!("{id},abc\n"),
        });
        format!("id,v\n{}", rows.collect::<String>())
    };
    let columns = [("id", U64), ("v", TEXT)];
    let folder = file("r.csv", csv(6_000_000));
    let (all, rows) = staged(folder.path(), table("r.csv", &columns, &[0]));
    assert_eq!((all.rows, rows.rows()), (300, 300));
    let folder = file("r.csv", csv(20_000_000));
    let (some, _) = staged(folder.path(), table("r.csv", &columns, &[0]));
    assert_eq!((some.rows, some.dropped), (299, [("longer than 16 MB".to_owned(), 1)].into()));
}

#[test]
fn files_that_are_no_tables_are_told_so() {
    let refusal = |name: &str, bytes: &[u8]| {
        let folder = file(name, bytes);
        let of = table(name, &[("id", U64)], &[0]);
        staged_with(folder.path(), of, None, 1.0).unwrap_err().to_string()
    };
    assert!(refusal("r.csv", b"").contains("is empty"));
    assert!(refusal("r.csv", b"\n \n").contains("is empty"));
    assert!(refusal("r.parquet", b"PAR1 and no more").contains("No magic bytes found"));
    assert!(refusal("r.zip", b"PK\x03\x04\0\0").contains("unpack it with `unzip`"));
    let whole = gzip("id\n1\n".repeat(1000).as_bytes());
    assert!(refusal("r.csv.gz", &whole[..whole.len() / 2]).contains("ends too early"));
    let folder = tempfile::tempdir().unwrap();
    let of = table("none.csv", &[("id", U64)], &[0]);
    let error = staged_with(folder.path(), of, None, 1.0).unwrap_err().to_string();
    assert!(error.contains("none.csv: no such file"), "{error}");
}

#[test]
fn keys_of_texts_and_floats_are_sorted_to_their_last_byte() {
    let ids = ["", "a", "a\u{1}", "abcdefgh", "abcdefgh1", "abcdefgh11", "abcdefgi", "ß"];
    let mut csv = "id,x\n".to_owned();
    for (n, id) in ids.iter().rev().enumerate().filter(|(_, id)| !id.is_empty()) {
        csv += &format!("{id},{}\n", -(n as f64) / 3.0);
    }
    let folder = file("r.csv", &csv);
    let columns = [("id", TEXT), ("x", FLOAT)];
    let (_, table) = staged(folder.path(), table("r.csv", &columns, &[0]));
    let sorted: Vec<_> = (0..7).map(|nth| table.value(table.nth_by_key(nth), 0)).collect();
    let expected: Vec<_> = ids[1..].iter().map(|id| Value::Text(id)).collect();
    assert_eq!(sorted, expected);
    for (nth, id) in ids[1..].iter().enumerate() {
        assert_eq!(table.find(&[Value::Text(id)]), Ok(nth), "{id:?}");
    }
    assert_eq!(table.find(&[Value::Text("abcdefgh0")]), Err(3));

    let floats = "x\n3\n-0.0\n-7.5\n0.0\n1e-300\n";
    let folder = file("f.csv", floats);
    let (staged, table) =
        staged(folder.path(), common::tables::table("f.csv", &[("x", FLOAT)], &[0]));
    let sorted: Vec<_> = (0..4).map(|nth| table.value(table.nth_by_key(nth), 0)).collect();
    assert_eq!(sorted, [-7.5, -0.0, 1e-300, 3.0].map(Value::Float));
    assert_eq!(staged.dropped["a key that an earlier row has"], 1);
}

#[test]
fn a_staged_file_that_was_cut_or_is_foreign_is_refused() {
    let folder = file("r.csv", CSV);
    staged(folder.path(), readings("r.csv"));
    let whole = std::fs::read(folder.path().join("staged")).unwrap();
    let path = folder.path().join("damaged");
    let refusal = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        StagedTable::open(&path).unwrap_err()
    };
    for end in (0..whole.len()).step_by(5) {
        let error = refusal(&whole[..end]);
        assert!(matches!(error, DataError::NotStaged { .. }), "{end}: {error:?}");
    }
    assert!(refusal(CSV.as_bytes()).to_string().contains("mark of a staged table"));
    let mut other = whole.clone();
    other[8] = 99;
    assert!(refusal(&other).to_string().contains("version 99"));
    let mut rows = whole;
    rows[31] = 255;
    assert!(refusal(&rows).to_string().contains("does not match its header"));
}

#[test]
fn the_order_of_keys_is_that_of_a_plain_map_in_which_the_first_row_stays() {
    let mut draw = Draw::new(7, 0);
    let mut csv = "n,text,id,x\n".to_owned();
    let mut expected = BTreeMap::new();
    for row in 0..6_000_i64 {
        // Texts that share their first eight bytes, and negative numbers.
        let name = format!("sensors-{}", "ab".repeat(draw.below(4)));
        let (id, x) = (draw.below(2_000) as i64 - 1_000, draw.below(3) as f64 - 1.5);
        csv += &format!("{row},{name},{id},{x}\n");
        expected.entry((x.to_bits() >> 63 == 0, x.to_bits(), name, id)).or_insert(row);
    }
    // For negative numbers greater bits are lesser numbers.
    let mut expected: Vec<_> = expected.into_iter().collect();
    expected.sort_by(|a, b| {
        let number = |key: &(bool, u64, String, i64)| f64::from_bits(key.1);
        number(&a.0).total_cmp(&number(&b.0)).then_with(|| (&a.0.2, a.0.3).cmp(&(&b.0.2, b.0.3)))
    });
    let folder = file("r.csv", &csv);
    let columns = [("n", U64), ("text", TEXT), ("id", I64), ("x", FLOAT)];
    // Texts that differ in only six bytes fit into the numbers that are sorted, with what follows.
    for key in [[3, 1, 2], [3, 2, 1]] {
        let (staged, table) = staged(folder.path(), table("r.csv", &columns, &key));
        assert_eq!(staged.dropped["a key that an earlier row has"], 6_000 - staged.rows);
        assert_eq!(staged.rows as usize, expected.len());
        if key == [3, 2, 1] {
            expected.sort_by(|a, b| {
                let key = |key: &(bool, u64, String, i64)| (f64::from_bits(key.1), key.3);
                let ((x, id), (other_x, other_id)) = (key(&a.0), key(&b.0));
                x.total_cmp(&other_x).then((id, &a.0.2).cmp(&(other_id, &b.0.2)))
            });
        }
        for (nth, ((_, x, name, id), row)) in expected.iter().enumerate() {
            let at = table.nth_by_key(nth);
            let held = [int(*row), text(name), int(*id), float(f64::from_bits(*x))];
            assert_eq!(common::tables::row(&table, at), held);
            let whole: Vec<_> = key.iter().map(|&column| table.value(at, column)).collect();
            assert_eq!(table.find(&whole), Ok(nth));
        }
        // The remaining rows of the file keep their order.
        let numbers: Vec<_> = (0..table.rows()).map(|at| table.value(at, 0)).collect();
        assert!(numbers.is_sorted_by(|a, b| compare(a, b).is_lt()));
    }
}

#[test]
fn of_more_columns_than_a_word_has_bits_each_may_be_absent() {
    let names: Vec<String> = (0..130).map(|column| format!("c{column}?")).collect();
    let columns: Vec<_> = names.iter().map(|name| (name.as_str(), U64)).collect();
    let mut csv = names.join(",").replace('?', "") + "\n";
    for row in 0..130 {
        let fields = (0..130).map(|at| if at == row { String::new() } else { at.to_string() });
        csv += &(fields.collect::<Vec<_>>().join(",") + "\n");
    }
    let folder = file("r.csv", csv);
    let (_, table) = staged(folder.path(), table("r.csv", &columns, &[]));
    for row in 0..130 {
        for column in 0..130 {
            let expected = if row == column { Value::Null } else { Value::Int(column as i64) };
            assert_eq!(table.value(row, column), expected);
        }
        assert_eq!(table.user_bytes(row), 129 * 8);
    }
}

#[test]
fn short_texts_and_bytes_are_sorted_with_the_columns_behind_them() {
    let names = ["node-", "node-1", "node-10", "node-2", "node-a\u{1}", "node-ß"];
    let mut csv = "n,name\n".to_owned();
    for row in 0..600_usize {
        csv += &format!("{},{}\n", (row * 7) % 100, names[row % 6]);
    }
    let folder = file("r.csv", csv);
    for of in [TEXT, BYTES] {
        let columns = [("n", U64), ("name", of)];
        let (_, table) = staged(folder.path(), table("r.csv", &columns, &[1, 0]));
        let keys: Vec<_> = (0..table.rows())
            .map(|nth| table.nth_by_key(nth))
            .map(|row| (table.value(row, 1), table.value(row, 0)))
            .collect();
        let ascends = |a: &(Value, Value), b: &(Value, Value)| {
            compare(&a.0, &b.0).then(compare(&a.1, &b.1)).is_lt()
        };
        assert!(keys.is_sorted_by(ascends), "{of}");
        assert_eq!(keys.len(), 300);
    }
    // A zero byte at the end is part of the text.
    let folder = file("z.csv", b"name,n\na\0,1\na,1\na\0\0,1\na,1\n");
    let (staged, table) =
        staged(folder.path(), table("z.csv", &[("name", BYTES), ("n", U64)], &[0, 1]));
    let order: Vec<_> = (0..3).map(|nth| table.nth_by_key(nth)).collect();
    assert_eq!((staged.rows, order), (3, vec![1, 0, 2]));
}

#[test]
fn files_are_found_from_the_folder_of_the_workload_file() {
    let folder = file("r.csv", "id,x\n1,2\n");
    let base = folder.path().join("below");
    std::fs::create_dir(&base).unwrap();
    std::fs::write(base.join("it's.csv"), "x,id\n4,3\n").unwrap();
    for (name, rows) in [("../r.csv", 1), ("it's.csv", 1), (".", 1), ("..", 2), ("../*.csv", 1)] {
        let of = table(name, &[("id", U64), ("x", U64)], &[0]);
        let to = folder.path().join("staged");
        let staged = embermark_data::table::stage(&[of], 0, &base, None, 0, 0.0, &to).unwrap();
        assert_eq!(staged.rows, rows, "{name}");
    }
}

#[test]
fn nothing_that_a_file_holds_makes_its_readers_panic() {
    let alphabet = [
        "a",
        "1",
        "-9",
        ".5",
        ",",
        ";",
        "\n",
        "\r\n",
        "\"",
        "\\",
        "{",
        "}",
        "[",
        "]",
        ":",
        "\0",
        "é",
        "\u{feff}",
        "2024-01-01",
        "NA",
        "#",
        "sep=;\n",
        "{\"a\":1}\n",
        "01.02.2024 10:00",
        "\t",
        " ",
        "\u{ff}",
    ];
    let mut files: Vec<Vec<u8>> = Vec::new();
    for stream in 0..6 {
        let mut draw = Draw::new(43, stream);
        for _ in 0..50 {
            let mut bytes = Vec::new();
            for _ in 0..draw.below(60) {
                bytes.extend(alphabet[draw.below(alphabet.len())].as_bytes());
            }
            if draw.below(5) == 0 && !bytes.is_empty() {
                let at = draw.below(bytes.len());
                bytes[at] = 0x80 | draw.below(128) as u8;
            }
            files.push(bytes);
        }
    }
    for bytes in sampled(files, 12) {
        let folder = file("r", &bytes);
        // Rows or an error message, and never a panic. The proposed table reads as many rows as
        // were seen.
        if let Ok(inferred) = embermark_data::table::infer(&"r".into(), folder.path()) {
            assert!(inferred.rows > 0, "{:?}", String::from_utf8_lossy(&bytes));
        }
    }
}

#[test]
fn a_file_that_is_written_to_while_it_is_read_is_refused() {
    let folder = file("r.csv", "id,v\n1,1\n");
    let (path, done) = (folder.path().join("r.csv"), AtomicBool::new(false));
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut log = File::options().append(true).open(&path).unwrap();
            for id in 2.. {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                log.write_all(format!("{id},{id}\n").as_bytes()).unwrap();
            }
        });
        // Nothing may be written while a few rows are read.
        let began = Instant::now();
        let error = loop {
            let table = table("r.csv", &[("id", U64), ("v", U64)], &[0]);
            match staged_with(folder.path(), table, None, 0.0) {
                Ok(_) if began.elapsed() < Duration::from_secs(120) => {}
                staged => break staged.map(drop),
            }
        };
        done.store(true, Ordering::Relaxed);
        error
    });
    assert!(matches!(&error, Err(DataError::Changed(changed)) if *changed == path), "{error:?}");
}
