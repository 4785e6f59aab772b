use super::*;

#[test]
fn a_url_is_taken_apart_and_a_wrong_one_is_refused() {
    let (base, user) = apart("http://ann:a+b%40c@db.example:8086/").unwrap();
    assert_eq!((base.as_str(), user), ("http://db.example:8086", Some("ann:a+b%40c")));
    assert_eq!(apart("http://127.0.0.1:8086").unwrap().1, None);
    assert!(apart("http://ann:a@[::1]:8086").is_ok());
    let without_place =
        ["https://x:1", "x:1", "http://", "http://x/db", "http://ann:a", "http://[::1"];
    for wrong in without_place.into_iter().chain(["http://ann@x:1", "http://a:%4@x:1"]) {
        assert!(apart(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn escapes_of_a_user_are_read_and_wrong_ones_refused() {
    assert_eq!(decoded("a%40b%C3%BC%25").as_deref(), Some("a@bü%"));
    assert_eq!((decoded("%4"), decoded("%ff")), (None, None));
}
