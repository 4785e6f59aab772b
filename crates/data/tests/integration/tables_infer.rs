//! What is inferred from files.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::common::tables::*;
use embermark_data::table::{Inferred, InferredColumn};
use embermark_data::{export, lab};
use embermark_model::table::{ColumnType, Keep, Literal, OwnedValue, RowsFile, TimeUnit};
use embermark_skips::sampled;

const MILLIS: ColumnType = ColumnType::Timestamp(TimeUnit::Milliseconds);
const U32: ColumnType = ColumnType::Int { bits: 32, signed: false };
const I16: ColumnType = ColumnType::Int { bits: 16, signed: true };

fn infer(path: &Path) -> Result<Inferred, embermark_data::DataError> {
    let from = RowsFile::from(path.file_name().unwrap().to_str().unwrap());
    embermark_data::table::infer(&from, path.parent().unwrap())
}

fn inferred(name: &str, bytes: impl AsRef<[u8]>) -> Inferred {
    let folder = file(name, bytes);
    infer(&folder.path().join(name)).unwrap()
}

fn column<'a>(inferred: &'a Inferred, name: &str) -> &'a InferredColumn {
    inferred.columns.iter().find(|column| column.name == name).unwrap()
}

/// The type of a CSV column with these values.
fn type_of(name: &str, values: &[&str]) -> ColumnType {
    let csv = format!("{name};other\n{};\n", values.join(";\n"));
    inferred("t.csv", csv).columns[0].of
}

#[test]
fn types_are_the_narrowest_that_all_values_fit_and_integers_have_room() {
    let all: [(&str, &[&str], ColumnType); 18] = [
        ("x", &["true", "False", "TRUE"], BOOL),
        ("x", &["0", "1", "1"], U16),
        ("x", &["0", "32767"], U16),
        ("x", &["0", "32768"], U32),
        ("x", &["-1", "16383"], I16),
        ("x", &["-1", "16384"], ColumnType::Int { bits: 32, signed: true }),
        ("x", &["0", "9223372036854775807"], U64),
        ("x", &["-9223372036854775808", "1"], I64),
        ("x", &["0", "9223372036854775808"], TEXT),
        ("x", &["1", "1.5", "-2e7"], FLOAT),
        ("x", &["1", "x", "1.5"], TEXT),
        ("zip", &["01234", "80331"], TEXT),
        ("x", &["0", "0.5", "-0.25"], FLOAT),
        ("x", &["NaN", "1.5", "2.5"], FLOAT),
        ("x", &["yes", "No", "yes"], BOOL),
        ("sex", &["F", "F", "F"], TEXT),
        ("x", &["T", "F", "NA"], BOOL),
        ("x", &["n", "Y", "n"], BOOL),
    ];
    for (name, values, of) in sampled(all, 6) {
        assert_eq!(type_of(name, values), of, "{name}: {values:?}");
    }
    assert_eq!(inferred("t.csv", b"a,b\n\xff,1\nx,2\n").columns[0].of, TEXT);
}

#[test]
fn a_column_without_a_value_is_a_number_where_its_words_are_those_of_numbers() {
    assert_eq!(type_of("x", &["nan", "NaN", "NA"]), FLOAT);
    assert_eq!(type_of("x", &["NA", "NA"]), TEXT);
    // A word with content does not represent a missing value.
    assert_eq!(type_of("x", &["nan", "nan", "nan", "nan", "ok"]), TEXT);
    let inferred = inferred("t.csv", "id,x,y\n1,nan,T\n2,nan,T\n3,NaN,T\n");
    let x = column(&inferred, "x");
    assert_eq!(
        (x.of, x.absent, &inferred.from.absent[..]),
        (FLOAT, 3, &["nan".into(), "NaN".into()][..])
    );
    let says = |text: &str| inferred.notes.iter().any(|note| note.contains(text));
    assert!(says("x: no values, only words"), "{:?}", inferred.notes);
    assert_eq!(column(&inferred, "y").of, TEXT);
    assert!(says("y: only one truth value"), "{:?}", inferred.notes);
}

#[test]
fn times_are_told_by_their_text_or_by_range_and_name_or_order() {
    let nanos = ColumnType::Timestamp(TimeUnit::Nanoseconds);
    let descending: &[&str] = &["1077929957000000", "1077929956000000"];
    let all: [(&str, &[&str], ColumnType); 14] = [
        ("x", &["2004-02-28 00:59:16", "2004-02-28"], SECONDS),
        ("x", &["2004-02-28T00:59:16.5Z", "2004-02-28T00:59:16Z"], MILLIS),
        ("x", &["2004-02-28 00:59:16.02785"], MICROS),
        ("x", &["2004-02-28", "1077929956"], TEXT),
        // Ascending.
        ("x", &["1077929956", "1077929957", "1077929958"], SECONDS),
        ("x", &["1077929956000", "1077929957000"], MILLIS),
        // By name.
        ("ts", descending, MICROS),
        ("createdAt", descending, MICROS),
        ("update_time", descending, MICROS),
        ("Timestamp", descending, MICROS),
        ("readtime", descending, MICROS),
        // Neither, or not in these years.
        ("phone", &["1077929957", "1077929956"], U32),
        ("time", &["5", "7"], U16),
        ("time", &["1077929957000000000"], nanos),
    ];
    for (name, values, of) in sampled(all, 5) {
        assert_eq!(type_of(name, values), of, "{name}: {values:?}");
    }
}

/// Sensors that report at the same times, and a value that repeats.
fn sensors() -> String {
    let mut csv = "time,sensor,temp,note\n".to_owned();
    for row in 0..2_400 {
        let time = 1_700_000_000 + row / 12 * 60;
        let note = if row % 100 == 0 { "odd" } else { "" };
        writeln!(csv, "{time},{},{}.5,{note}", row % 12 + 1, row % 7).unwrap();
    }
    csv
}

#[test]
fn a_series_and_time_are_the_key_of_readings() {
    let inferred = inferred("s.csv", sensors());
    assert_eq!((inferred.rows, &*inferred.format), (2_400, "CSV"));
    assert_eq!((inferred.time, &inferred.keys[..]), (Some(0), &[vec![1, 0]][..]));
    assert!(inferred.dropped.is_empty());
    let time = column(&inferred, "time");
    assert_eq!((time.of, time.ascending, time.nullable), (SECONDS, true, false));
    assert_eq!((time.distinct, time.exact), (200, true));
    assert_eq!((&time.least, &time.greatest), (&int(1_700_000_000), &int(1_700_011_940)));
    let sensor = column(&inferred, "sensor");
    assert_eq!((sensor.of, sensor.ascending, sensor.distinct), (U16, false, 12));
    assert_eq!(sensor.examples, [int(1), int(2), int(3)]);
    let note = column(&inferred, "note");
    assert_eq!((note.of, note.nullable, note.absent), (TEXT, true, 2_376));
    assert_eq!((&note.least, &note.examples[..]), (&text("odd"), &[text("odd")][..]));
    assert_eq!(column(&inferred, "temp").greatest, float(6.5));
}

#[test]
fn one_row_that_is_there_twice_is_named_beside_the_key() {
    let csv = sensors();
    let last = csv.lines().last().unwrap().to_owned();
    let inferred = inferred("s.csv", csv + &last + "\n");
    let nearly = inferred.near_key.unwrap();
    assert_eq!((nearly.key, nearly.rows, inferred.from.keep), (vec![1, 0], 1, Keep::Last));
    assert_eq!(nearly.first, ("line 2401".to_owned(), "line 2402".to_owned()));
}

#[test]
fn a_row_that_is_not_used_makes_no_column_optional() {
    let row = |at: u64| format!("{},{at}.5", 1_700_000_000 + at);
    let lines: Vec<String> = (0..200).map(row).collect();
    // A line that has a sign where a number belongs, and no time.
    let csv = format!("time,temp\n{}\n,°C\n{}\n", lines[..100].join("\n"), lines[100..].join("\n"));
    let inferred = inferred("t.csv", csv);
    assert_eq!((inferred.rows, inferred.dropped.values().sum::<u64>()), (200, 1));
    let [time, temp] = &inferred.columns[..] else { panic!("{:?}", inferred.columns) };
    assert_eq!((time.of, time.nullable, time.absent), (SECONDS, false, 0));
    assert_eq!((temp.of, temp.nullable), (FLOAT, false));
    assert_eq!(inferred.keys, [[0]]);
}

#[test]
fn the_number_of_a_row_is_a_better_key_than_what_differs_by_chance() {
    let mut csv = "amount,id,customer,created\n".to_owned();
    for row in 0..500 {
        let amount = (row * 7_919 + 13) % 10_007;
        writeln!(csv, "{amount},{row},{},2024-01-01 00:{:02}:{:02}", row % 9, row / 60, row % 60)
            .unwrap();
    }
    let inferred = inferred("o.csv", csv);
    assert_eq!(inferred.time, Some(3));
    assert!(inferred.columns.iter().all(|column| column.exact && column.distinct <= 500));
    let ids: Vec<_> = inferred.keys.iter().map(Vec::as_slice).collect();
    assert!(ids.contains(&&[0][..]) && ids.contains(&&[3][..]), "{ids:?}");
    assert!(ids.iter().position(|key| *key == [1]) < ids.iter().position(|key| *key == [3]));
}

#[test]
fn of_a_column_that_is_a_key_the_different_values_are_counted_however_many() {
    let rows: String =
        (0..220_000).map(|row| format!("{row},{},{}\n", row / 2, row / 10)).collect();
    let inferred = inferred("u.csv", format!("id,half,tenth\n{rows}"));
    let counted: Vec<_> = inferred.columns.iter().map(|c| (c.distinct, c.exact)).collect();
    assert_eq!(counted, [(220_000, true), (100_000, false), (22_000, true)]);
}

#[test]
fn three_columns_are_a_key_where_no_two_are() {
    let mut csv = "a,b,c,x\n".to_owned();
    for row in 0..1_000 {
        writeln!(csv, "{},{},{},1", row % 10, row / 10 % 10, row / 100).unwrap();
    }
    assert_eq!(inferred("k.csv", csv).keys, [[0, 1, 2]]);
}

#[test]
fn json_lines_and_parquet_are_looked_at_in_the_same_way() {
    let mut lines = String::new();
    for row in 0..300 {
        write!(lines, "{{\"id\":{row},\"name\":\"n{}\",\"ok\":{}", row % 3, row % 2 == 0).unwrap();
        // A field that first occurs late and is often missing.
        lines += if row > 200 { ",\"late\":{\"deep\":1.5}}\n" } else { "}\n" };
    }
    let lines = inferred("l.jsonl", lines);
    assert_eq!((&*lines.format, lines.rows, &lines.keys[..]), ("JSON", 300, &[vec![0]][..]));
    let types: Vec<_> = lines.columns.iter().map(|column| (column.of, column.absent)).collect();
    assert_eq!(types, [(U16, 0), (TEXT, 0), (BOOL, 0), (FLOAT, 201)]);
    assert_eq!(lines.columns[3].name, "late.deep");

    let readings = embermark_data::synthetic::generate(5_000, 42).unwrap().readings;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.parquet");
    export::to_parquet(&readings, &path).unwrap();
    let parquet = infer(&path).unwrap();
    assert_eq!((&*parquet.format, parquet.rows, parquet.time), ("Parquet", 5_000, Some(0)));
    assert_eq!(parquet.keys[0], [1, 0]);
    assert_eq!((parquet.columns[0].of, parquet.columns[1].of), (MICROS, U16));
    assert!(parquet.columns[2..].iter().all(|column| column.of == FLOAT));
    // The same rows as CSV give the same result.
    let path = folder.path().join("r.csv");
    export::to_csv(&readings, std::fs::File::create(&path).unwrap()).unwrap();
    let csv = infer(&path).unwrap();
    assert_eq!((&csv.columns, &csv.keys), (&parquet.columns, &parquet.keys));
}

#[test]
fn files_without_rows_are_told_so_and_columns_without_names_are_numbered() {
    let refusal = |bytes: &str| {
        let folder = file("t.csv", bytes);
        infer(&folder.path().join("t.csv")).unwrap_err().to_string()
    };
    assert!(refusal("a,b\n").contains("it has no rows"));
    assert!(refusal("").contains("is empty"));
    for text in ["1,2\n3,4\n", "s1,2004-02-28\ns2,2004-02-29\n"] {
        let inferred = inferred("t.csv", text);
        assert_eq!((inferred.rows, &*inferred.columns[1].name), (2, "column1"));
        assert_eq!(inferred.from.read, [("header".to_owned(), Literal::Bool(false))]);
    }
}

#[test]
fn comments_before_the_rows_may_be_more_than_the_rows() {
    let head: String = (1..40).map(|at| format!("# {at}. A column; its unit (W/m2)\n")).collect();
    let rows =
        "# Observation period;TOA;GHI\n2020-01-01/2020-02-01;1.5;2\n2020-02-01/2020-03-01;2.5;3\n";
    let found = inferred("t.csv", head + "#\n" + rows);
    let names: Vec<_> = found.columns.iter().map(|column| &*column.name).collect();
    assert_eq!((found.rows, &names[..]), (2, &["Observation period", "TOA", "GHI"][..]));
}

#[test]
fn words_for_no_value_are_found_among_times_of_a_format_and_after_many_of_them() {
    let day = |at: u32| format!("{}/{}/{}", at % 12 + 1, at % 28 + 1, 2010 + at / 84);
    let rows: String = (0..900).map(|at| format!("{at},{}\n", day(at))).collect();
    for csv in [format!("id,day\n0,n/a\n{rows}"), format!("id,day\n{rows}900,N/A\n901,N/A\n")] {
        let found = inferred("t.csv", csv);
        assert_eq!(column(&found, "day").of, SECONDS);
        assert!(column(&found, "day").nullable && found.rows > 900, "{found:?}");
    }
}

/// The format found for a column of dates, and the first and last of them.
fn dates(values: &[&str]) -> (String, String, Inferred) {
    let csv = format!("day;n\n{}\n", values.join(";1\n") + ";1");
    let found = inferred("t.csv", csv);
    let day = column(&found, "day");
    assert!(matches!(day.of, ColumnType::Timestamp(_)), "{values:?}: {:?}", day.of);
    let format = day.from.as_ref().and_then(|from| from.format.clone()).unwrap_or_default();
    let mut found = found;
    found.time = Some(0);
    (format, found.span().unwrap(), found)
}

#[test]
fn a_year_of_two_digits_is_one_of_our_time() {
    let all = [
        (
            &["13.01.26 10:00", "31.12.26 23:59"][..],
            "%d.%m.%y %H:%M",
            "day from 2026-01-13T10:00:00Z to 2026-12-31T23:59:00Z: a row every 352.6 days",
        ),
        (
            &["1/13/26 1:05 PM", "1/14/26 11:05 AM"],
            "%m/%d/%y %I:%M %p",
            "day from 2026-01-13T13:05:00Z to 2026-01-14T11:05:00Z: a row every 22.0 h",
        ),
        (&["99/12/31", "00/01/01"], "%y/%m/%d", "1999-12-31T00:00:00Z to 2000-01-01T00:00:00Z"),
        (&["May 5, 2026", "May 6, 2026"], "%b %d, %Y", "2026-05-05T00:00:00Z to 2026-05-06"),
        (&["2026/12/31", "2027/01/01"], "", "2026-12-31T00:00:00Z to 2027-01-01T00:00:00Z"),
        (&["31-12-2026", "01-01-2027"], "%d-%m-%Y", "2026-12-31T00:00:00Z to 2027-01-01"),
    ];
    for (values, format, span) in sampled(all, 3) {
        let (found, of, all) = dates(values);
        assert!(format.is_empty() || found == format, "{values:?}: {found}");
        assert!(of.contains(span), "{values:?}: {of}");
        // 13.01.26 could be a day of 2013.
        let is_doubtful = all.notes.iter().any(|note| note.contains("may be in another order"));
        assert_eq!(is_doubtful, values[0].starts_with("13.01"), "{values:?}: {:?}", all.notes);
    }
}

#[test]
fn of_several_orders_of_day_month_and_year_one_that_spreads_the_rows_is_not_taken() {
    let log: Vec<String> = (1..13).map(|day| format!("26-01-{day:02}")).collect();
    let american: Vec<String> = (1..13).map(|day| format!("03/{day:02}/2026")).collect();
    let german: Vec<String> = (1..13).map(|month| format!("03.{month:02}.26")).collect();
    let all = [(log, "%y-%m-%d"), (american, "%m/%d/%Y"), (german, "%d.%m.%y")];
    for (values, format) in sampled(all, 1) {
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let (found, _, all) = dates(&values);
        assert_eq!(found, format, "{values:?}");
        let note = format!("day: read as \"{format}\", but day, month and year may be in another");
        assert!(all.notes.iter().any(|other| other.starts_with(&note)), "{:?}", all.notes);
    }
}

#[test]
fn lines_within_quoted_texts_may_end_in_another_way() {
    let rows: String = (0..300).map(|row| format!("{row},\"a\nb{row}\"\r\n")).collect();
    let found = inferred("t.csv", format!("id,note\r\n{rows}"));
    assert_eq!((found.rows, &found.notes[..]), (300, &[][..]));
    assert_eq!(inferred("t.csv", "id,note\r\n1,x").notes, [] as [String; 0]);
    let mixed = inferred("t.csv", format!("id,note\r\n{rows}300,x\n"));
    assert_eq!((mixed.rows, &*mixed.notes[0]), (301, "lines end in more than one way"));
}

#[test]
fn a_line_of_very_many_values_is_refused_with_what_to_do() {
    let folder = file("t.csv", "1.5,".repeat(9_000) + "2\n");
    let error = infer(&folder.path().join("t.csv")).unwrap_err().to_string();
    assert!(error.contains("8192 fields") && error.contains("a line of its own"), "{error}");
}

#[test]
fn rows_of_other_lengths_are_counted_and_left_out() {
    let others = "7,8\n".repeat(200);
    let inferred = inferred("t.csv", format!("a,b\n1,2\n3\n4,5,6\n{others}"));
    assert_eq!((inferred.rows, inferred.columns[0].greatest.clone()), (201, int(7)));
    assert_eq!((inferred.dropped["too few fields"], inferred.dropped["too many fields"]), (1, 1));
}

#[test]
fn the_real_sensors_have_a_key_of_mote_and_time() {
    let path = PathBuf::from("../../../shared/data/intel-lab/data-motes-55-58.txt");
    if !path.exists() {
        return embermark_skips::skipped("sensor log", format!("{} is not there", path.display()));
    }
    let readings = lab::read(&path).unwrap().readings;
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("lab.csv");
    export::to_csv(&readings, std::fs::File::create(&csv).unwrap()).unwrap();
    check_lab(&infer(&csv).unwrap(), &csv);
}

fn check_lab(inferred: &Inferred, file: &Path) {
    assert_eq!(
        (inferred.rows, &*inferred.from.files[0]),
        (9_719, file.file_name().unwrap().to_str().unwrap())
    );
    assert_eq!((inferred.time, &inferred.keys[0][..]), (Some(0), &[1, 0][..]));
    let [ts, sensor, values @ ..] = &inferred.columns[..] else { panic!("{inferred:?}") };
    assert_eq!((ts.of, ts.ascending), (MICROS, true));
    assert_eq!((sensor.of, sensor.distinct), (U16, 3));
    assert_eq!(sensor.examples, [int(55), int(56), int(58)].as_slice());
    assert!(values.iter().all(|column| column.of == FLOAT && column.least != OwnedValue::Null));
}

#[test]
fn a_word_that_means_a_missing_value_in_one_column_stays_in_another() {
    let mut csv = "id,iso,t,w\n".to_owned();
    for id in 0..300 {
        let iso = ["NA", "DE", "", "FR"][id % 4];
        let t = if id % 5 == 0 { "NA".to_owned() } else { format!("{}.5", id) };
        let w = if id % 7 == 0 { "NA".to_owned() } else { format!("{}.25", id) };
        csv += &format!("{id},{iso},{t},{w}\n");
    }
    let found = inferred("r.csv", &csv);
    assert_eq!(found.from.absent, ["NA"]);
    let absent =
        |name: &str| column(&found, name).from.as_ref().and_then(|from| from.absent.clone());
    assert_eq!((absent("iso"), absent("t"), absent("w")), (Some(Vec::new()), None, None));
    assert_eq!(column(&found, "iso").absent, 75, "{found:?}");
    let note = "iso: 75 values would mean a missing value in another column, and are kept here";
    assert!(found.notes.iter().any(|other| other == note), "{:?}", found.notes);
}

#[test]
fn a_name_that_the_header_repeats_is_noted() {
    let found = inferred("r.csv", "id,v,w,v\n1,2,3,4\n2,3,4,5\n3,4,5,7\n");
    let names: Vec<_> = found.columns.iter().map(|column| &*column.name).collect();
    assert_eq!(names, ["id", "v", "w", "v_1"]);
    let note = "the header has \"v\" more than once: the next is \"v_1\", and so on";
    assert!(found.notes.iter().any(|other| other == note), "{:?}", found.notes);
}

#[test]
fn files_of_one_folder_may_have_other_delimiters() {
    let folder = file("a.csv", "id;v\n1;2\n2;3\n");
    std::fs::write(folder.path().join("b.csv"), "id,v\n3,4\n4,5\n").unwrap();
    let from = RowsFile::from("*.csv");
    let found = embermark_data::table::infer(&from, folder.path()).unwrap();
    assert_eq!((found.rows, found.from.read.len()), (4, 0), "{found:?}");
    assert!(found.notes.iter().any(|note| note.contains("written in different ways")), "{found:?}");
}

fn notes(found: &Inferred, part: &str) -> bool {
    found.notes.iter().any(|note| note.contains(part))
}

/// Rows of the number of each and a text made from it, with this head and delimiter.
fn numbered(head: &str, rows: u64, row: impl Fn(u64) -> String) -> Inferred {
    let rows: Vec<String> = (0..rows).map(row).collect();
    inferred("t.csv", format!("{head}\n{}\n", rows.join("\n")))
}

fn format_of<'a>(found: &'a Inferred, name: &str) -> Option<&'a str> {
    column(found, name).from.as_ref()?.format.as_deref()
}

#[test]
fn months_are_not_days_of_the_year_and_numbers_like_those_have_a_note() {
    let months = numbered("month,v", 60, |n| format!("{}-{:02},{n}", 2020 + n / 12, n % 12 + 1));
    assert_eq!(format_of(&months, "month"), Some("%Y-%m"));
    assert_eq!(column(&months, "month").greatest, int(1_733_011_200));
    let days = numbered("id,part", 300, |n| format!("{n},2000-{:03}", n + 1));
    assert_eq!(format_of(&days, "part"), Some("%Y-%j"));
    assert!(notes(&days, "part: read as \"%Y-%j\", a year and one of its days"), "{days:?}");
    let codes = numbered("id,part", 300, |n| format!("{n},2000-{}", n + 1));
    assert_eq!(column(&codes, "part").of, TEXT);
}

#[test]
fn versions_are_texts_and_years_of_two_digits_have_a_note() {
    let time = |n: u64| format!("2024-03-05 06:{:02}:00", n % 60);
    let all = [["1.2.3", "1.10.0"], ["1.10.24", "1.9.24"], ["1-2-10", "1-3-11"]];
    for versions in sampled(all, 1) {
        let found =
            numbered("time,fw,v", 60, |n| format!("{},{},{n}", time(n), versions[n as usize % 2]));
        assert_eq!(column(&found, "fw").of, TEXT, "{versions:?}");
    }
    let dates = numbered("Datum;v", 28, |n| format!("{}.3.24;{n}", n + 1));
    assert_eq!(format_of(&dates, "Datum"), Some("%d.%m.%y"));
    assert!(!notes(&dates, "two digits"), "{dates:?}");
    let batch = numbered("time,batch,v", 28, |n| format!("{},{:02}.03.24,{n}", time(n), n + 1));
    assert!(notes(&batch, "batch: read as \"%d.%m.%y\", with years of two digits"), "{batch:?}");
}

#[test]
fn points_separate_thousands_beside_decimal_commas() {
    let found = numbered("Zeit;Zaehler;Wert", 300, |n| {
        format!("01.03.2024 {:02}:{:02};{}.{:03};{},5", n / 60, n % 60, 12 + n / 100, n, n % 9)
    });
    let meter = column(&found, "Zaehler");
    assert_eq!(
        (meter.of, &meter.least, &meter.greatest),
        (FLOAT, &float(12_000.0), &float(14_299.0))
    );
    let separators: Vec<_> = found.from.read.iter().skip(1).map(|(name, _)| &**name).collect();
    assert_eq!(separators, ["decimal_separator", "thousands"]);
    assert!(notes(&found, "Zaehler: points separate thousands"), "{:?}", found.notes);
    // A point before two digits begins a fraction, and 0,250 is not a thousand.
    let mixed = numbered("a;b", 300, |n| format!("{n}.25;{},{:03}", n % 9, n));
    assert_eq!((column(&mixed, "a").of, column(&mixed, "b").of), (FLOAT, TEXT));
}

#[test]
fn numbers_with_three_digits_after_their_only_separator_have_a_note() {
    for (row, sign) in sampled([("1.234;x", '.'), ("1,234;x", ','), ("1,234\tx", ',')], 1) {
        let found = inferred("t.csv", format!("a{}b\n{row}\n{row}\n", &row[5..6]));
        assert!(notes(&found, "a: numbers such as 1"), "{row}: {:?}", found.notes);
        assert!(notes(&found, &format!("write thousands = \"{sign}\"")), "{:?}", found.notes);
        assert_eq!(column(&found, "a").greatest, float(1.234));
    }
    for rows in sampled(["1.234;1.5", "0.234;1", "1,234;2,5", "0,234;x"], 1) {
        let found = inferred("t.csv", format!("a;b\n{rows}\n{rows}\n"));
        assert!(!notes(&found, "thousand times"), "{rows}: {:?}", found.notes);
    }
    let found = inferred("t.csv", "a;b\n1.234.567;x\n1.234.568;x\n");
    assert!(notes(&found, "thousands = \".\" in read, and \"i64\""), "{:?}", found.notes);
    // Points of another column decide.
    let found = inferred("t.csv", "a;b\n1,234;1.5\n2,345;2.5\n");
    assert_eq!(column(&found, "a").greatest, float(2_345.0));
}

#[test]
fn a_single_number_with_leading_zeros_makes_its_column_a_text() {
    let found = numbered("row,sku", 1_000, |n| match n {
        500 => "500,01050".to_owned(),
        _ => format!("{n},{}", 20_000 + n),
    });
    assert_eq!(column(&found, "sku").of, TEXT);
    assert!(notes(&found, "sku: a text, because 1 value has leading zeros, such as 01050"));
    let found = numbered("row,v", 1_000, |n| format!("{n},{}", n % 7));
    assert_eq!(column(&found, "v").of, U16);
    // Texts need no reason.
    let found =
        numbered("row,v", 1_000, |n| if n == 5 { "5,07".into() } else { format!("{n},a{n}") });
    assert_eq!((column(&found, "v").of, &found.notes[..]), (TEXT, &[][..]));
}

#[test]
fn a_column_of_fractions_and_of_numbers_that_a_double_changes_is_a_text() {
    let large = (1_u64 << 53) + 1;
    let found = numbered("row,v", 300, |n| match n {
        200 => "200,1.5".to_owned(),
        _ => format!("{n},{}", large + n),
    });
    assert_eq!(column(&found, "v").of, TEXT);
    assert!(notes(&found, "v: a text, because it has fractions, and 149 numbers beyond 2^53"));
    assert_eq!(type_of("v", &["9007199254740993.0", "1.5"]), TEXT);
    assert_eq!(type_of("v", &["9007199254740992.0", "1.5"]), FLOAT);
}

#[test]
fn years_in_the_first_line_are_names() {
    let found =
        numbered("country,2019,2020,2021", 200, |n| format!("c{n},{n},{},{}", 2 * n, 3 * n));
    assert_eq!((found.rows, &*found.columns[1].name), (200, "2019"));
    let rows = numbered("c,2019,2020,2021", 200, |n| format!("c{n},{},2020,2021", 1950 + n % 70));
    assert_eq!((rows.rows, &*rows.columns[1].name), (201, "column1"));
    assert!(notes(&rows, "header = true"), "{:?}", rows.notes);
}

#[test]
fn a_counter_and_what_differs_by_chance_are_not_keys_beside_the_time() {
    let time = |n: u64| format!("2024-03-05 {:02}:{:02}:00", n / 60, n % 60);
    let found = numbered("time,rain_total,temp", 600, |n| format!("{},{},{n}.5", time(n), 5 * n));
    assert_eq!(found.keys[0], [0]);
    let count = |n: u64| n * 7_919 % 10_007;
    let found = numbered("station,time,count", 1_200, |n| match n {
        1_199 => format!("{},{},1", 1_198 % 4, time(1_198 / 4)),
        _ => format!("{},{},{}", n % 4, time(n / 4), count(n)),
    });
    assert_eq!(found.near_key.map(|near| (near.key, near.rows)), Some((vec![0, 1], 1)));
}

#[test]
fn dates_without_separators_are_times_in_columns_with_such_a_name() {
    for name in sampled(["date", "Datum", "tag"], 1) {
        let found = numbered(&format!("{name},v"), 28, |n| format!("202403{:02},{n}", n + 1));
        assert_eq!(format_of(&found, name), Some("%Y%m%d"));
    }
    let found = numbered("time,v", 28, |n| format!("202403{:02}060000,{n}", n + 1));
    assert_eq!((format_of(&found, "time"), found.time), (Some("%Y%m%d%H%M%S"), Some(0)));
    for (name, month) in sampled([("part", "03"), ("date", "13")], 1) {
        let found = numbered(&format!("{name},v"), 28, |n| format!("2024{month}{:02},{n}", n + 1));
        assert_eq!(column(&found, name).of, U32, "{name}");
    }
    let found = numbered("date,time,v", 28, |n| format!("202403{:02},060{n:03},{n}", n + 1));
    assert_eq!(format_of(&found, "date"), Some("%Y%m%d %H%M%S"));
}

#[test]
fn of_several_times_of_day_the_first_belongs_to_the_date() {
    let found = numbered("date;from;to;v", 20, |n| format!("05.03.2024;{n:02}:00;{n:02}:15;{n}"));
    let from = column(&found, "date").from.clone().unwrap();
    assert_eq!(from.names, ["date", "from"]);
    assert!(notes(&found, "date is read with the time of day in from, and not with to"));
    let found = numbered("date;clock;v", 24, |n| format!("05.03.2024;{:02}:00;{n}", n + 1));
    assert!(notes(&found, "clock: 24:00 is not read as a time of day"), "{:?}", found.notes);
}

#[test]
fn a_column_of_bytes_because_of_a_nul_has_a_note() {
    let found = inferred("t.csv", b"id,note\n1,a\0b\n2,cd\n3,ef\n");
    assert_eq!(found.columns[1].of, BYTES);
    let note = "note: bytes, because 1 value has a NUL or is not UTF-8";
    assert!(notes(&found, note), "{:?}", found.notes);
}

#[test]
fn errors_of_spreadsheets_are_missing_values() {
    let errors = ["#DIV/0!", "#VALUE!", "#N/A", "#REF!", "#NAME?", "#NUM!", "#NULL!"];
    let german = ["#NV", "#WERT!", "#BEZUG!", "#ZAHL!"];
    for errors in [&errors[..], &german] {
        let found = numbered("row;v", 600, |n| match n % 20 {
            0 => format!("{n};{}", errors[n as usize / 20 % errors.len()]),
            _ => format!("{n};{n},5"),
        });
        assert_eq!((column(&found, "v").of, column(&found, "v").absent), (FLOAT, 30), "{errors:?}");
    }
    // Many numbers with commas leave room for the word.
    let found = numbered("row;v", 600, |n| match n % 20 {
        19 => format!("{n};Fehler"),
        _ => format!("{n};{n},5"),
    });
    assert_eq!((column(&found, "v").of, column(&found, "v").absent), (FLOAT, 30));
}

#[test]
fn infinity_is_not_called_nan() {
    let value = "CASE i % 100 WHEN 1 THEN 'NaN'::DOUBLE WHEN 2 THEN '-inf'::DOUBLE ELSE i END";
    let query = format!("SELECT i AS id, {value} AS v FROM range(300) AS all_rows(i)");
    let from = RowsFile { query: Some(query), ..RowsFile::default() };
    let found = embermark_data::table::infer(&from, Path::new(".")).unwrap();
    assert!(notes(&found, "\"NaN\" means a missing value, 3 times"), "{:?}", found.notes);
    assert!(notes(&found, "\"-inf\" means a missing value, 3 times"), "{:?}", found.notes);
    assert_eq!(column(&found, "v").absent, 6);
}
