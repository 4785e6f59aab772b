//! Failures, and how they are reported.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use embermark_engines::document::{Document, DocumentStore, Value};
use embermark_engines::sql::ResultRow;
use embermark_model::Durability;

use super::client::Client;
use super::{MONGODB, READINGS, count, insert, url_of};
use crate::server::{documents, given};

#[test]
fn an_error_has_the_servers_code_and_words_and_no_password() {
    let Some((dir, mut store)) = MONGODB.documents(Durability::None) else { return };
    let right = url_of(&dir);
    let refused = |url: &str| MONGODB.refused(&given(url, Durability::None)).to_string();
    // A user that the server does not know, and invalid URLs.
    let urls = [
        right.replace("mongodb://", "mongodb://me:hunter2@"),
        "mongodb://me:hunter2@host/?ssl=maybe".to_owned(),
        "mongodb://me:hunter2/@host/".to_owned(),
        "mongodb://me:hunter2@host:port/".to_owned(),
        "mongodb://me:hunter2%@host/".to_owned(),
        "mongodb://me:hunter2@hunter3@host/".to_owned(),
    ];
    for url in urls {
        let error = refused(&url);
        assert!(error.starts_with("mongodb could not ") && !error.contains("hunter"), "{error}");
    }
    let error = refused(&right.replace("mongodb://", "mongodb://me:hunter2@"));
    assert!(error.contains("mongod.sock") && error.contains("uthentication failed"), "{error}");

    let readings = store.create(&READINGS).unwrap();
    let mut nothing = |_: &dyn ResultRow| Ok(());
    let ask = |text: &str| format!("mongodb could not answer `{text}`: ");
    let stage = r#"[{"$nonsense": {}}]"#;
    let error = store.query(readings, stage, &[], &mut nothing).unwrap_err().to_string();
    let words = "Location40324 (40324): Unrecognized pipeline stage name: '$nonsense'";
    assert_eq!(error, ask(stage) + words);
    insert(&mut *store, readings, 1, 1, 1.0);
    let again = Document { key: &[Value::Int(1), Value::Int(1)], fields: &[] };
    let error = store.insert(readings, &again).unwrap_err().to_string();
    let words = "mongodb could not insert into `readings`: error 11000: E11000 duplicate key error";
    assert!(error.starts_with(words), "{error}");
    store.close().unwrap();
}

/// A second server, which can be made to fail.
struct Failing {
    server: Child,
    url: String,
}

impl Failing {
    /// Starts the program of the private server `pid` in its own folder.
    fn start(pid: u32, dir: &Path) -> Self {
        let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap();
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap();
        let environment = environment
            .split(|&byte| byte == 0)
            .filter_map(|set| std::str::from_utf8(set).unwrap().split_once('='));
        let socket = dir.join("mongod.sock");
        let server = Command::new(program)
            .env_clear()
            .envs(environment)
            .args(["--nounixsocket", "--setParameter", "enableTestCommands=1", "--quiet"])
            .args([Path::new("--dbpath"), dir, Path::new("--bind_ip"), &socket])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let encoded = socket.to_str().unwrap().replace('/', "%2F");
        let url = format!("mongodb://{encoded}/?directConnection=true");
        let deadline = Instant::now() + Duration::from_secs(60);
        while UnixStream::connect(&socket).is_err() && Instant::now() < deadline {
            sleep(Duration::from_millis(10));
        }
        Self { server, url }
    }
}

impl Drop for Failing {
    fn drop(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }
}

#[test]
fn a_change_is_made_again_where_another_client_was_in_the_way_and_nowhere_else() {
    let Some((_dir, private)) = MONGODB.start(Durability::None) else { return };
    let failing_dir = tempfile::tempdir().unwrap();
    let failing = Failing::start(private.server.unwrap(), failing_dir.path());
    let mut ours = documents(MONGODB.open(&given(&failing.url, Durability::None)).store);
    let readings = ours.create(&READINGS).unwrap();
    let client = Client::new(&failing.url);
    let fail = |how: &str| {
        let data = format!(r#"{{"failCommands": ["insert"], {how}}}"#);
        let point = r#""configureFailPoint": "failCommand", "mode": {"times": 3}"#;
        client.run("admin", &format!(r#"{{{point}, "data": {data}}}"#));
    };
    let mut ts = 0;
    let mut try_insert = |ours: &mut dyn DocumentStore| {
        ts += 1;
        ours.insert(readings, &Document { key: &[Value::Int(1), Value::Int(ts)], fields: &[] })
    };
    fail(r#""errorCode": 112"#);
    try_insert(&mut *ours).unwrap();
    fail(r#""errorCode": 251, "errorLabels": ["TransientTransactionError"]"#);
    try_insert(&mut *ours).unwrap();
    assert_eq!(count(&mut *ours, readings), 2);
    // This error does not ask for a retry.
    fail(r#""errorCode": 91"#);
    for _ in 0..3 {
        let error = try_insert(&mut *ours).unwrap_err().to_string();
        let words = "mongodb could not insert into `readings`: ShutdownInProgress (91): ";
        assert!(error.starts_with(words), "{error}");
    }
    try_insert(&mut *ours).unwrap();
    assert_eq!(count(&mut *ours, readings), 3);
    ours.close().unwrap();
    drop(failing);
    documents(private.store).close().unwrap();
}
