use super::*;

#[test]
fn the_newest_options_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("OPTIONS-000009"), "[Version]\n  rocksdb_version=1\n").unwrap();
    let text = "# text\n[Version]\n  rocksdb_version=7.8.3\n[CFOptions \"default\"]\n  a=b=c\n\
                [CFOptions \"other\"]\n  a=d\n";
    fs::write(folder.path().join("OPTIONS-000010"), text).unwrap();
    fs::write(folder.path().join("OPTIONS-000011.dbtmp"), "rocksdb_version=2\n").unwrap();
    let written = [("rocksdb_version", "7.8.3"), ("a", "b=c"), ("a", "d")];
    let written = written.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(written_options(folder.path()).unwrap(), written);
    assert!(written_options(&folder.path().join("none")).is_err());
}
