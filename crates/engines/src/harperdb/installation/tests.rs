use super::*;

#[test]
fn a_package_is_known_by_its_name_and_its_version() {
    let dir = tempfile::tempdir().unwrap();
    let package = dir.path().join("package.json");
    let says = |text: &str| {
        fs::write(&package, text).unwrap();
        version(&package)
    };
    assert!(says("name").unwrap_err().contains("is no JSON"));
    let other = r#"{"name": "other", "version": "1.0.0"}"#;
    assert!(says(other).unwrap_err().contains("is another package's"));
    let its = r#"{"name": "harperdb", "version": "4.7.29"}"#;
    assert_eq!(says(its).as_deref(), Ok("4.7.29"));
    assert!(version(dir.path()).unwrap_err().contains("could not be read"));
}
