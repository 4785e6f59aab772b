use super::*;
use embermark_model::Key;

fn rows(n: u16) -> Vec<Reading> {
    let row = |i| {
        Reading::new(
            Key { sensor: i, ts: i64::from(i) * 31 },
            [Some(f64::from(i)), None, Some(-0.5), None],
        )
    };
    (0..n).map(row).collect()
}

fn refusal(bytes: &[u8]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rows");
    std::fs::write(&path, bytes).unwrap();
    let error = StagedRows::open(&path).unwrap_err();
    assert!(matches!(error, DataError::NotStaged { .. }), "{error:?}");
    error.to_string()
}

fn staged(n: u16) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rows");
    write(&path, &rows(n)).unwrap();
    std::fs::read(&path).unwrap()
}

#[test]
fn staged_rows_read_back_as_they_were_even_when_there_are_none() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rows");
    for n in [1000, 1, 0] {
        write(&path, &rows(n)).unwrap();
        assert_eq!(*StagedRows::open(&path).unwrap(), rows(n)[..]);
    }
}

#[test]
fn a_file_cut_short_or_too_long_is_refused_at_every_length() {
    let whole = staged(3);
    for end in (0..whole.len()).step_by(7) {
        let text = refusal(&whole[..end]);
        assert!(text.contains("stage the rows again"), "{text}");
    }
    assert!(refusal(&[&whole[..], &[0]].concat()).contains("announces 3 rows"));
}

#[test]
fn a_foreign_file_another_version_and_an_absurd_count_are_refused() {
    let whole = staged(2);
    let with = |at: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        refusal(&bytes)
    };
    assert!(with(0, b'X').contains("mark of staged rows"));
    assert!(with(8, 99).contains("version 99"));
    assert!(with(12, 40).contains("rows of 40 bytes"));
    assert!(with(23, 255).contains("announces"));
}

#[test]
fn a_missing_file_and_a_directory_are_named_as_such() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(StagedRows::open(&dir.path().join("none")), Err(DataError::Missing { .. })));
    assert!(matches!(StagedRows::open(dir.path()), Err(DataError::Directory { .. })));
    assert!(matches!(write(dir.path(), &[]), Err(DataError::Unwritable { .. })));
}
