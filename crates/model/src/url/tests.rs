use proptest::prelude::*;

use super::*;

fn shown(url: &str) -> String {
    let url = ServerUrl::from(url);
    let json = serde_json::to_string(&url).unwrap();
    assert_eq!(json, format!("{url:?}"), "one way of hiding");
    assert_eq!(json, format!("\"{url}\""));
    url.to_string()
}

#[test]
fn nothing_but_scheme_host_port_and_database_is_shown() {
    for (url, expected) in [
        ("postgres://ann:s3cret@db:5432/x?sslmode=require", "postgres://***@db:5432/x"),
        ("postgres:///x", "postgres:///x"),
        ("postgres://db/x?password=s3cret", "postgres://***@db/x"),
        ("postgres:///?host=/run/pg&port=7&dbname=x", "postgres://***@%2Frun%2Fpg:7/x"),
        ("postgres://a:1,b:2/x?options=-c%20x%3Ds3cret", "postgres://***@a:1,b:2/x"),
        ("mysql://ann@db/x", "mysql://***@db/x"),
        ("mysql://localhost/x?socket=/run/s", "mysql://***@%2Frun%2Fs/x"),
        ("http://127.0.0.1:8086?u=ann&p=s3cret", "http://***@127.0.0.1:8086"),
        ("redis://s3cret@[::1]:7/3", "redis://***@[::1]:7/3"),
        (
            "mongodb://a:s3cret@h1,h2:5/?authMechanismProperties=AWS_SESSION_TOKEN:s3cret",
            "mongodb://***@h1,h2:5",
        ),
        ("mongodb://%2Ftmp%2Fm.sock/x", "mongodb://%2Ftmp%2Fm.sock/x"),
        ("host=/run/pg user=ann password=s3cret dbname=x", "postgresql://***@%2Frun%2Fpg/x"),
        ("host = h password = 's3 cr\\'et' port = 7", "postgresql://***@h:7"),
        ("port=7 host=h options='-c x=s3cret'", "postgresql://***@h:7"),
        ("dbname='postgres://ann:s3cret@h/x' host=h", "postgresql://***@h"),
        ("postgres://ann:a/s3cret?c@db/x", "***"),
        ("s3cret", "***"),
        ("127.0.0.1:8086", "***"),
        ("", "***"),
    ] {
        assert_eq!(shown(url), expected, "{url}");
    }
}

#[test]
fn a_url_without_secrets_is_kept_whole_and_read_back_complete() {
    for url in ["valkey://h:6379/1", "postgres://db:5432/x", "http://127.0.0.1:8086"] {
        assert_eq!(shown(url), url);
        assert!(!ServerUrl::from(url).is_incomplete());
    }
    let read: ServerUrl = serde_json::from_str("\"postgres://***@db/x\"").unwrap();
    assert!(read.is_incomplete());
    assert_eq!(read.to_string(), "postgres://***@db/x");
}

#[test]
fn a_missing_password_is_put_in() {
    let with = |url: &str| ServerUrl::from(url).with_password("p@ss/'w").reveal().to_owned();
    assert_eq!(with("postgres://ann@db/x"), "postgres://ann:p%40ss%2F%27w@db/x");
    assert_eq!(with("user=ann host=h"), r"user=ann host=h password='p@ss/\'w'");
    for given in ["postgres://ann:own@db/x", "postgres://db/x", "host=h user=a password=own"] {
        assert_eq!(with(given), given, "what is given stands");
    }
}

#[test]
fn a_url_that_an_engine_does_not_take_is_refused_without_a_part_of_it() {
    for (engine, url) in [
        ("postgres", "mysql://ann:hunter2@h"),
        ("postgres", "postgres://ann:hun/ter2@h"),
        ("postgres", "postgres://ann:hun@ter2@h"),
        ("postgres", "postgres://ann:hun%ter2@h"),
        ("postgres", "postgres://ann:hunter2@h:70000"),
        ("postgres", "postgres://ann:hunter2"),
        ("postgres", "hunter2"),
        ("postgres", "host=h password='hunter2"),
        ("postgres", "host=h hunter2"),
        ("postgres", "host=h port=hunter2"),
        ("postgres", "host=h\npassword=hunter2"),
        ("mariadb", "host=h password=hunter2"),
        ("mariadb", "mysql://ann:hunter2@/x"),
        ("mariadb", "mysql://ann:hun ter2@h/x"),
        ("mongodb", "mongodb://ann:hun:ter2@h/x"),
        ("valkey", "redis://hunter2@h"),
        ("valkey", "redis://h/hunter2"),
        ("valkey", "redis://:hunter2@"),
        ("influxdb", "http://h:8086?u=ann&p=hunter2"),
        ("influxdb", "https://ann:hunter2@h"),
        ("influxdb", "http://ann:hunter2"),
        ("influxdb", "http://ann:hunter2@[::1"),
        ("influxdb", "http://hunter2@h:1"),
        ("influxdb", "http://ann:hunter2%4@h:1"),
        ("harperdb", "http://ann:hunter2@h:9925/hunter2"),
        ("another", "ann:hunter2@h"),
    ] {
        let why = ServerUrl::from(url).check(engine).expect_err(url);
        assert!(why.contains("write it as") && !why.contains("ter2"), "{url}: {why}");
    }
}

#[test]
fn a_client_gets_the_parts_decoded() {
    let parts = |engine, url| ServerUrl::from(url).parts(engine).unwrap();
    let all = parts("mariadb", "mysql://m%40e:p%3A%2f@host:7/a%20b?socket=/a%20b&x#y");
    assert_eq!((all.user().as_deref(), all.password().as_deref()), (Some("m@e"), Some("p:/")));
    assert_eq!((all.host(), all.port(), all.database().as_deref()), ("host", Some(7), Some("a b")));
    assert_eq!(all.query(), "socket=/a%20b&x");
    let alone = parts("valkey", "valkey://:@[::1]");
    assert_eq!((alone.user(), alone.password().as_deref()), (None, Some("")));
    assert_eq!((alone.host(), alone.port(), alone.database()), ("::1", None, None));
    let http = parts("influxdb", "http://ann:a+b%40c@[::1]:8086/");
    assert_eq!((&*http.address(), http.credentials()), ("[::1]:8086", Some("ann:a+b%40c")));
    let least = parts("influxdb", "http://127.0.0.1:8086");
    assert_eq!((least.credentials(), least.user(), least.password()), (None, None, None));
}

#[test]
fn urls_that_the_engines_take_are_right() {
    for (engine, url) in [
        ("postgres", "postgresql://ann@db:5432/x?options=a%3Db"),
        ("postgres", "postgres:///x?host=/run/pg"),
        ("postgres", "host=/run/pg user=ann"),
        ("mariadb", "mysql://m%40e:p%3A%2f%40%25%C3%9F@host/a%20b?socket=/s"),
        ("mongodb", "mongodb+srv://me:x@db.example.com/?ssl=true"),
        ("mongodb", "mongodb://me:x@one,two:5/?replicaSet=r"),
        ("valkey", "valkey://:secret@[::1]:7/3"),
        ("influxdb", "http://ann:a%20b@127.0.0.1:8086/"),
        ("harperdb", "http://ann:x@localhost:9925"),
        ("another", "toy://elsewhere"),
    ] {
        assert_eq!(ServerUrl::from(url).check(engine), Ok(()), "{url}");
    }
}

/// Messages of libpq, MariaDB, MongoDB and HTTP servers, and embermark's own about them.
#[test]
fn what_a_client_says_repeats_no_secret() {
    let said =
        |url: &str, engine: &str, text: &str| ServerUrl::from(url).secrets().redact(engine, text);
    for (url, engine, text, hidden) in [
        (
            "postgres://ann:hunter2@db/x",
            "postgres",
            "postgres could not connect: FATAL: password authentication failed for user \"ann\"",
            "postgres could not connect: FATAL: password authentication failed for user \"***\"",
        ),
        (
            "postgres://postgres:pg@db/x",
            "postgres",
            "postgres could not connect: role \"postgres\" (pg) on pgbouncer",
            "postgres could not connect: role \"***\" (***) on pgbouncer",
        ),
        (
            "user=ann password='hun ter\\'2' host=h sslmode=require",
            "postgres",
            "invalid connection option: hun ter'2 of ann, sslmode require",
            "invalid connection option: *** of ***, sslmode require",
        ),
        (
            "mysql://ann:p%40ss%3Aword@h/x",
            "mariadb",
            "Access denied for user 'ann'@'h' (p@ss:word, p%40ss%3Aword); annotated",
            "Access denied for user '***'@'h' (***, ***); annotated",
        ),
        (
            "mongodb://a:x@h/?authMechanismProperties=AWS_SESSION_TOKEN:q7q7q7&tls=true",
            "mongodb",
            "Invalid URI mongodb://a:x@h/?authMechanismProperties=AWS_SESSION_TOKEN:q7q7q7&tls=true",
            "Invalid URI ***",
        ),
        (
            "mongodb://h/?authMechanismProperties=AWS_SESSION_TOKEN:q7q7q7&tls=true",
            "mongodb",
            "token q7q7q7 refused, tls is true",
            "token *** refused, tls is true",
        ),
        (
            "http://ann:s%C3%A4mig@h:8086",
            "influxdb",
            "http://ann:sämig@h:8086/query: 401",
            "http://***@h:8086/query: 401",
        ),
        (
            "http://h:8086?u=ann&p=q7",
            "influxdb",
            "u=ann, p=q7: q7q7 stays",
            "u=***, p=***: q7q7 stays",
        ),
        ("valkey://:hunter2@h:7", "valkey", "AUTH hunter2 failed", "AUTH *** failed"),
        ("postgres://db:5432/x", "postgres", "db refused: 5432", "db refused: 5432"),
    ] {
        assert_eq!(said(url, engine, text), hidden, "{url}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(text in ".{0,80}", engine in 0..7_usize) {
        let engines = ["postgres", "mariadb", "mongodb", "valkey", "influxdb", "harperdb", "x"];
        let url = ServerUrl::from(&*text);
        let _ = (url.check(engines[engine]), url.to_string(), url.with_password("p"));
    }

    #[test]
    fn a_secret_is_hidden_in_whatever_surrounds_it(
        secret in "[a-zA-Z0-9@:/?#%&=' ]{4,20}",
        text in "\\PC{0,30}",
        form in 0..3_usize,
    ) {
        let encoded = utf8_percent_encode(&secret, RESERVED).to_string();
        let url = match form {
            0 => format!("postgres://ann:{encoded}@h/x"),
            1 => format!("password='{}' host=h", secret.replace('\'', "\\'")),
            _ => format!("mongodb://h/?password={encoded}"),
        };
        let secrets = ServerUrl::from(&*url).secrets();
        for form in [&secret, &encoded, &url] {
            let told = secrets.redact("postgres", &format!("{text}{form}{text}"));
            let own = text.matches(&**form).count();
            prop_assert!(told.matches(&**form).count() <= 2 * own, "{url}: {told}");
        }
    }

    #[test]
    fn a_secret_is_in_nothing_that_is_shown(
        scheme in "postgres|postgresql|mysql|mongodb|mongodb\\+srv|valkey|redis|http|x",
        form in 0..9_usize,
        noise in "[@:/?#%&=' \\\\a-c]{0,4}",
    ) {
        let secret = format!("{noise}hunter2{noise}");
        let url = match form {
            0 => format!("{scheme}://ann:{secret}@h/x"),
            1 => format!("{scheme}://{secret}@h:1/x"),
            2 => format!("{scheme}://h/x?password={secret}"),
            3 => format!("{scheme}://h/x#{secret}"),
            4 => format!("{scheme}://h/?authMechanismProperties=A:{secret}&x=y"),
            5 => format!("password = '{secret}' host=h"),
            6 => format!("host=h password={secret}"),
            7 => format!("{scheme}//ann:{secret}@h"),
            _ => format!("host=h options='-c x={secret}'"),
        };
        let shown = ServerUrl::from(&*url).to_string();
        prop_assert!(!shown.contains("hunter2"), "{url}: {shown}");
    }
}
