//! Bad input: each kind is named, counted or refused, and nothing is silently dropped.

use crate::common::{file, gzip, line, read};
use embermark_data::{DataError, lab};

/// Returns the only reason under which the one bad line between two good ones is counted.
fn reason(bad: &[u8]) -> String {
    let text = [line(1, 0).as_bytes(), bad, b"\n", line(2, 0).as_bytes()].concat();
    let log = read(&text).unwrap();
    assert_eq!(log.readings.len(), 2);
    let dropped: Vec<_> = log.dataset.dropped.into_iter().collect();
    assert_eq!(dropped.len(), 1, "{dropped:?}");
    assert_eq!(dropped[0].1, 1);
    dropped[0].0.clone()
}

#[test]
fn each_bad_line_is_counted_under_its_own_reason() {
    let cases = [
        ("2004-02-28 00:59:16 3  19.9 37.0 45.0 2.6", "no mote id"),
        ("2004-02-28 00:59:16 3     ", "no mote id"),
        ("2004-02-28 00:59:16 3 0 19.9 37.0 45.0 2.6", "mote id not within 1-65535"),
        ("2004-02-28 00:59:16 3 -4 19.9 37.0 45.0 2.6", "mote id not within 1-65535"),
        ("2004-02-28 00:59:16 3 65536 19.9 37.0 45.0 2.6", "mote id not within 1-65535"),
        (
            "2004-02-28 00:59:16 3 99999999999999999999999 19.9 37.0 45.0 2.6",
            "mote id not within 1-65535",
        ),
        ("2004-02-28 00:59:16 3 5.5 19.9 37.0 45.0 2.6", "mote id not a number"),
        ("2004-02-28 00:59:16 3 mote 19.9 37.0 45.0 2.6", "mote id not a number"),
        ("2004-02-28 00:59:16 x 5 19.9 37.0 45.0 2.6", "epoch not a number"),
        ("2004-02-28 00:59:16 3 5 19.9 37.0 45.0", "missing fields"),
        ("2004-02-28 00:59:16 3 5", "missing fields"),
        ("2004-02-28 00:59:16 3", "missing fields"),
        ("2004-02-28", "missing fields"),
        ("word", "missing fields"),
        ("2004-02-28 00:59:16 3 5 19.9 37.0 45.0 2.6 7", "extra fields"),
        ("2004-02-28 00:59:16 3 5 19.9 37.0 45.0 2.6 ", "extra fields"),
        ("2004-02-28 00:59:16  3 5 19.9 37.0 45.0 2.6", "wrong separator: runs of blanks"),
        ("2004-02-28 00:59:16   3   5 19.9   37.0  45.0 2.6", "wrong separator: runs of blanks"),
        ("2004-02-28\t00:59:16\t3\t5\t19.9\t37.0\t45.0\t2.6", "wrong separator: tabs"),
        ("2004-02-28 00:59:16\t3\t5\t19.9\t37.0\t45.0\t2.6", "wrong separator: tabs"),
        ("2004-02-28,00:59:16,3,5,19.9,37.0,45.0,2.6", "wrong separator: commas or semicolons"),
        ("2004-02-28 00:59:16;3;5;19.9;37.0;45.0;2.6", "wrong separator: commas or semicolons"),
        ("2004-02-28 00:59:16 3 5 19,9 37.0 45.0 2.6", "value not a number"),
        ("2004-02-28 00:59:16 3 5 warm 37.0 45.0 2.6", "value not a number"),
        ("2004-02-28 00:59:16 3 5 19.9 37.0 45.0 2.6V", "value not a number"),
        ("2004-02-28 00:59:16 3 5 nan 37.0 45.0 2.6", "value not finite"),
        ("2004-02-28 00:59:16 3 5 19.9 -inf 45.0 2.6", "value not finite"),
        ("2004-02-28 00:59:16 3 5 19.9 37.0 45.0 1e400", "value not finite"),
        ("2004-02-30 00:59:16 3 5 19.9 37.0 45.0 2.6", "bad timestamp"),
        ("2003-02-29 00:59:16 3 5 19.9 37.0 45.0 2.6", "bad timestamp"),
        ("1900-02-29 00:59:16 3 5 19.9 37.0 45.0 2.6", "bad timestamp"),
        ("2004-04-31 00:59:16 3 5 19.9 37.0 45.0 2.6", "bad timestamp"),
        ("2004-01-32 00:59:16 3 5 19.9 37.0 45.0 2.6", "bad timestamp"),
        ("2004-01-00 00:59:16 3 5 19.9 37.0 45.0 2.6", "bad timestamp"),
        ("2004-13-01 00:59:16 3 5 19.9 37.0 45.0 2.6", "bad timestamp"),
        ("2004-00-01 00:59:16 3 5 19.9 37.0 45.0 2.6", "bad timestamp"),
        ("0000-01-01 00:59:16 3 5 19.9 37.0 45.0 2.6", "bad timestamp"),
        ("-200-01-01 00:59:16 3 5 19.9 37.0 45.0 2.6", "bad timestamp"),
        ("+200-01-01 00:59:16 3 5 19.9 37.0 45.0 2.6", "bad timestamp"),
        ("20040228T1 00:59:16 3 5 19.9 37.0 45.0 2.6", "bad timestamp"),
        ("2004-2-28 00:59:16 3 5 19.9 37.0 45.0 2.6", "bad timestamp"),
        ("2004/02/28 00:59:16 3 5 19.9 37.0 45.0 2.6", "bad timestamp"),
        ("x004-02-28 00:59:16 3 5 19.9 37.0 45.0 2.6", "bad timestamp"),
        ("2004-02-28 24:00:00 3 5 19.9 37.0 45.0 2.6", "bad timestamp"),
        ("2004-02-28 00:60:16 3 5 19.9 37.0 45.0 2.6", "bad timestamp"),
        ("2004-02-28 00:59:60 3 5 19.9 37.0 45.0 2.6", "bad timestamp"),
        ("2004-02-28 00:59:1x 3 5 19.9 37.0 45.0 2.6", "bad timestamp"),
        ("2004-02-28 00:59:16.5x 3 5 19.9 37.0 45.0 2.6", "bad timestamp"),
        ("2004-02-28 00:59:16Z 3 5 19.9 37.0 45.0 2.6", "bad timestamp"),
        (" 00:59:16 3 5 19.9 37.0 45.0 2.6", "bad timestamp"),
        ("2004-02-28  3 5 19.9 37.0 45.0 2.6", "bad timestamp"),
        ("date time epoch moteid temperature humidity light voltage", "bad timestamp"),
        ("", "blank line"),
        ("   ", "blank line"),
        ("       ", "blank line"),
        ("2004-02-28 00:59:16 3 5 19.9 37.0 45.0 \u{0}", "not text"),
    ];
    for (bad, expected) in cases {
        assert_eq!(reason(bad.as_bytes()), expected, "{bad:?}");
    }
    assert_eq!(reason(b"2004-02-28 00:59:16 3 5 19.9 37.0 45.0 \xff"), "not text");
}

#[test]
fn what_is_no_finite_number_is_refused_in_every_notation() {
    let refused = |text: &str| reason(format!("2004-02-28 00:59:16 3 5 {text} 1 2 3").as_bytes());
    for text in ["nan", "NaN", "inf", "-inf", "infinity", "1e999"] {
        assert_eq!(refused(text), "value not finite", "{text}");
    }
    let no_numbers = [
        "-",
        ".",
        "-.",
        "+",
        "abc",
        "1,5",
        "0x10",
        "1.2.3",
        "--1",
        "1e",
        "-1234567x",
        "12345678x",
        "12E3456.7",
        "infx",
        "123456.78.9",
    ];
    for text in no_numbers {
        assert_eq!(refused(text), "value not a number", "{text}");
    }
}

#[test]
fn every_line_is_either_a_reading_or_counted_whatever_byte_is_changed() {
    let good = line(7, 3);
    for at in 0..good.len() - 1 {
        for byte in [b' ', b'\t', b'-', b'.', b'x', b'9', b',', 0xc3, b'\r'] {
            let mut bytes = good.clone().into_bytes();
            bytes[at] = byte;
            bytes.extend_from_slice(line(8, 0).as_bytes());
            let log = read(&bytes).unwrap();
            let counted: u64 = log.dataset.dropped.values().sum();
            assert_eq!(log.dataset.rows + counted, 2, "byte {at} changed to {byte:?}");
        }
    }
}

#[test]
fn a_log_cut_at_any_byte_loses_no_line_in_silence() {
    let text = line(1, 0) + &line(2, 1);
    for end in 1..text.len() {
        let bytes = &text.as_bytes()[..end];
        let lines = bytes.split(|&b| b == b'\n').filter(|line| !line.is_empty()).count() as u64;
        match read(bytes) {
            Ok(log) => assert_eq!(
                log.dataset.rows + log.dataset.dropped.values().sum::<u64>(),
                lines,
                "{end}"
            ),
            Err(DataError::NothingUsable { lines: 1, line: 1, .. }) => {
                assert!(end < line(1, 0).len())
            }
            Err(other) => panic!("{end}: {other}"),
        }
    }
}

#[test]
fn files_that_are_no_files_are_named_as_what_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("none.txt");
    let error = lab::read(&missing).unwrap_err();
    assert!(matches!(error, DataError::Missing { .. }));
    assert!(error.to_string().contains("none.txt: no such file"), "{error}");
    assert!(matches!(lab::read(dir.path()), Err(DataError::Folder { .. })));
    assert!(matches!(lab::read("/dev/null".as_ref()), Err(DataError::NotAFile { .. })));
    assert!(matches!(
        lab::read(&file(b"x").1.join("below")),
        Err(DataError::Unreadable { .. } | DataError::Missing { .. })
    ));
}

#[cfg(unix)]
#[test]
fn a_file_without_read_permission_is_unreadable_to_all_but_the_superuser() {
    use std::os::unix::fs::PermissionsExt;
    let (_dir, path) = file(line(1, 0).as_bytes());
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser can read it anyway.
    let readable = std::fs::File::open(&path).is_ok();
    assert_eq!(lab::read(&path).is_ok(), readable);
    if let Err(error) = lab::read(&path) {
        assert!(error.to_string().contains("permissions"), "{error}");
    }
}

#[test]
fn empty_files_are_called_empty_plain_or_compressed() {
    assert!(matches!(read(b""), Err(DataError::Empty { .. })));
    assert!(matches!(read(&gzip(b"")), Err(DataError::Empty { .. })));
}

#[test]
fn a_gzip_file_cut_anywhere_is_refused_as_cut() {
    let whole = gzip((0..60).map(|second| line(1, second)).collect::<String>().as_bytes());
    assert_eq!(read(&whole).unwrap().readings.len(), 60);
    for end in 2..whole.len() {
        let error = read(&whole[..end]).unwrap_err();
        assert!(matches!(error, DataError::TruncatedCompression { .. }), "{end}: {error:?}");
        assert!(error.to_string().contains("fetch the file again"));
    }
}

#[test]
fn a_damaged_gzip_file_is_refused() {
    let whole = gzip((0..60).map(|second| line(1, second)).collect::<String>().as_bytes());
    let checksum = whole.len() - 8;
    let mut damaged = whole.clone();
    damaged[checksum] ^= 1;
    assert!(matches!(read(&damaged), Err(DataError::DamagedCompression { .. })));
    let with_garbage = [&whole[..], b"and more"].concat();
    assert!(read(&with_garbage).is_err());
}

#[test]
fn binary_files_are_refused_before_they_are_read() {
    let elf = [b"\x7fELF\x02\x01\x01\0\0\0\0".as_slice(), line(1, 0).as_bytes()].concat();
    let utf16: Vec<u8> =
        [0xfeff].into_iter().chain(line(1, 0).encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let latin = b"\xe9\xe8\xe7\xe6\n\xff\xfe\n".to_vec();
    for bytes in [elf, utf16, latin] {
        for bytes in [gzip(&bytes), bytes] {
            let error = read(&bytes).unwrap_err();
            assert!(matches!(error, DataError::Binary { .. }), "{error:?}");
            assert!(error.to_string().contains("is not text"), "{error}");
        }
    }
}

#[test]
fn a_file_without_one_reading_says_where_why_and_what_is_expected() {
    let error = read(b"\nsensor log of our lab\n").unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, DataError::NothingUsable { lines: 2, line: 1, .. }), "{text}");
    for part in [
        "log.txt",
        "none of its 2 lines",
        "line 1",
        "blank line",
        "date time epoch moteid",
        "one space",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_file_with_other_separators_is_told_so_even_below_a_header() {
    let cases = [("\t", "tab-separated"), (",", "comma-separated"), ("  ", "runs of blanks")];
    for (separator, hint) in cases {
        let text: String = (0..3).map(|second| line(1, second).replace(' ', separator)).collect();
        let error = read(format!("a header\n{text}").as_bytes()).unwrap_err().to_string();
        assert!(error.contains("line 1, \"a header\"") && error.contains(hint), "{error}");
    }
}
