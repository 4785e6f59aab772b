use super::*;

#[test]
fn a_url_is_taken_apart_and_a_wrong_one_is_refused() {
    let url = HttpUrl::parse("http://ann:a+b%40c@db.example:8086/").unwrap();
    assert_eq!(url.base, "http://db.example:8086");
    assert_eq!(url.user, Some(("ann", "a+b%40c")));
    assert_eq!(HttpUrl::parse("http://127.0.0.1:8086").unwrap().user, None);
    assert!(HttpUrl::parse("http://ann:a@[::1]:8086").is_ok());
    for wrong in [
        "https://x:1",
        "x:1",
        "http://",
        "http://x/db",
        "http://ann@x:1",
        "http://ann:a",
        "http://[::1",
    ] {
        assert!(HttpUrl::parse(wrong).is_err(), "{wrong}");
    }
}
