use super::*;

#[test]
fn an_address_is_the_same_after_it_was_told() {
    for words in ["unix:/proc/1/fd/3/a b", "http://127.0.0.1:8086"] {
        assert_eq!(Address::from(words).to_string(), words);
    }
    assert_eq!(Address::from("unix:/a"), Address::Socket("/a".into()));
}

#[test]
fn parts_are_told_apart_and_missing_ones_are_an_error() {
    assert_eq!(parts("x", "one two three").unwrap(), ["one", "two three"]);
    assert!(parts::<2>("x", "one").is_err());
}

#[test]
fn a_free_port_can_be_bound() {
    TcpListener::bind(("127.0.0.1", free_port("x").unwrap())).unwrap();
}
