//! Files that the tests write, because they are made of what this version writes.

/// Asserts that a file has this text. With `EMBERMARK_WRITE_FIXTURES=1`, writes it.
#[track_caller]
pub fn assert_written(file: &str, text: &str) {
    if std::env::var_os("EMBERMARK_WRITE_FIXTURES").is_some() {
        std::fs::write(file, text).unwrap();
    }
    assert!(
        std::fs::read_to_string(file).unwrap() == text,
        "{file} is not what this version writes: run EMBERMARK_WRITE_FIXTURES=1 cargo test -p \
         embermark-report, and look at the differences. If the page is given them, change page/src too"
    );
}
