//! A server that is given by URL.

use std::fs;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use embermark_engines::sql::{Access, Param, SqlStore};
use embermark_model::Durability;
use tempfile::TempDir;

use super::POSTGRES;
use super::owner::{ask, run, url_of};
use crate::server::readings::{TABLE, create, made, one_int};
use crate::server::{given, sql};

#[test]
fn no_part_of_a_password_is_in_an_error_however_the_url_is_written() {
    if !POSTGRES.is_here() {
        return;
    }
    let urls = [
        ("postgres://me:hunter2@127.0.0.1:1/db", "connect to 127.0.0.1, port 1"),
        ("postgresql://me:hunter2@127.0.0.1:1/db?sslmode=nonsense", "connect to"),
        ("host=127.0.0.1 port=1 password=hunter2 user=me", "connect to 127.0.0.1, port 1"),
        // Here the password contains the character that ends it for libpq.
        ("postgres://me:hunter2/hunter2@127.0.0.1:1/db", "%2F"),
        ("postgres://me:1/hunter2@127.0.0.1:1/db", "%2F"),
        ("postgres://me:hunter2@hunter2@127.0.0.1:1/db", "%40"),
        ("postgres://me:hunter2?hunter2@127.0.0.1:1/db", "%3F"),
        // There is no host.
        ("postgres://me:hunter2", "port is not a number"),
        ("postgres://me:hunter2/db", "port is not a number"),
        // libpq cannot read this.
        ("postgres://me:%zzhunter2@127.0.0.1:1/db", "invalid percent-encoded token"),
        ("postgres://me:hunter2@[::1/db", "\"]\""),
        ("postgres://me:hunter2@[::1]x/db", "unexpected character"),
        ("postgres://127.0.0.1:1/db?password=hunter2=hunter2", "separator"),
        ("postgres://127.0.0.1:1/db?hunter2=x", "invalid URI query parameter"),
        ("mysql://me:hunter2@127.0.0.1:1/db", "missing"),
        ("me:hunter2@127.0.0.1", "missing"),
        ("user=me password=hun hunter2", "missing"),
        ("user=me password='hunter2", "unterminated"),
        ("postgres://me:hunter2\0@127.0.0.1/db", "nul byte"),
    ];
    for (url, expected) in urls {
        let error = POSTGRES.refused(&given(url, Durability::Process)).to_string();
        assert!(!error.contains("hunter2"), "{url}: {error}");
        assert!(error.contains(expected) || expected == "\"]\"", "{url}: {error}");
        let is_read = error.contains("connect to");
        assert!(is_read || error.contains("postgres://user:password@host"), "{url}: {error}");
    }
}

pub fn passwords_let_in(_: &mut dyn SqlStore, dir: &TempDir) {
    let url = url_of(dir);
    run(
        &url,
        "CREATE ROLE me LOGIN PASSWORD 'hun%ter/2@x'; GRANT CREATE ON DATABASE postgres TO me",
    );
    let rules = dir.path().join("server/data/pg_hba.conf");
    fs::write(rules, "local all me scram-sha-256\nlocal all all trust\n").unwrap();
    run(&url, "SELECT pg_reload_conf()");
    let by = |password: &str| {
        given(&url.replace("postgres@", &format!("me:{password}@")), Durability::None)
    };
    // The server reads its rules again at a time of its choice.
    let deadline = Instant::now() + Duration::from_secs(300);
    let error = loop {
        match POSTGRES.engine().open(&by("hunter2")) {
            Err(error) => break error.to_string(),
            Ok(_) if Instant::now() < deadline => sleep(Duration::from_millis(10)),
            Ok(_) => panic!("let in by a wrong password"),
        }
    };
    assert!(error.contains("password authentication failed"), "{error}");
    assert!(!error.contains("hunter2"), "{error}");
    let mut ours = sql(POSTGRES.open(&by("hun%25ter%2F2%40x")).store);
    create(&mut *ours);
    assert_eq!(ours.bulk_insert(&TABLE, &mut made(0..100)).unwrap(), 100);
    // It may not ask for a checkpoint, which is not an error here.
    ours.maintain().unwrap();
    let mut second = sql(ours.open_client().unwrap().open().unwrap());
    assert_eq!(one_int(&mut *second, "SELECT count(*) FROM readings").unwrap(), Some(100));
    second.close().unwrap();
    ours.close().unwrap();
}

const ADD: &str = "UPDATE public.readings SET value = value + $1 WHERE sensor = 1 AND ts = 1";

pub fn conflicts_are_tried_again(owner: &mut dyn SqlStore, dir: &TempDir) {
    owner.batch("TRUNCATE readings").unwrap();
    owner.batch("INSERT INTO readings VALUES (1, 1, 0, NULL)").unwrap();
    let add = owner.prepare(ADD).unwrap();
    let url = url_of(dir);
    let isolation = "?options=-c%20default_transaction_isolation%3Dserializable";
    let strict = given(&format!("{url}{isolation}"), Durability::Process);
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    owner.begin(Access::Write).unwrap();
    owner.run(add, &[Param::Float(1.0)]).unwrap();
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            let mut other = sql(POSTGRES.open(&strict).store);
            let add = other.prepare(ADD).unwrap();
            // It waits until the other transaction ends, and then may not change what that one has
            // changed.
            let changed = other.run(add, &[Param::Float(10.0)]);
            other.close().unwrap();
            changed
        });
        while ask(&url, waiting) != Some(1) {
            assert!(!other.is_finished(), "it did not wait");
            sleep(Duration::from_millis(20));
        }
        owner.commit().unwrap();
        assert_eq!(other.join().unwrap().unwrap(), 1);
    });
    let value = "SELECT value::bigint FROM public.readings";
    assert_eq!(one_int(owner, value).unwrap(), Some(11));

    let mut other = sql(POSTGRES.open(&strict).store);
    let their_add = other.prepare(ADD).unwrap();
    other.begin(Access::Write).unwrap();
    assert_eq!(one_int(&mut *other, value).unwrap(), Some(11));
    owner.run(add, &[Param::Float(100.0)]).unwrap();
    let error = other.run(their_add, &[Param::Float(1000.0)]).unwrap_err().to_string();
    assert!(error.contains("40001") && error.contains("could not serialize"), "{error}");
    assert_eq!(one_int(&mut *other, value).unwrap(), Some(111));
    other.close().unwrap();
}

/// Takes from one user of PostgreSQL what a server lacks that only speaks PostgreSQL's protocol.
pub fn lacks_are_found_out(_: &mut dyn SqlStore, dir: &TempDir) {
    let url = url_of(dir);
    let lacks = |opened: &embermark_engines::Opened| {
        let found = opened.settings.iter().find(|(name, _)| name == "lacks");
        found.map(|(_, value)| value.clone())
    };
    let whole = POSTGRES.open(&given(&url, Durability::None));
    assert_eq!(lacks(&whole), None);
    sql(whole.store).close().unwrap();
    run(
        &url,
        "CREATE ROLE few LOGIN; GRANT CREATE ON DATABASE postgres TO few; \
         REVOKE EXECUTE ON FUNCTION pg_terminate_backend, to_timestamp(double precision), \
         pg_get_constraintdef(oid), pg_size_bytes FROM PUBLIC",
    );
    let less = POSTGRES.open(&given(&url.replace("postgres@", "few@"), Durability::None));
    let expected = "ending sessions, COPY into an emptied table, to_timestamp";
    assert_eq!(lacks(&less).as_deref(), Some(expected));
    assert!(less.settings.iter().all(|(name, _)| name != "cache"), "{:?}", less.settings);
    let mut ours = sql(less.store);
    assert_eq!(ours.dialect().month("ts"), None);
    create(&mut *ours);
    assert_eq!(ours.bulk_insert(&TABLE, &mut made(0..100_000)).unwrap(), 100_000);
    ours.maintain().unwrap();
    let mut second = sql(ours.open_client().unwrap().open().unwrap());
    assert_eq!(second.dialect().month("ts"), None);
    assert_eq!(one_int(&mut *second, "SELECT count(*) FROM readings").unwrap(), Some(100_000));
    second.close().unwrap();
    ours.close().unwrap();
}
