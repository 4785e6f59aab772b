use super::*;

#[test]
fn the_newest_version_comes_first_by_number() {
    let root = tempfile::tempdir().unwrap();
    for name in ["9", "15", "16", "common"] {
        fs::create_dir(root.path().join(name)).unwrap();
    }
    let expected = ["16", "15", "9"].map(|v| root.path().join(v).join("bin"));
    assert_eq!(by_version(root.path()), expected);
    assert_eq!(by_version(Path::new("/nowhere")), Vec::<PathBuf>::new());
}

#[test]
fn the_version_is_the_number_after_the_name() {
    let said = "postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)";
    assert_eq!(number(said).as_deref(), Some("15.14"));
    assert_eq!(number("postgres"), None);
}
