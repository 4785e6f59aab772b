//! Rows that sensors, databases and spreadsheets left in a state that is easily misread.

use std::path::Path;

use crate::common::tables::*;
use embermark_data::table::{Inferred, InferredColumn, time_text};
use embermark_model::table::{Keep, OwnedValue, RowsFile, RowsFrom, TimeUnit};

const BERLIN: &str = "Europe/Berlin";

fn infer(from: &RowsFile, folder: &Path) -> Inferred {
    embermark_data::table::infer(from, folder).unwrap_or_else(|error| panic!("{from:?}: {error}"))
}

fn inferred(bytes: impl AsRef<[u8]>) -> Inferred {
    infer(&"t.csv".into(), file("t.csv", bytes).path())
}

/// A head, and this number of rows below it.
fn lines(head: &str, rows: i64, row: impl Fn(i64) -> String) -> String {
    let rows: Vec<String> = (0..rows).map(row).collect();
    format!("{head}\n{}\n", rows.join("\n"))
}

fn column<'a>(found: &'a Inferred, name: &str) -> &'a InferredColumn {
    found.columns.iter().find(|column| column.name == name).unwrap()
}

fn notes(found: &Inferred, part: &str) -> bool {
    found.notes.iter().any(|note| note.contains(part))
}

fn zoned(file: &str) -> RowsFile {
    RowsFile { zone: Some(BERLIN.to_owned()), ..RowsFile::from(file) }
}

/// The local time of Berlin so many minutes after 2024-10-26T22:00Z, three hours before its clocks
/// are put back.
fn berlin(minute: i64) -> String {
    let local = minute - if minute < 180 { 0 } else { 60 };
    format!("2024-10-{} {:02}:{:02}", 27 + local / 1_440, local / 60 % 24, local % 60)
}

#[test]
fn every_row_of_the_hour_that_comes_again_has_its_own_time() {
    for (step, is_newest_first) in [(60, false), (60, true), (30, false), (30, true), (15, false)] {
        let csv = lines("time,v", 60, |nth| {
            let nth = if is_newest_first { 59 - nth } else { nth };
            format!("{},{}.5", berlin(nth * step), nth % 7)
        });
        let folder = file("t.csv", csv);
        let plain = infer(&"t.csv".into(), folder.path());
        assert!(notes(&plain, "time goes back by an hour once"), "{step}: {:?}", plain.notes);
        let found = infer(&zoned("t.csv"), folder.path());
        assert_eq!((found.rows, &found.keys[..]), (60, &[vec![0]][..]), "{step}: {found:?}");
        assert_eq!((found.near_key, found.from.keep), (None, Keep::One), "{step}");
    }
}

#[test]
fn stations_between_whose_rows_clocks_go_back_are_each_read_for_themselves() {
    // The second is ten minutes later than the first.
    let csv = lines("time,station,v", 60, |nth| {
        let (minute, of) = (nth / 2 * 60 + nth % 2 * 10, ["a", "b"][nth as usize % 2]);
        format!("{},{of},{}.5", berlin(minute), nth % 7)
    });
    let folder = file("t.csv", csv);
    let found = infer(&zoned("t.csv"), folder.path());
    assert_eq!(found.keys, [vec![1, 0]], "{:?}", found.notes);
    assert_eq!((found.near_key, found.from.keep), (None, Keep::One));
    let mut table = table("t.csv", &[("time", SECONDS), ("station", TEXT)], &[1, 0]);
    table.rows = RowsFrom::File(Box::new(zoned("t.csv")));
    let (staged, table) = staged(folder.path(), table);
    assert_eq!((staged.rows, staged.dropped.len()), (60, 0));
    let first = 1_729_980_000;
    assert_eq!(table.value(6, 0).to_owned(), int(first + 3 * 3_600));
    assert_eq!(table.value(7, 0).to_owned(), int(first + 3 * 3_600 + 600));
}

#[test]
fn only_local_times_that_go_back_once_a_year_in_a_night_of_autumn_lack_a_zone() {
    let back = |day: &str, zone: &str, times: i64| {
        inferred(lines("id,time,v", 120 * times, |nth| {
            let minute = nth % 120;
            let minute = if minute < 60 { minute } else { minute - 60 };
            format!("{nth},{day} 02:{minute:02}:00{zone},{nth}")
        }))
    };
    let hint = "goes back by an hour";
    assert!(notes(&back("2024-10-27", "", 1), hint));
    assert!(notes(&back("2024-04-07", "", 1), hint));
    assert!(!notes(&back("2024-10-27", "Z", 1), hint));
    assert!(!notes(&back("2024-10-27", "+01:00", 1), hint));
    assert!(!notes(&back("2024-10-27", "", 2), hint));
    assert!(!notes(&back("2024-07-07", "", 1), hint));
}

#[test]
fn result_sets_one_below_the_other_are_one_table() {
    let head = "#datatype,string,long,dateTime:RFC3339,double,string\n#default,_result,,,,\n";
    let sets = (0..10).map(|set| {
        head.to_owned()
            + &lines(",result,table,_time,_value,host", 30, |nth| {
                format!(",,{set},2024-01-01T00:{nth:02}:00Z,{nth}.5,h{set}")
            })
    });
    let found = inferred(sets.collect::<String>());
    assert_eq!((found.rows, found.time), (300, Some(3)), "{:?}", found.notes);
    assert!(notes(&found, "9 times: the names of the columns again: skipped"), "{:?}", found.notes);
    assert!(found.keys[0].contains(&3), "{:?}", found.keys);
    assert_eq!(column(&found, "_value").of, FLOAT);
    // Names that the header repeats have numbers, which the next header does not have.
    let twice = lines("a,a,b", 10, |nth| format!("{nth},{nth},{nth}"));
    let found = inferred(twice.clone() + &twice);
    assert_eq!((found.rows, column(&found, "a_1").of), (20, U16), "{:?}", found.notes);
    // A row that has only names of the reader's kind is a row.
    let found = inferred(lines(",v", 10, |nth| match nth {
        5 => ",".to_owned(),
        _ => format!(",{nth}"),
    }));
    assert_eq!(found.rows, 10, "{:?}", found.notes);
}

#[test]
fn the_time_is_that_of_the_key_though_another_is_constant_or_ascends() {
    for created in ["2024-02-01T00:00:00Z", "2024-02-0SZ"] {
        let csv = lines("host,created,ts,v", 300, |nth| {
            let host = nth / 100;
            let created = created.replace("SZ", &format!("{}T00:00:00Z", host + 1));
            let (hour, minute) = (nth % 100 / 60, nth % 100 % 60);
            format!("h{host},{created},2024-01-01T{hour:02}:{minute:02}:00Z,{}.5", nth % 7)
        });
        let found = inferred(csv);
        assert_eq!((&found.keys[0][..], found.time), (&[0, 2][..], Some(2)), "{created}");
        assert!(!column(&found, "ts").ascending);
    }
}

/// The query in the note on a column, as a shell reads it.
fn query_of(found: &Inferred, name: &str) -> String {
    let is_its = |note: &&String| note.starts_with(name) && note.contains("--query ");
    let note = found.notes.iter().find(is_its).unwrap_or_else(|| panic!("{:?}", found.notes));
    let (_, word) = note.split_once("--query ").unwrap();
    let word = word.replace(r"'\''", "\u{1}");
    word[1..].split(&word[..1]).next().unwrap().replace('\u{1}', "'")
}

fn asked(query: String) -> RowsFile {
    RowsFile { query: Some(query), ..RowsFile::default() }
}

#[test]
fn queries_that_notes_name_can_be_run() {
    let latin = lines("Kod;Värde", 50, |nth| format!("00{nth};{}\u{a0}447,29", nth + 1));
    let titled = lines("Station 7\n\nid\torder", 50, |nth| format!("{nth}\t{nth} kg"));
    for (text, name) in [
        (latin, "Värde"),
        (lines("id,order", 50, |nth| format!("{nth},{nth} kg")), "order"),
        (lines("id,\"a \"\"b\"\" $c\"", 50, |nth| format!("{nth},{nth}%")), "a \"b\" $c"),
        (titled, "order"),
    ] {
        // Latin-1.
        let folder = file("t.csv", text.chars().map(|char| char as u8).collect::<Vec<u8>>());
        let found = infer(&"t.csv".into(), folder.path());
        let answer = infer(&asked(query_of(&found, name)), folder.path());
        assert_eq!((column(&answer, name).of, answer.rows), (FLOAT, 50), "{:?}", found.notes);
        assert_eq!(answer.columns[0].of, found.columns[0].of);
    }
}

#[test]
fn a_note_beside_a_query_goes_on_from_it_and_one_on_another_folder_says_so() {
    let csv = lines("id,\"Temp {room=\"\"a b\"\"}\",Power", 50, |nth| {
        format!("{nth},{nth}.5 °C,{nth} W")
    });
    let (folder, other) = (file("t.csv", csv), tempfile::tempdir().unwrap());
    let found = infer(&"t.csv".into(), folder.path());
    let temp = "Temp {room=\"a b\"}";
    let first = infer(&asked(query_of(&found, "Power")), folder.path());
    let second = infer(&asked(query_of(&first, temp)), folder.path());
    assert_eq!((column(&second, "Power").of, column(&second, temp).of), (FLOAT, FLOAT));
    assert!(!notes(&found, "name the file beside"), "{:?}", found.notes);
    let path = folder.path().join("t.csv");
    let named = RowsFile::from(path.to_str().unwrap());
    let found = infer(&named, other.path());
    assert!(notes(&found, "name the file beside the query, too"), "{:?}", found.notes);
    let query = query_of(&found, "Power");
    let refused = embermark_data::table::infer(&asked(query.clone()), other.path()).unwrap_err();
    assert!(refused.to_string().contains("below the folder of its workload file"), "{refused}");
    let answer = infer(&RowsFile { query: Some(query), ..named }, other.path());
    assert_eq!(column(&answer, "Power").of, FLOAT);
}

#[test]
fn numbers_of_several_units_have_no_query() {
    let of = |unit: &'static str| {
        inferred(lines("id,Mem", 800, |nth| {
            format!("{nth},{}.5 {}", nth % 9, if nth < 400 { "GiB" } else { unit })
        }))
    };
    assert!(notes(&of("GiB"), "contain numbers"));
    assert!(!notes(&of("MiB"), "contain numbers"), "{:?}", of("MiB").notes);
}

#[test]
fn times_beside_numbers_of_their_unit_are_times_and_what_is_none_is_named() {
    let mixed = lines("t,v", 60, |nth| match nth % 2 {
        0 => format!("2023-11-14T22:{:02}:20Z,{nth}", 13 + nth / 2),
        _ => format!("{},{nth}", 1_700_000_000 + 60 * nth),
    });
    let found = inferred(mixed);
    assert_eq!((column(&found, "t").of, found.rows), (SECONDS, 60), "{:?}", found.notes);
    let odd = inferred(lines("id,time", 60, |nth| match nth % 3 {
        0 => format!("{nth},2024-01-01T00:00:{nth:02}Z"),
        _ => format!("{nth},12 past 2024"),
    }));
    let says = "time: texts such as \"12 past 2024\" are not recognised";
    assert!(notes(&odd, says), "{:?}", odd.notes);
    let folder = tempfile::tempdir().unwrap();
    let database = rusqlite::Connection::open(folder.path().join("a.db")).unwrap();
    let rows = "CREATE TABLE log(id INTEGER PRIMARY KEY, date TEXT); WITH RECURSIVE n(i) AS \
                (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 29) \
                INSERT INTO log SELECT i, '2024-01-' || i FROM n";
    database.execute_batch(rows).unwrap();
    drop(database);
    let from = RowsFile { files: vec!["a.db".to_owned()], ..asked("SELECT * FROM log".to_owned()) };
    let found = infer(&from, folder.path());
    let says = "date: texts such as \"2024-01-10\" are times: for a column of them write { type = \
                \"timestamp\", unit = \"s\" }";
    assert!(notes(&found, says), "{:?}", found.notes);
}

#[test]
fn the_last_second_of_the_year_9999_is_a_time_without_a_rate() {
    let found = inferred(lines("id,t", 60, |nth| match nth % 10 {
        7 => format!("{nth},9999-12-31 23:59:59"),
        _ => format!("{nth},2024-02-01 00:{nth:02}:00"),
    }));
    let end = 253_402_300_799;
    assert_eq!((column(&found, "t").of, found.dropped.len()), (SECONDS, 0));
    assert_eq!(column(&found, "t").greatest, OwnedValue::Int(end));
    assert_eq!(time_text(end, TimeUnit::Seconds), "9999-12-31T23:59:59Z");
    assert!(found.span().unwrap().ends_with("to 9999-12-31T23:59:59Z"), "{:?}", found.span());
    assert!(notes(&found, "t: 6 times after 2100"), "{:?}", found.notes);
}

#[test]
fn a_number_beyond_doubles_is_no_word_and_blanks_are_shown_as_blanks() {
    let found = inferred(lines("id,v", 100, |nth| match nth % 40 {
        9 => format!("{nth},1e400"),
        _ => format!("{nth},{nth}.5"),
    }));
    let says = "v: 1e400 is beyond the range of a double: taken for a missing value, 3 times";
    assert!(notes(&found, says), "{:?}", found.notes);
    let found = inferred(lines("id;v", 50, |nth| format!("{nth};{}\u{a0}447,29", nth + 1)));
    let says = "v: texts such as \"1\u{a0}447,29\" contain numbers";
    assert!(notes(&found, says), "{:?}", found.notes);
}
