use super::*;

fn shown(url: &str) -> String {
    let url = ServerUrl::new(url.to_owned());
    let json = serde_json::to_string(&url).unwrap();
    assert_eq!(json, format!("{url:?}"), "one way of hiding");
    assert_eq!(json, format!("\"{url}\""));
    url.to_string()
}

#[test]
fn a_password_is_shown_nowhere_and_the_rest_stays() {
    for (url, expected) in [
        (
            "postgres://ann:s3cret@db:5432/x?sslmode=require",
            "postgres://ann:***@db:5432/x?sslmode=require",
        ),
        ("mysql://ann@db/x", "mysql://ann@db/x"),
        ("http://127.0.0.1:8086?token=abc&org=x", "http://127.0.0.1:8086?token=***&org=x"),
        (
            "mongodb://a:b@h1,h2/?authSource=admin&tlsCertificateKeyFilePassword=z",
            "mongodb://a:***@h1,h2/?authSource=admin&tlsCertificateKeyFilePassword=***",
        ),
        (
            "host=/run/pg user=ann password=s3cret dbname=x",
            "host=/run/pg user=ann password=*** dbname=x",
        ),
        ("postgres://ann:a/b?c@db/x", "postgres://ann:***@db/x"),
        ("postgres://db/x", "postgres://db/x"),
        ("127.0.0.1:8086", "127.0.0.1:8086"),
        ("", ""),
    ] {
        assert_eq!(shown(url), expected);
    }
}

#[test]
fn a_hidden_password_is_put_back_and_a_missing_one_put_in() {
    let with =
        |url: &str| ServerUrl::new(url.to_owned()).with_password("p@ss/w").reveal().to_owned();
    assert_eq!(with("postgres://ann:***@db/x"), "postgres://ann:p%40ss%2Fw@db/x");
    assert_eq!(with("postgres://ann@db/x"), "postgres://ann:p%40ss%2Fw@db/x");
    assert_eq!(with("http://h?token=***"), "http://h?token=p%40ss%2Fw");
    assert_eq!(with("postgres://ann:own@db/x"), "postgres://ann:own@db/x", "what is given stands");
    assert_eq!(with("postgres://db/x"), "postgres://db/x");
    let read: ServerUrl = serde_json::from_str("\"postgres://ann:***@db/x\"").unwrap();
    assert!(read.lacks_secrets());
}
