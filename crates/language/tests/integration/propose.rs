//! Examines a file of rows, proposes a workload file for it, reads that and stages its rows: all of
//! them match.

use std::fmt::Write;
use std::path::Path;

use embermark_data::table::{infer, stage};
use embermark_language::{ProposalOptions, parse, propose, time_column};

/// Writes rows to a file with this name and stages the table that is proposed for it. Returns the
/// number of staged rows and the proposed text.
fn staged(name: &str, rows: &str) -> (u64, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, rows).expect("a file");
    let inferred = infer(&name.into(), folder.path()).expect("rows");
    let text = propose(
        "found",
        &[inferred],
        &ProposalOptions { live: true, ..ProposalOptions::default() },
    )
    .0;
    let file = parse("found.toml", &text, &[]).unwrap_or_else(|wrong| panic!("{text}\n{wrong}"));
    let to = folder.path().join("staged");
    let base: &Path = folder.path();
    let staged = stage(&file.tables, 0, base, None, 42, 0.0, &to).expect("rows");
    assert!(staged.dropped.is_empty(), "{:?}", staged.dropped);
    (staged.rows, text)
}

#[test]
fn rows_of_csv_fit_what_is_proposed_for_them() {
    let mut rows = "Station ID;Time;Temp °C;Group;\n".to_owned();
    for row in 0..2_000 {
        let (station, minute) = (row % 20, row / 20);
        let temp = if row % 7 == 0 { String::new() } else { format!("{}.5", row % 40) };
        let (hour, minute) = (minute / 60, minute % 60);
        writeln!(rows, "{station};2024-03-01T{hour:02}:{minute:02}:00Z;{temp};g{};x", row % 3)
            .unwrap();
    }
    let (count, text) = staged("station readings.csv", &rows);
    assert_eq!(count, 2_000);
    let file = parse("found.toml", &text, &[]).unwrap();
    let table = &file.tables[0];
    let names: Vec<_> = table.columns.iter().map(|column| &*column.name).collect();
    assert_eq!(names, ["station_id", "Time", "temp_c", "Group_", "column4"]);
    assert_eq!((&table.key[..], time_column(table)), (&[0, 1][..], Some(1)), "{text}");
}

#[test]
fn rows_of_json_lines_fit_what_is_proposed_for_them() {
    let mut rows = String::new();
    for row in 0..500 {
        let more = if row % 5 == 0 { ", \"user\": true" } else { "" };
        writeln!(rows, "{{\"_id\": \"k{row}\", \"value\": {row}{more}}}").unwrap();
    }
    let (count, text) = staged("events.jsonl", &rows);
    assert_eq!(count, 500);
    assert!(text.contains("from = \"_id\"") && text.contains("from = \"user\""), "{text}");
}
