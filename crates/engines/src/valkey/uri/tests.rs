use super::*;

fn of(url: &str) -> Result<Uri, &'static str> {
    Uri::new(&Address::Url(url.to_owned()))
}

#[test]
fn a_url_names_a_host_and_perhaps_a_port_a_user_a_password_and_a_database() {
    let host = |name: &str, port| Place::Host { name: name.to_owned(), port };
    let plain = of("valkey://h").unwrap();
    assert_eq!(plain, Uri { place: host("h", 6379), user: None, password: None, database: 0 });
    assert_eq!(of("redis://h:7/").unwrap(), Uri { place: host("h", 7), ..plain.clone() });
    let full = of("valkey://me:a%40b@h.example:7/3").unwrap();
    assert_eq!((full.place, full.database), (host("h.example", 7), 3));
    assert_eq!((full.user.as_deref(), full.password.as_deref()), (Some("me"), Some("a@b")));
    let alone = of("valkey://:secret@[::1]:7").unwrap();
    assert_eq!((alone.place, alone.user), (host("::1", 7), None));
    assert_eq!(of("valkey://[::1]").unwrap().place, host("::1", 6379));
}

#[test]
fn what_is_wrong_with_a_url_is_said_without_a_part_of_it() {
    for url in [
        "h:1",
        "http://h",
        "valkey://",
        "valkey://me:hunter2",
        "valkey://me:hunter2@",
        "valkey://me@h",
        "valkey://me:%zz@h",
        "valkey://h:x",
        "valkey://h:70000",
        "valkey://h/hunter2",
    ] {
        let why = of(url).unwrap_err();
        assert!(!why.contains("hunter2"), "{url}: {why}");
    }
}
