//! The reader on real rows, and the round trip through the log's own format.

use std::collections::HashSet;
use std::path::PathBuf;

use crate::common::log::log;
use crate::common::{file, gzip, line, read};
use embermark_data::{lab, sample, synthetic};
use embermark_model::{Key, Reading};

/// 9,719 real rows of three motes, if the shared data lies next to this repository.
fn real_rows() -> Option<PathBuf> {
    let path = PathBuf::from("../../../shared/data/intel-lab/data-motes-55-58.txt");
    if !path.exists() {
        embermark_skips::skipped("sensor log", format!("{} is not there", path.display()));
    }
    path.exists().then_some(path)
}

#[test]
fn the_real_rows_are_read_to_the_last_one() {
    let Some(path) = real_rows() else { return };
    let log = lab::read(&path).unwrap();
    assert_eq!((log.dataset.rows, log.dataset.sensors), (9_719, 3));
    assert!(log.dataset.dropped.is_empty(), "{:?}", log.dataset.dropped);
    assert_eq!(log.dataset.remarks["mote id outside 1-54"], 9_719);
    assert_eq!(log.dataset.remarks["row out of time order within its sensor"], 19);
    assert_eq!(log.dataset.remarks.len(), 2, "{:?}", log.dataset.remarks);
    assert_eq!(log.dataset.name, "Intel Berkeley Research Lab log (another file)");
    assert_eq!(log.dataset.sha256.unwrap().len(), 64);
    assert_eq!(log.dataset.file, Some(path));
    for (sensor, rows) in [(55, 2_850), (56, 2_372), (58, 4_497)] {
        assert_eq!(log.readings.iter().filter(|reading| reading.sensor == sensor).count(), rows);
    }
    assert!(log.readings.is_sorted_by_key(|reading| reading.ts));
    // 2004-03-11 16:52:19.794238 2 55 26.2114 43.4524 97.52 3.04574
    let first = Reading::new(
        Key { sensor: 55, ts: 1_079_023_939_794_238 },
        [Some(26.2114), Some(43.4524), Some(97.52), Some(3.04574)],
    );
    assert_eq!(log.readings[0], first);
}

#[test]
fn every_real_row_is_what_a_plain_reading_of_its_line_gives() {
    let Some(path) = real_rows() else { return };
    let text = std::fs::read_to_string(&path).unwrap();
    let mut expected = Vec::new();
    for line in text.lines() {
        let fields: Vec<_> = line.split(' ').collect();
        let ts: jiff::Timestamp = format!("{}T{}Z", fields[0], fields[1]).parse().unwrap();
        let key = Key { sensor: fields[3].parse().unwrap(), ts: ts.as_microsecond() };
        expected
            .push(Reading::new(key, std::array::from_fn(|column| fields[4 + column].parse().ok())));
    }
    expected.sort_by_key(|reading| reading.ts);
    assert!(lab::read(&path).unwrap().readings == expected);
}

#[test]
fn a_sample_of_the_real_rows_has_a_third_of_each_mote() {
    let Some(path) = real_rows() else { return };
    let readings = lab::read(&path).unwrap().readings;
    let sample = sample::stratified(&readings, 1_000).unwrap();
    assert_eq!(sample.len(), 1_000);
    assert!(sample.is_sorted_by_key(|reading| reading.ts));
    for (sensor, share) in [(55, 334), (56, 333), (58, 333)] {
        assert_eq!(sample.iter().filter(|reading| reading.sensor == sensor).count(), share);
    }
}

#[test]
fn synthetic_rows_survive_the_logs_own_format_plain_compressed_and_regrouped() {
    let made = synthetic::generate(20_000, 5).unwrap();
    let mut grouped = made.readings.clone();
    grouped.sort_by_key(|reading| reading.sensor);
    // Readings of the same time then come in the order of the groups.
    let mut regrouped = made.readings.clone();
    regrouped.sort_by_key(|reading| (reading.ts, reading.sensor));
    for (readings, expected) in [(&made.readings, &made.readings), (&grouped, &regrouped)] {
        let text = log(readings);
        for bytes in [gzip(&text), text] {
            let log = read(&bytes).unwrap();
            assert!(log.readings == *expected);
            assert!(log.dataset.dropped.is_empty());
            for (what, count) in &made.dataset.remarks {
                if what.starts_with("NULL") || what.starts_with("temperature") {
                    assert_eq!(log.dataset.remarks.get(what), Some(count), "{what}");
                }
            }
        }
    }
}

#[test]
fn gzip_is_told_by_its_bytes_in_several_members_and_with_long_lines() {
    let (a, b) = (line(1, 0), line(2, 1));
    let long = format!("2004-02-28 00:59:16 3 3 {}.5 1 2 3\n", "0".repeat(700_000));
    let members = [
        gzip(a.as_bytes()),
        gzip(&b.as_bytes()[..20]),
        gzip(format!("{}{long}", &b[20..]).as_bytes()),
    ];
    let log = read(&members.concat()).unwrap();
    assert_eq!(log.readings.len(), 3);
    assert!(
        log.readings
            .iter()
            .any(|reading| reading.sensor == 3 && reading.temperature() == Some(0.5))
    );
    let (_dir, path) = file(a.as_bytes());
    let misnamed = path.with_extension("gz");
    std::fs::rename(&path, &misnamed).unwrap();
    assert_eq!(lab::read(&misnamed).unwrap().readings.len(), 1);
}

#[test]
fn empty_fields_are_nulls_in_their_own_column() {
    let text = "2004-02-28 00:59:16.02785 3 1  37.0933  2.69964\n\
                2004-02-28 00:59:47 4 1 19.5   \n\
                2004-02-28 01:00:18. 5 1    \n\
                2004-02-28 01:00:49.5  1 1 2 3 4\n";
    let log = read(text.as_bytes()).unwrap();
    let values: Vec<_> =
        log.readings.iter().map(|row| [0, 1, 2, 3].map(|column| row.get(column))).collect();
    assert_eq!(
        values,
        [
            [None, Some(37.0933), None, Some(2.69964)],
            [Some(19.5), None, None, None],
            [None; 4],
            [Some(1.0), Some(2.0), Some(3.0), Some(4.0)],
        ]
    );
    let remarks = &log.dataset.remarks;
    assert_eq!(
        ["temperature", "humidity", "light", "voltage"].map(|c| remarks[&format!("NULL {c}")]),
        [2, 2, 3, 2]
    );
    assert_eq!(remarks["NULL epoch"], 1);
}

#[test]
fn timestamps_of_any_precision_are_microseconds_of_utc() {
    let second = 1_077_929_956_000_000;
    let cases = [
        ("", 0),
        (".", 0),
        (".1", 100_000),
        (".02785", 27_850),
        (".000001", 1),
        (".999999", 999_999),
        (".9999999", 999_999),
    ];
    for (fraction, micros) in cases {
        let log = read(format!("2004-02-28 00:59:16{fraction} 3 1 1 2 3 4").as_bytes()).unwrap();
        assert_eq!(log.readings[0].ts, second + micros, "{fraction:?}");
        assert_eq!(
            log.dataset.remarks.contains_key("time finer than a microsecond: cut"),
            fraction.len() > 7
        );
    }
}

#[test]
fn numbers_in_every_notation_are_the_doubles_nearest_to_them() {
    let numbers = [
        "1e3",
        "-2.5E-3",
        "+4",
        "123456789012345678901234567890",
        "0.1234567890123456789",
        ".5",
        "5.",
        "-.5",
        "-3.91901",
        "12345678.",
        "123456789",
        "-0",
        "0.30000000000000004",
        "5e-324",
    ];
    for text in numbers {
        let log = read(format!("2004-02-28 00:59:16 3 1 {text} 2 3 {text}").as_bytes()).unwrap();
        let expected = text.parse().map(f64::to_bits).ok();
        assert_eq!(log.readings[0].temperature().map(f64::to_bits), expected, "{text}");
        assert_eq!(log.readings[0].get(Reading::VOLTAGE).map(f64::to_bits), expected, "{text}");
    }
}

#[test]
fn of_duplicate_keys_the_first_row_stays_and_the_others_are_counted() {
    let at = |second: u32, sensor: u16, value: u32| {
        format!("2004-02-28 00:59:{second:02} 3 {sensor} {value} 2 3 4\n")
    };
    let text =
        [at(20, 1, 10), at(20, 2, 11), at(10, 1, 12), at(20, 1, 13), at(10, 1, 14), at(20, 1, 15)]
            .concat();
    let log = read(text.as_bytes()).unwrap();
    let kept: Vec<_> =
        log.readings.iter().map(|row| (row.sensor, row.temperature().unwrap())).collect();
    assert_eq!(kept, [(1, 12.0), (1, 10.0), (2, 11.0)]);
    assert_eq!(log.dataset.dropped["duplicate key"], 3);
    assert_eq!(log.dataset.rows, 3);
    assert_eq!(log.dataset.remarks["row out of time order within its sensor"], 2);
}

#[test]
fn readings_of_one_instant_keep_the_order_of_the_file() {
    let text: String = [9, 3, 7, 1, 200].map(|sensor| line(sensor, 5)).concat() + &line(4, 1);
    let sensors: Vec<_> =
        read(text.as_bytes()).unwrap().readings.iter().map(|row| row.sensor).collect();
    assert_eq!(sensors, [4, 9, 3, 7, 1, 200]);
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_are_read_and_remarked() {
    let text = format!("\u{feff}{}{}", line(1, 0), line(2, 0)).replace('\n', "\r\n");
    for bytes in [text.as_bytes().to_vec(), gzip(text.as_bytes())] {
        let log = read(&bytes).unwrap();
        assert_eq!(log.readings.len(), 2);
        assert_eq!(log.dataset.remarks["line ends in CR LF"], 2);
        assert!(log.dataset.dropped.is_empty());
    }
}

#[test]
fn keys_of_a_log_are_distinct() {
    let text: String = (0..500).map(|i| line(1 + i % 5, u32::from(i % 60))).collect();
    let log = read(text.as_bytes()).unwrap();
    let keys: HashSet<_> = log.readings.iter().map(Reading::key).collect();
    assert_eq!(keys.len(), log.readings.len());
    assert_eq!(log.dataset.rows + log.dataset.dropped["duplicate key"], 500);
}
