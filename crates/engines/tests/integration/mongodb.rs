//! MongoDB beyond what every server and every document engine must do: what reaches the server.
pub mod client;
mod refusals;
mod values;

use std::thread::sleep;
use std::time::{Duration, Instant};

use embermark_engines::document::{
    Collection, CollectionDef, Document, DocumentStore, Filter, Find, Order, Value,
};
use embermark_engines::sql::ResultRow;
use embermark_model::Durability;
use embermark_skips::sampled;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

use crate::server::processes::Processes;
use crate::server::{ServerEngine, documents};
use client::Client;
use values::Readings;

const MONGODB: ServerEngine = ServerEngine("mongodb");

static READINGS: CollectionDef = CollectionDef {
    name: "readings",
    key: &["sensor", "ts"],
    indexes: &[],
    fields: &["temperature", "humidity", "light", "voltage"],
};

fn insert(store: &mut dyn DocumentStore, into: Collection, sensor: i64, ts: i64, value: f64) {
    let (key, fields) =
        ([Value::Int(sensor), Value::Int(ts)], [("temperature", Value::Float(value))]);
    store.insert(into, &Document { key: &key, fields: &fields }).unwrap();
}

fn count(store: &mut dyn DocumentStore, of: Collection) -> usize {
    let find = Find { filter: Filter::All, order: Order::Any, limit: None, columns: &["ts"] };
    let mut rows = 0;
    let mut visit = |_: &dyn ResultRow| {
        rows += 1;
        Ok(())
    };
    store.find(of, &find, &mut visit).unwrap();
    rows
}

#[test]
fn an_insert_reaches_the_server_once_as_its_tier_wants_it_and_in_one_session() {
    let without = sampled([(Durability::None, false), (Durability::Process, false)], 1);
    for (tier, waits) in without.into_iter().chain([(Durability::Power, true)]) {
        let Some((dir, mut store)) = MONGODB.documents(tier) else { return };
        let readings = store.create(&READINGS).unwrap();
        let client = Client::new(&url_of(&dir));
        // The server records its requests.
        client.run("embermark", r#"{"profile": 2}"#);
        insert(&mut *store, readings, 1, 1, 1.0);
        insert(&mut *store, readings, 1, 2, 1.0);
        assert_eq!(store.bulk(readings, &mut Readings(3, 6)).unwrap(), 3);
        client.run("embermark", r#"{"profile": 0}"#);
        let asked = r#"{"find": "system.profile", "filter": {"op": "insert"}}"#;
        let asked = client.run("embermark", asked);
        let asked = asked["cursor"]["firstBatch"].as_array().unwrap();
        assert_eq!(asked.len(), 3, "{tier}");
        for one in asked {
            let command = &one["command"];
            assert_eq!(command["writeConcern"], serde_json::json!({"w": 1, "j": waits}), "{tier}");
            assert!(command["lsid"].is_object(), "{command}");
            assert_eq!(command["lsid"], asked[0]["command"]["lsid"]);
            // A write that may be repeated has a number.
            assert!(command.get("txnNumber").is_none(), "{command}");
        }
        store.close().unwrap();
    }
}

#[test]
fn a_server_that_dies_is_an_error_and_no_wait() {
    let Some((dir, opened)) = MONGODB.start(Durability::Process) else { return };
    let pid = opened.server.unwrap();
    let processes = Processes::of(pid, dir.path());
    let mut store = documents(opened.store);
    let readings = store.create(&READINGS).unwrap();
    kill(Pid::from_raw(pid.cast_signed()), Signal::SIGKILL).unwrap();
    processes.end();
    let asked = Instant::now();
    let error = store.insert(readings, &Document { key: &[], fields: &[] }).unwrap_err();
    assert!(error.to_string().starts_with("mongodb could not insert into `readings`"), "{error}");
    let error = store.close().unwrap_err().to_string();
    assert!(error.contains("it ended with signal: 9"), "{error}");
    // The driver itself looks for a server for 30 s.
    assert!(asked.elapsed() < Duration::from_secs(25));
}

#[test]
fn a_connection_that_was_idle_answers_as_before() {
    let Some((_dir, mut store)) = MONGODB.documents(Durability::None) else { return };
    let readings = store.create(&READINGS).unwrap();
    for ts in 0..3 {
        insert(&mut *store, readings, 1, ts, 1.0);
        sleep(Duration::from_secs(4));
    }
    assert_eq!(count(&mut *store, readings), 3);
    store.close().unwrap();
}

/// Returns the URL of a private server, which acts as a user's server.
fn url_of(dir: &TempDir) -> String {
    let socket = dir.path().join("server/mongod.sock");
    format!("mongodb://{}/?directConnection=true", socket.to_str().unwrap().replace('/', "%2F"))
}

#[test]
fn point_reads_and_ranges_of_keys_read_these_documents_alone() {
    let Some((dir, mut store)) = MONGODB.documents(Durability::None) else { return };
    let readings = store.create(&READINGS).unwrap();
    (0..500).for_each(|n| insert(&mut *store, readings, n % 5, n, 1.0));
    let client = Client::new(&url_of(&dir));
    let examined = |filter: &str, sort: &str| {
        let find = format!(r#"{{"find": "readings", "filter": {filter}, "sort": {sort}}}"#);
        let explain = format!(r#"{{"explain": {find}, "verbosity": "executionStats"}}"#);
        let answer = client.run("embermark", &explain);
        let stat = |name: &str| answer["executionStats"][name].as_i64().unwrap();
        (stat("totalKeysExamined"), stat("totalDocsExamined"))
    };
    let one = r#"{"_id": {"sensor": {"$numberLong": "3"}, "ts": {"$numberLong": "33"}}}"#;
    // In key order, the documents beside these show where they end; before 5.3 the index of the
    // keys does.
    assert!(matches!(examined(one, "{}"), (0, 2) | (1, 1)), "{:?}", examined(one, "{}"));
    let range = r#"{"_id": {
        "$gte": {"sensor": {"$numberLong": "3"}}, "$lt": {"sensor": {"$numberLong": "4"}}
    }}"#;
    let backwards = examined(range, r#"{"_id": -1}"#);
    assert!(matches!(backwards, (0, 101..=102) | (100, 100)), "{backwards:?}");
    drop(client);
    store.close().unwrap();
}
