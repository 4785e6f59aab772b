//! Small files in forms that people report, from the files to staged rows by the proposed workload
//! file. Each is right, or refused with what to do about it.

use std::path::{Path, PathBuf};

use embermark_data::table::{Inferred, StagedTable, infer, stage};
use embermark_language::{Definition, ProposalOptions, parse, propose};
use embermark_model::table::{ColumnType, OwnedValue, RowsFile, Table};
use embermark_skips::sampled;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// The proposal for files, and the rows that are staged by it.
pub(crate) struct Case {
    pub(crate) inferred: Inferred,
    file: Definition,
    pub(crate) rows: StagedTable,
    pub(crate) dropped: u64,
}

fn case_of(from: &RowsFile) -> Case {
    case_in(&folder(), from)
}

pub(crate) fn case_in(folder: &Path, from: &RowsFile) -> Case {
    let inferred = infer(from, folder).unwrap_or_else(|error| panic!("{from:?}: {error}"));
    let text = propose("case", std::slice::from_ref(&inferred), &ProposalOptions::default()).0;
    let file = parse("case.toml", &text, &[]).unwrap_or_else(|wrong| panic!("{text}\n{wrong}"));
    let scratch = tempfile::tempdir().unwrap();
    let to = scratch.path().join("staged");
    let staged = stage(&file.tables, 0, folder, None, 42, 0.01, &to)
        .unwrap_or_else(|error| panic!("{text}\n{error}"));
    let rows = StagedTable::open(&to).unwrap();
    Case { inferred, file, rows, dropped: staged.dropped.values().sum() }
}

fn case(file: &str) -> Case {
    case_of(&file.into())
}

/// The case of a file with these bytes.
pub(crate) fn made(name: &str, bytes: impl AsRef<[u8]>) -> Case {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), bytes).unwrap();
    case_in(folder.path(), &name.into())
}

/// Why a file with these bytes is refused.
pub(crate) fn refused(name: &str, bytes: impl AsRef<[u8]>) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), bytes).unwrap();
    infer(&name.into(), folder.path()).unwrap_err().to_string()
}

/// A head, and this number of rows below it.
pub(crate) fn lines(head: &str, rows: u64, row: impl Fn(u64) -> String) -> String {
    let rows: Vec<String> = (0..rows).map(row).collect();
    format!("{head}\n{}\n", rows.join("\n"))
}

impl Case {
    fn table(&self) -> &Table {
        &self.file.tables[0]
    }

    pub(crate) fn key(&self) -> Vec<&str> {
        self.table().key.iter().map(|place| &*self.table().columns[*place].name).collect()
    }

    /// The types of the columns, with a '?' after those that may be absent.
    pub(crate) fn types(&self) -> Vec<String> {
        let of = |column: &embermark_model::table::Column| {
            let unit = match column.of {
                ColumnType::Timestamp(unit) => format!(" {}", unit.name()),
                _ => String::new(),
            };
            format!("{}{unit}{}", column.of, if column.nullable { "?" } else { "" })
        };
        self.table().columns.iter().map(of).collect()
    }

    pub(crate) fn value(&self, row: usize, name: &str) -> OwnedValue {
        let place = self.table().columns.iter().position(|column| column.name == name).unwrap();
        self.rows.value(row, place).to_owned()
    }

    pub(crate) fn notes(&self, part: &str) -> bool {
        self.inferred.notes.iter().any(|note| note.contains(part))
    }
}

#[test]
fn numbers_have_commas_and_times_are_german() {
    let case = case("01-decimal-comma/halle.csv");
    assert_eq!(case.types(), ["timestamp s", "text", "f64", "f64"]);
    assert_eq!(case.value(0, "temperatur_c"), OwnedValue::Float(20.13));
    assert_eq!(case.value(0, "Datum"), OwnedValue::Int(1_717_200_000));
    assert_eq!((case.key(), case.rows.rows()), (vec!["Messstelle", "Datum"], 600));
}

#[test]
fn words_and_numbers_stand_for_no_value() {
    let air = case("02-missing-markers/air.csv");
    assert_eq!(air.types(), ["timestamp s", "text", "f64?", "f64?"]);
    assert!(air.notes("\"NA\" means a missing value, 32 times"), "{:?}", air.inferred.notes);
    assert!(air.notes("\"-9999\" means a missing value, 20 times"));
    assert_eq!((air.rows.present(2), air.rows.present(3)), (768, 780));
    let power = case("02-missing-markers/power.csv");
    assert_eq!(power.types(), ["timestamp s", "f64?", "f64?"]);
    assert_eq!(power.value(1, "Date"), OwnedValue::Int(1_717_200_060));
}

#[test]
fn seconds_with_a_fraction_are_times() {
    let found = case("03-epoch-fraction/readings.csv");
    assert_eq!(found.types(), ["timestamp us", "u16", "f64"]);
    assert_eq!(found.value(1, "timestamp"), OwnedValue::Int(1_717_200_000_000_791));
    let text = std::fs::read_to_string(folder().join("03-epoch-fraction/fixed.toml")).unwrap();
    let file = parse("fixed.toml", &text, &[]).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let base = folder().join("03-epoch-fraction");
    let staged =
        stage(&file.tables, 0, &base, None, 42, 0.0, &scratch.path().join("rows")).unwrap();
    assert_eq!(staged.rows, 600);
}

#[test]
fn a_clock_that_was_not_set_is_told() {
    let case = case("04-no-rtc/boot.csv");
    assert_eq!(case.types()[0], "timestamp s");
    assert!(case.notes("45 before 1990"), "{:?}", case.inferred.notes);
}

#[test]
fn local_times_are_unique_once_their_zone_is_named() {
    let plain = case("05-summer-time/local.csv");
    assert!(plain.notes("goes back by an hour once"), "{:?}", plain.inferred.notes);
    assert!(plain.notes("would be a key but for 120 rows"), "{:?}", plain.inferred.notes);
    let zone = Some("Europe/Berlin".to_owned());
    let zoned = case_of(&RowsFile { zone, ..RowsFile::from("05-summer-time/local.csv") });
    assert_eq!((zoned.key(), zoned.rows.rows()), (vec!["sensor", "local_time"], 360));
}

#[test]
fn names_that_come_again_are_passed_over_and_files_of_a_day_are_one_table() {
    let again = case("06-header-again/all.csv");
    assert_eq!(
        (again.rows.rows(), again.types()),
        (900, vec!["timestamp s".to_owned(), "u16".to_owned(), "f64".to_owned()])
    );
    assert!(again.notes("2 times: the names of the columns again"));
    let days =
        ["day0.csv", "day1.csv", "day2.csv"].map(|day| folder().join("06-header-again").join(day));
    assert_eq!(embermark_data::table::group_by_fields(&days).unwrap().len(), 1);
    let glob = case("06-header-again/day*.csv");
    assert_eq!((glob.rows.rows(), &*glob.table().name), (900, "day"));
}

#[test]
fn nuls_of_a_power_cut_are_passed_over_and_half_lines_counted() {
    let prefix = case("07-power-cut-nul/prefix.csv");
    assert_eq!((prefix.types()[0].as_str(), prefix.rows.rows()), ("timestamp s", 300));
    assert!(prefix.notes("1 time: NULs before a value"));
    let log = case("07-power-cut-nul/log.csv");
    assert_eq!((log.rows.rows(), log.dropped), (299, 2));
}

#[test]
fn a_quote_that_is_not_closed_is_named_and_its_lines_counted() {
    let found = case("08-stray-quote/notes.csv");
    assert_eq!(found.rows.rows(), 600);
    assert!(found.notes("line 122 has a quote"), "{:?}", found.inferred.notes);
    // Without the option a run reports what is lost.
    let mut table = found.table().clone();
    table.rows =
        embermark_model::table::RowsFrom::File(Box::new("08-stray-quote/notes.csv".into()));
    let scratch = tempfile::tempdir().unwrap();
    let refused = stage(&[table], 0, &folder(), None, 42, 0.01, &scratch.path().join("rows"));
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("480 of 600 rows cannot be used"), "{text}");
    assert!(
        text.contains("line 122: a quote that opens and is not closed, which takes 480 lines"),
        "{text}"
    );
}

#[test]
fn heads_of_several_lines_are_skipped() {
    let of = |file: &str| {
        let case = case(&format!("09-head-of-several-lines/{file}"));
        let names = case.table().columns.iter().map(|column| column.name.clone());
        (case.rows.rows(), names.collect::<Vec<_>>().join(" "), case.types().join(" "))
    };
    let all = [
        ("comments.csv", 300, "time co2 temp", "timestamp s u16 f64"),
        ("sep.csv", 100, "time temp", "timestamp s f64"),
        ("toa5.dat", 300, "TIMESTAMP RECORD AirT RH Rain_Tot", "timestamp s u16 f64 f64 f64?"),
        ("no-header.csv", 100, "column0 column1 column2", "timestamp s u16 f64"),
    ];
    for (file, rows, names, types) in sampled(all, 2) {
        assert_eq!(of(file), (rows, names.to_owned(), types.to_owned()), "{file}");
    }
}

#[test]
fn json_has_nan_and_fields_within_fields() {
    let nan = case("10-json-nan/py.jsonl");
    assert_eq!((nan.rows.rows(), nan.dropped), (500, 0));
    assert!(nan.types().contains(&"f64?".to_owned()), "{:?}", nan.types());
    let states = case("11-nested-and-words/states.jsonl");
    let types = states.types();
    let names: Vec<_> = states.table().columns.iter().map(|column| &*column.name).collect();
    let of = |name: &str| &*types[names.iter().position(|other| *other == name).unwrap()];
    assert_eq!((of("state"), of("attributes_battery")), ("f64?", "u16"), "{names:?} {types:?}");
    assert!(of("last_changed").starts_with("timestamp"), "{types:?}");
}

#[test]
fn large_integers_keep_their_last_digit() {
    let lora = case("12-large-integers/lora.csv");
    assert_eq!(lora.value(1, "dev_eui"), OwnedValue::Int(8_121_069_293_711_392_769));
    let ids = case("12-large-integers/ids.jsonl");
    assert_eq!(ids.types(), ["u64", "text", "u16"]);
}

#[test]
fn other_encodings_are_read_and_archives_named_with_what_unpacks_them() {
    for (file, name) in [("latin1.csv", "Größe"), ("utf16.csv", "Größe")] {
        let case = case(&format!("13-encodings/{file}"));
        assert_eq!((case.rows.rows(), &*case.inferred.columns[2].name), (200, name));
    }
    let values = case("13-encodings/latin1-values.csv");
    assert_eq!(values.value(1, "ort"), OwnedValue::Text("Küche".to_owned()));
    assert_eq!(case("13-encodings/members.csv.gz").rows.rows(), 400);
    let refused = infer(&"13-encodings/r.zip".into(), &folder()).unwrap_err().to_string();
    assert!(refused.contains("ZIP archive") && refused.contains("`unzip`"), "{refused}");
}

#[test]
fn a_key_that_nearly_holds_is_named_with_its_first_pair() {
    let desc = case("14-order-and-doubles/desc.csv");
    assert_eq!((desc.key(), desc.rows.rows()), (vec!["sensor", "ts"], 900));
    let nearly = desc.inferred.near_key.unwrap();
    assert_eq!((nearly.rows, &*nearly.first.1), (5, "line 902"));
}

#[test]
fn names_of_any_kind_become_columns() {
    assert_eq!(case("15-names/names.csv").rows.rows(), 200);
    let twice = case("15-names/twice.csv");
    assert_eq!(twice.value(0, "temp_1"), OwnedValue::Float(21.2));
    assert_eq!(case("15-names/case.csv").types().len(), 4);
}

#[test]
fn times_are_read_as_they_are_written() {
    for file in sampled(["compact", "rfc", "slash", "us"], 1) {
        let case = case(&format!("17-time-formats/{file}.csv"));
        assert_eq!(case.types(), ["timestamp s", "f64"], "{file}");
        assert_eq!(case.value(1, "stamp"), OwnedValue::Int(1_717_200_060), "{file}");
    }
}

#[test]
fn parquet_is_exact_and_what_is_nested_has_columns_of_its_own() {
    let kinds = case("18-parquet/kinds.parquet");
    assert_eq!(kinds.value(0, "kwh"), OwnedValue::Int(9_007_199_254_740_993));
    assert_eq!(kinds.value(1, "u64"), OwnedValue::Text("9223372036854775809".to_owned()));
    assert_eq!(kinds.value(0, "gps_lat"), OwnedValue::Float(52.0));
    assert_eq!(kinds.value(1, "raw"), OwnedValue::Bytes(vec![1, 0]));
    assert_eq!((kinds.rows.rows(), kinds.dropped), (400, 0));
    let all: [(&str, &[&str]); 2] =
        [("all-nested", &["f64", "f64", "text"]), ("pandas-nan", &["f64?", "timestamp ns"])];
    for (file, types) in sampled(all, 1) {
        assert_eq!(case(&format!("18-parquet/{file}.parquet")).types(), types);
    }
    assert_eq!(case("18-parquet/int96.parquet").types()[0], "timestamp s");
    let dataset = case("18-parquet/dataset");
    assert_eq!((dataset.rows.rows(), dataset.types().len()), (300, 4));
    let empty = infer(&"18-parquet/empty.parquet".into(), &folder()).unwrap_err().to_string();
    assert!(empty.contains("it has no rows"), "{empty}");
}

#[test]
fn one_bad_value_is_one_row() {
    let one = case("20-one-bad-value/one.csv");
    assert_eq!((one.types()[2].as_str(), one.rows.rows(), one.dropped), ("f64", 3_999, 1));
}

#[test]
fn a_key_that_repeats_is_refused_unless_the_table_says_which_row_stays() {
    let found = case("23-sent-again/resent.csv");
    assert!(found.notes("would be a key but for"), "{:?}", found.inferred.notes);
    let text = |keep: &str| {
        format!(
            "[table.r]\nfile = \"23-sent-again/resent.csv\"\nkey = [\"node\"]\n{keep}\n\
             [table.r.columns]\nnode = \"u16\"\nts = {{ type = \"timestamp\", unit = \"s\" }}\n\
             temp = \"f64\"\n[phase.load]\ndo = \"insert\"\n"
        )
    };
    let scratch = tempfile::tempdir().unwrap();
    let staged = |keep: &str| {
        let file = parse("r.toml", &text(keep), &[]).unwrap();
        stage(&file.tables, 0, &folder(), None, 42, 0.01, &scratch.path().join("rows"))
    };
    let refused = staged("").unwrap_err().to_string();
    for part in
        ["948 of 952 rows cannot be used", "line 2 and line 6 have the same key", "keep = \"last\""]
    {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    let kept = staged("keep = \"last\"").unwrap();
    assert_eq!((kept.rows, kept.dropped.len(), kept.remarks.values().sum::<u64>()), (4, 0, 948));
}

#[test]
fn rows_that_end_with_a_delimiter_keep_their_names() {
    let found = made("t.csv", lines("id,a,b", 100, |row| format!("{row},{},x{row},", 2 * row)));
    assert_eq!(found.types(), ["u16", "u16", "text", "text?"]);
    assert_eq!((found.key(), found.value(3, "b")), (vec!["id"], OwnedValue::Text("x3".to_owned())));
    // If the rows have names of their own, as R writes them, that column comes first.
    let named = made("t.csv", lines("x,y", 100, |row| format!("\"r{row}\",{row},{}.5", row % 7)));
    assert_eq!((named.key(), named.value(3, "y")), (vec!["row_name"], OwnedValue::Float(3.5)));
}

#[test]
fn quotes_may_be_single_or_escaped_by_backslashes() {
    let single = made("t.csv", lines("id,note", 100, |row| format!("{row},'a, b {row}'")));
    assert_eq!(single.value(1, "note"), OwnedValue::Text("a, b 1".to_owned()));
    let escaped = lines("id,note", 100, |row| format!("{row},\"say \\\"hi\\\", {row}\""));
    assert_eq!(
        made("t.csv", escaped).value(1, "note"),
        OwnedValue::Text("say \"hi\", 1".to_owned())
    );
}

#[test]
fn numbers_may_have_points_between_thousands() {
    let found =
        made("t.csv", lines("id;amount", 200, |row| format!("{row};{}.{row:03},50", row % 7 + 1)));
    assert_eq!(
        (found.types()[1].as_str(), found.value(9, "amount")),
        ("f64", OwnedValue::Float(3009.5))
    );
}

#[test]
fn a_column_of_words_is_one_column() {
    let found = made("t.csv", lines("name", 100, |row| format!("n {row}")));
    assert_eq!((found.types(), found.key()), (vec!["text".to_owned()], vec!["name"]));
    let fixed =
        made("t.txt", lines("ID   NAME  VALUE", 100, |row| format!("{row:<5}n{row:<5}{row:>5}")));
    assert!(fixed.notes("substring()"), "{:?}", fixed.inferred.notes);
}

#[test]
fn lines_that_are_often_short_are_filled_up() {
    let short =
        |row: u64| if row.is_multiple_of(30) { format!("{row},1") } else { format!("{row},1,2") };
    let found = made("t.csv", lines("id,a,b", 300, short));
    assert_eq!((found.rows.rows(), found.types()[2].as_str()), (300, "u16?"));
    assert!(found.notes("line 2 has too few fields: read with null_padding = true"));
}

#[test]
fn a_list_in_one_object_is_told_with_the_query_that_reads_it() {
    let points: Vec<_> =
        (0..50).map(|n| format!("{{\"p\":{{\"name\":\"n{n}\",\"m\":{n}.5}}}}")).collect();
    let json = format!("{{\"type\":\"all\",\"features\":[{}]}}", points.join(","));
    let found = made("f.json", &json);
    assert!(
        found.notes("SELECT unnest(features, recursive := true)"),
        "{:?}",
        found.inferred.notes
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("f.json"), json).unwrap();
    let query = "SELECT unnest(features, recursive := true) FROM read_json('f.json')";
    let from = RowsFile { query: Some(query.to_owned()), ..RowsFile::default() };
    let parts = case_in(folder.path(), &from);
    assert_eq!((parts.rows.rows(), parts.value(1, "m")), (50, OwnedValue::Float(1.5)));
}

#[test]
fn of_very_many_columns_all_are_read() {
    let names: Vec<_> = (0..2_000).map(|at| format!("c{at}")).collect();
    let row =
        |row: u64| (0..2_000).map(|at| (row * at % 97).to_string()).collect::<Vec<_>>().join(",");
    let found = made("wide.csv", lines(&names.join(","), 20, row));
    assert_eq!((found.rows.rows(), found.table().columns.len()), (20, 2_000));
    assert_eq!(found.value(3, "c1999"), OwnedValue::Int(3 * 1999 % 97));
}

#[test]
fn encodings_without_a_mark_are_told_and_others_refused_with_what_converts_them() {
    let text = lines("time,v", 50, |row| format!("2024-06-01 00:00:{row:02},{row}"));
    let wide = |to: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(to).collect::<Vec<u8>>();
    let little = made("t.csv", wide(u16::to_le_bytes));
    assert_eq!(
        (little.types(), little.rows.rows()),
        (vec!["timestamp s".to_owned(), "u16".to_owned()], 50)
    );
    let big = wide(u16::to_be_bytes);
    for bytes in [big.clone(), [&b"\xfe\xff"[..], &big].concat()] {
        assert!(refused("t.csv", bytes).contains("iconv -f UTF-16"));
    }
    let windows = refused("t.csv", [text.as_bytes(), b"2024-06-01,\x80\n"].concat().repeat(3));
    assert!(windows.contains("iconv -f WINDOWS-1252"), "{windows}");
}

#[test]
fn values_that_are_no_numbers_stay_what_they_are() {
    type Value = fn(u64) -> String;
    let all: [(&str, Value, &str); 6] = [
        ("zip", |row| format!("{:05}", row * 37), "text"),
        ("address", |row| format!("0x{row:04X}"), "text"),
        ("huge", |row| format!("1844674407370955{row:04}"), "text"),
        ("small", |row| format!("{row}.5E-7"), "f64"),
        ("answer", |row| if row.is_multiple_of(2) { "Y" } else { "N" }.to_owned(), "bool"),
        (
            "at",
            |row| format!("2024-10-27T{:02}:00:00+0{}:00", row % 24, row % 2 + 1),
            "timestamp s",
        ),
    ];
    for (name, value, of) in sampled(all, 2) {
        let head = format!("n,{name}");
        let found = made("t.csv", lines(&head, 100, |row| format!("{row},{}", value(row))));
        assert_eq!(found.types()[1], of, "{name}");
    }
}
