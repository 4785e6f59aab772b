use std::fs;

use super::*;

#[test]
fn what_was_written_is_read_back_bit_by_bit_and_null_is_an_empty_field() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.csv");
    let rows = [
        Reading::new(Key { sensor: 7, ts: -1 }, [Some(0.1 + 0.2), None, Some(1e-300), Some(-0.0)]),
        Reading::new(Key { sensor: 65_535, ts: i64::MAX }, [None; 4]),
        Reading::new(Key { sensor: 0, ts: 0 }, [Some(122.153), Some(40.0), Some(1e300), None]),
    ];
    write(&file, &rows).unwrap();
    let text = fs::read_to_string(&file).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("ts,sensor,temperature,humidity,light,voltage"));
    assert_eq!(lines.next(), Some("-1,7,0.30000000000000004,,1e-300,-0.0"));
    assert_eq!(lines.next(), Some("9223372036854775807,65535,,,,"));
    let bits = |row: &Reading| (row.key(), row.present, row.values.map(f64::to_bits));
    assert_eq!(
        read(&file).unwrap().iter().map(bits).collect::<Vec<_>>(),
        rows.each_ref().map(bits)
    );
}

#[test]
fn a_line_that_is_no_reading_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.csv");
    for line in ["1,65536,,,,", "x,1,,,,", "1,1,warm,,,"] {
        fs::write(&file, format!("{}\n1,1,,,,\n{line}\n", COLUMNS.join(","))).unwrap();
        let error = read(&file).unwrap_err().to_string();
        assert!(error.contains("line 3 is no reading"), "{error}");
    }
    assert!(read(&folder.path().join("none")).unwrap_err().to_string().contains("none"));
}
