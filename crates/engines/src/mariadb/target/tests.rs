use super::*;

fn tcp(host: &str, port: u16) -> Place {
    Place::Tcp { host: host.to_owned(), port }
}

fn target(url: &str) -> Target {
    Target::of_url(url).unwrap()
}

fn error(url: &str) -> String {
    Target::of_url(url).err().unwrap()
}

#[test]
fn every_part_of_a_url_is_read() {
    let all = target("mysql://me:secret@db.example:3307/shop");
    assert_eq!(all.place, tcp("db.example", 3307));
    let texts = [all.user, all.password, all.database].map(Option::unwrap);
    assert_eq!(texts, ["me", "secret", "shop"]);
    assert_eq!(all.connect_within, Duration::from_secs(10));
    let least = target("mysql://127.0.0.1");
    assert_eq!(least.place, tcp("127.0.0.1", 3306));
    assert_eq!([least.user, least.password, least.database], [const { None }; 3]);
    assert_eq!(target("mysql://root@localhost:1/").place, tcp("localhost", 1));
    assert_eq!(target("mysql://a@[fe80::1]:9/").place, tcp("fe80::1", 9));
    assert_eq!(target("mysql://[::1]").place, tcp("::1", 3306));
}

#[test]
fn what_is_given_as_percent_and_digits_is_decoded() {
    let hard = target("mysql://m%40e:p%3A%2f%40%25%C3%9F:x@host/a%20b");
    let texts = [hard.user, hard.password, hard.database].map(Option::unwrap);
    assert_eq!(texts, ["m@e", "p:/@%ß:x", "a b"]);
    assert!(error("mysql://me:%ff@host/").contains("not UTF-8"));
}

#[test]
fn parameters_say_the_socket_and_how_long_connecting_may_take() {
    let url = "mysql://root@localhost/mysql?socket=/run/a%20b/s&tcp_connect_timeout_ms=1500#x";
    let target = target(url);
    assert_eq!(target.place, Place::Socket("/run/a b/s".into()));
    assert_eq!(target.connect_within, Duration::from_secs(2));
    assert!(error("mysql://host/?tcp_connect_timeout_ms=soon").contains("no number"));
    assert!(error("mysql://host/?compress=true").contains("socket and tcp_connect_timeout_ms"));
}

#[test]
fn what_is_no_url_is_refused_and_nothing_of_it_repeated() {
    for url in [
        "hunter2",
        "postgres://me:hunter2@host/",
        "mysql://me:hunter2@/db",
        "mysql://me:hunter2@host:x/",
        "mysql://me:hunter2@host:65536/",
        "mysql://me:hunter2@[::1]3306/",
        "mysql://me:hunter2@host=a;b/",
        "mysql://me:hun/ter2@host/",
        "mysql://me:12#hunter2@host/",
        "mysql://me@host/?password=hunter2",
    ] {
        let error = error(url);
        assert!(!error.contains("ter2") && !error.contains("me:"), "{error}");
    }
}
