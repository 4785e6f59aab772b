use super::*;

#[test]
fn the_version_is_the_number_before_the_name() {
    let said = "mariadbd  Ver 10.11.14-MariaDB-0+deb12u2 for debian-linux-gnu on x86_64 (x)";
    assert_eq!(number(said).as_deref(), Some("10.11.14"));
    assert_eq!(number("mysqld  Ver 8.0.36 for Linux"), None);
    assert_eq!(number(""), None);
}
