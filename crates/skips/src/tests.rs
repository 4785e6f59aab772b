use super::*;

#[test]
fn a_test_is_called_by_its_program_and_its_name() {
    let named = |name: &str| thread::Builder::new().name(name.to_owned()).spawn(test).unwrap();
    assert_eq!(named("tests::it").join().unwrap(), "embermark_skips::tests::it");
    assert_eq!(named("main").join().unwrap(), "embermark_skips");
    assert_eq!(without_hash("sql-0123456789abcdef"), "sql");
    assert_eq!(without_hash("two-words"), "two-words");
    assert_eq!(without_hash("program"), "program");
}
