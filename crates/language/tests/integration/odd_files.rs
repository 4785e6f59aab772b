//! Files as other programs and accidents leave them: each is read correctly, or refused with what
//! to do.

use std::io::Write as _;
use std::os::unix::fs::symlink;

use embermark_data::table::infer;
use embermark_model::table::OwnedValue;
use embermark_skips::sampled;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::cases::{case_in, lines, made, refused};

fn text(text: &str) -> OwnedValue {
    OwnedValue::Text(text.into())
}

#[test]
fn quotes_stand_where_fields_begin() {
    let inches = made("a.csv", lines("id,size,v", 100, |row| format!("{row},5\" pipe,{row}")));
    assert_eq!(
        (inches.types(), inches.rows.rows()),
        (vec!["u16".into(), "text".into(), "u16".into()], 100)
    );
    assert_eq!(inches.value(7, "size"), text("5\" pipe"));
    let single = made("a.csv", lines("id,'na,me',v", 100, |row| format!("{row},'a, {row}',{row}")));
    assert_eq!((single.types().len(), single.value(3, "na_me")), (3, text("a, 3")));
    let alike = made("a.csv", lines("id,name", 100, |row| format!("{row},'n{row}'")));
    assert_eq!(alike.value(3, "name"), text("n3"));
    let over = "\"id\n(number)\",\"v\n[m/s]\"";
    let over = made("a.csv", lines(over, 100, |row| format!("{row},{}", row + 1)));
    assert_eq!((over.rows.rows(), over.value(0, "id_number")), (100, OwnedValue::Int(0)));
    let two = "\"line one\r\nline two\"";
    let two =
        lines("id,note", 100, |row| format!("{row},{}", if row % 3 == 0 { two } else { "x" }));
    let two = made("a.csv", two.replace("\r\n", "\n").replace('\n', "\r\n"));
    assert_eq!((two.rows.rows(), two.dropped), (100, 0));
    assert_eq!(two.value(0, "note"), text("line one\r\nline two"));
}

#[test]
fn a_line_behind_a_blank_one_has_no_quote_that_is_open() {
    let below = lines("region,v", 300, |row| format!("r{row},{row}"))
        + "TOTAL,44850\n\n\"Source: me, 2024\"\n";
    let below = made("a.csv", below);
    assert_eq!((below.rows.rows(), below.dropped), (301, 1));
    let reason = below.inferred.dropped.keys().next().unwrap();
    assert_eq!(reason, "too few fields");
}

#[test]
fn names_are_told_from_rows() {
    let years =
        made("a.csv", lines("id,2019,2020,2021", 50, |row| format!("c{row},{row},{row},{row}")));
    assert_eq!((years.rows.rows(), years.value(4, "n2020")), (50, OwnedValue::Int(4)));
    let more = "Series id,Year,Value,";
    let more = made("a.csv", lines(more, 50, |row| format!("L0Q,{},{row}", 1900 + row)));
    assert_eq!((more.rows.rows(), more.value(4, "Value")), (50, OwnedValue::Int(4)));
    let nan = made("a.csv", lines("1.5,NaN,0.5", 50, |row| format!("{row}.5,{row}.25,0.5")));
    assert_eq!(
        (nan.rows.rows(), nan.types()),
        (51, vec!["u64".into(), "f64".into(), "f64?".into(), "f64".into()])
    );
    let bars = made("a.txt", lines("0\u{1}a", 50, |row| format!("{row}\u{1}b{row}")));
    assert_eq!((bars.rows.rows(), bars.types().len()), (51, 2));
    let texts = made("a.csv", lines("anna", 50, |row| format!("x{row}")));
    assert!(texts.notes("the names are those of line 1"), "{:?}", texts.inferred.notes);
    let joined = "\u{feff}id,v\n1,2\n\u{feff}id,v\n2,3\n";
    let joined = made("a.csv", joined);
    assert_eq!((joined.rows.rows(), joined.dropped), (2, 0));
}

#[test]
fn lines_may_end_otherwise_far_below() {
    let plain = lines("id,v", 40_000, |row| format!("{row},{row}")).replace('\n', "\r\n");
    let case = made("a.csv", plain + "40000,7\n");
    assert_eq!((case.rows.rows(), case.dropped), (40_001, 0));
    assert!(case.notes("end in more than one way"));
}

#[test]
fn times_are_those_of_calendars_zones_and_ends_of_days() {
    let day = 86_400;
    let first = 1_704_067_200;
    let all = [
        ("2024-001", first),
        ("2024-W01-1", first),
        ("2024-01-01 24:00:00", first + day),
        ("2024-01-01T01:00:00+01:00[Europe/Berlin]", first),
        ("2024-01-01 01:00:00 CET", first),
        ("\"Monday, 01. January 2024\"", first),
        ("Mon Jan 01 2024 01:00:00 GMT+0100", first),
    ];
    for (name, value) in sampled(all, 2) {
        let case = made("a.csv", lines("time,v", 1, |row| format!("{name},{row}")));
        assert_eq!(case.value(0, "time"), OwnedValue::Int(value), "{name}");
    }
    let leap = made("a.csv", "time,v\n2016-12-31T23:59:59Z,1\n2016-12-31T23:59:60Z,2\n");
    assert!(leap.notes("leap second"), "{:?}", leap.inferred.notes);
    let odd = made("a.csv", lines("time,v", 50, |row| format!("year 2024 week {row},{row}")));
    assert!(odd.notes("words of strptime"), "{:?}", odd.inferred.notes);
    let parts = lines("year,month,day,v", 28, |row| format!("2024,2,{},{row}", row + 1));
    assert!(made("a.csv", parts).notes("format = \"%Y %m %d\""));
}

#[test]
fn numbers_with_signs_are_texts_and_a_query_is_named() {
    let all = [
        ("price", ["\"$1,000.50\"", "\"$2,001.50\""], 2_001.5),
        ("hum", ["20.5%", "7%"], 7.0),
        ("temp", ["-1.5 °C", "20.0 °C"], 20.0),
        ("betrag", ["\"1.234,50 €\"", "\"-2,5 €\""], -2.5),
        ("amount", ["1'000.25", "2'000.75"], 2_000.75),
        ("reg", ["0x10", "0x1A"], 26.0),
        ("balance", ["\"$1,000.50\"", "\"($2,001.50)\""], -2_001.5),
        ("since", ["(1.5)", "(2.5)"], 2.5),
        ("delta", ["0.5", "\u{2212}1.5"], -1.5),
        ("meter", ["00123.9629", "00124.5"], 124.5),
    ];
    for (name, cells, value) in sampled(all, 3) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(
            folder.path().join("a.csv"),
            format!("id,{name}\n0,{}\n1,{}\n", cells[0], cells[1]),
        )
        .unwrap();
        let case = case_in(folder.path(), &"a.csv".into());
        assert_eq!(case.types()[1], "text", "{name}");
        let note = case.inferred.notes.iter().find(|note| note.contains("--query")).unwrap();
        let query = note.split('"').rev().nth(1).unwrap().to_owned();
        let from = embermark_model::table::RowsFile { query: Some(query), ..Default::default() };
        let asked = case_in(folder.path(), &from);
        match asked.value(1, name) {
            OwnedValue::Float(found) => assert_eq!(found, value, "{name}"),
            found => assert_eq!(found, OwnedValue::Int(value as i64), "{name}"),
        }
    }
    // A comma that does not group thousands is not removed.
    let mixed = made("a.csv", "id,x\n0,\"0,5\"\n1,0.5\n");
    assert!(!mixed.notes("--query"), "{:?}", mixed.inferred.notes);
    let phone = made("a.csv", lines("phone", 50, |row| format!("+4917{row:06}")));
    assert_eq!(phone.value(0, "phone"), text("+4917000000"));
    let switch = made("a.csv", "id,on\n1,on\n2,off\n");
    assert_eq!(switch.types()[1], "bool");
    let names = made(
        "a.csv",
        lines("id,code", 50, |row| format!("{row},{row}{}", ['A', 'B'][row as usize % 2])),
    );
    assert!(!names.notes("--query"), "{:?}", names.inferred.notes);
}

#[test]
fn json_is_read_where_its_rows_are_objects_and_otherwise_a_query_is_named() {
    let joined: String = (0..50).map(|row| format!("{{\"id\":{row},\"v\":1.5}}")).collect();
    assert_eq!(made("a.json", joined).rows.rows(), 50);
    let cases =
        lines("", 50, |row| format!("{{\"id\":{row},\"Temp\":{row},\"temp\":{}}}", row + 100));
    let cases = made("a.jsonl", cases);
    assert_eq!(
        (cases.value(3, "Temp"), cases.value(3, "temp_")),
        (OwnedValue::Int(3), OwnedValue::Int(103))
    );
    let keys = (0..250).map(|key| format!("\"k{key}\":{{\"t\":{key},\"v\":1}}"));
    let keys = format!("{{{}}}", keys.collect::<Vec<_>>().join(","));
    let all = [
        ("{\"status\":\"ok\",\"data\":[{\"id\":1},{\"id\":2},{\"id\":3}]}", 3),
        ("{\"id\":[1,2,3],\"v\":[1.5,2.5,3.5]}", 3),
        (&*keys, 250),
        ("[1,\"x\",0.5]\n[2,\"y\",0.25]\n", 2),
        ("[[1,0.5],[2,0.25]]", 2),
    ];
    for (bytes, rows) in sampled(all, 2) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.json"), bytes).unwrap();
        let said = match infer(&"a.json".into(), folder.path()) {
            Ok(inferred) => inferred.notes.join("\n"),
            Err(error) => error.to_string(),
        };
        let (_, query) = said.split_once("--query \"").unwrap_or_else(|| panic!("{said}"));
        let query = query.split('"').next().map(str::to_owned);
        let from = embermark_model::table::RowsFile { query, ..Default::default() };
        assert_eq!(case_in(folder.path(), &from).rows.rows(), rows, "{said}");
    }
    let cut = lines("", 200, |row| format!("{{\"id\":{row}}}")) + "{\"id\":30";
    let cut = made("a.jsonl", cut);
    assert_eq!((cut.rows.rows(), cut.dropped), (200, 1));
}

#[test]
fn what_is_no_table_is_called_by_its_name() {
    let tar = [&b"x.csv"[..], &[0; 252], b"ustar\0", b"id,v\n1,2\n"].concat();
    let mut once = GzEncoder::new(Vec::new(), Compression::default());
    once.write_all(b"id,v\n1,2\n").unwrap();
    let mut twice = GzEncoder::new(Vec::new(), Compression::default());
    twice.write_all(&once.finish().unwrap()).unwrap();
    let wide: Vec<u8> =
        "id,v\n1,2\n".chars().flat_map(|char| (char as u32).to_le_bytes()).collect();
    for (bytes, said) in [
        (tar, "tar xf"),
        (twice.finish().unwrap(), "gunzip"),
        ([&b"\xff\xfe\0\0"[..], &wide].concat(), "iconv -f UTF-32"),
        (b"<?xml version=\"1.0\"?>\n<r a=\"1\"/>\n".to_vec(), "XML"),
        (b"<!doctype html>\n<body>404\n".to_vec(), "a web page"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n".to_vec(),
            "git lfs pull",
        ),
        (b"CREATE TABLE t(a int);\nINSERT INTO t VALUES (1);\n".to_vec(), "sqlite3"),
        (b"\x89PNG\r\n\x1a\n\xff\x01\x02\xfe\n\x05".to_vec(), "it is not text"),
        (b"\xfe\xff\0i\0d\0\n\x001\0\n".to_vec(), "iconv -f UTF-16"),
    ] {
        let why = refused("a.csv", &bytes);
        assert!(why.contains(said), "{said}: {why}");
    }
}

#[test]
fn folders_have_each_file_once_and_the_values_in_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(place("a/b")).unwrap();
    symlink(folder.path(), place("a/b/up")).unwrap();
    std::fs::write(place("a/x.csv"), "id,v\n1,2\n2,3\n").unwrap();
    symlink(place("a/x.csv"), place("a/newest.csv")).unwrap();
    std::fs::write(place("a/empty.csv"), "").unwrap();
    assert_eq!(case_in(folder.path(), &".".into()).rows.rows(), 2);
    std::fs::write(place("a/y.json"), "{\"id\":1}").unwrap();
    let why = infer(&".".into(), folder.path()).unwrap_err().to_string();
    assert!(why.contains("is JSON, and") && why.contains("\"*.csv\""), "{why}");
    let why = infer(&"*.tsv".into(), folder.path()).unwrap_err().to_string();
    assert!(why.contains("no file with rows matches this pattern"), "{why}");
    for (site, day) in [("north", 1), ("south", 2)] {
        let within = place(&format!("parts/site={site}/day={day}"));
        std::fs::create_dir_all(&within).unwrap();
        std::fs::write(within.join("a.csv"), "id,v\n1,2\n2,3\n").unwrap();
    }
    let parts = case_in(folder.path(), &"parts".into());
    assert_eq!(parts.rows.rows(), 4);
    assert_eq!(
        (parts.value(0, "site"), parts.value(3, "day")),
        (text("north"), OwnedValue::Int(2))
    );
}

#[test]
fn numbers_that_count_days_or_have_exponents_are_times_by_the_query_that_is_named() {
    let all = [
        (["45435.25", "45435.5"], 1_716_444_000),
        (["1.7172E+12", "1.71720006E+12"], 1_717_200_000),
    ];
    for (cells, first) in sampled(all, 1) {
        let folder = tempfile::tempdir().unwrap();
        let csv = format!("time,v\n{},1.5\n{},2.5\n", cells[0], cells[1]);
        std::fs::write(folder.path().join("a.csv"), csv).unwrap();
        let case = case_in(folder.path(), &"a.csv".into());
        assert_eq!(case.types()[1], "f64", "{:?}", case.types());
        let note = case.inferred.notes.iter().find(|note| note.contains("--query")).unwrap();
        let query = note.split('"').rev().nth(1).unwrap().to_owned();
        let from = embermark_model::table::RowsFile { query: Some(query), ..Default::default() };
        let asked = case_in(folder.path(), &from);
        let of = &asked.types()[0];
        assert!(of.starts_with("timestamp"), "{of}");
        let OwnedValue::Int(found) = asked.value(0, "time") else { panic!("{of}") };
        assert_eq!(found / if of == "timestamp ms" { 1_000 } else { 1 }, first, "{of}");
    }
}

#[test]
fn a_head_ends_where_rows_begin_whatever_lines_it_has() {
    let head = "sep=;\n;SN: 1;SN: 2\n;2001;2002\n;Total;Power\ndd.MM.yyyy HH:mm;kWh;kW";
    let inverter = made(
        "a.csv",
        lines(head, 50, |row| format!("02.02.2023 08:{row:02};{row}.102;0.{}", row + 100)),
    );
    assert_eq!((inverter.rows.rows(), inverter.dropped), (50, 0));
    assert_eq!(inverter.types(), ["timestamp s", "f64", "f64"]);
    // The first line is a row if it looks like all others.
    let bus = made(
        "a.log",
        (0..50).map(|row| format!("(1436509052.{row:06}) can0 {row:03}#AB\n")).collect::<String>(),
    );
    assert_eq!(bus.rows.rows(), 50);
}
