use super::*;

#[test]
fn the_version_is_the_second_word_without_its_letter() {
    let said = "InfluxDB v1.6.7~rc0 (git: unknown unknown)";
    assert_eq!(number(said).as_deref(), Some("1.6.7~rc0"));
    assert_eq!(number("InfluxDB 2.7.1 (git: x)").as_deref(), Some("2.7.1"));
    assert_eq!(number("InfluxDB"), None);
}
