//! A server of version 3. No such server can be fetched, so a server of version 1 stores the points
//! and answers the questions, and this file translates for it as the public interface of version 3
//! does (<https://docs.influxdata.com/influxdb3/core/api/>).

use std::fmt::Write as _;
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, PoisonError};

use embermark_engines::Join;
use embermark_model::Durability;
use serde_json::{Map, Value};

use super::version_2::Request;
use super::{INFLUXDB, assert_holds, made, private, respond, stand_in};
use crate::server::{given, series, setting};

/// The requests received, without the name of the database, and the existing database.
#[derive(Default)]
struct ServerState {
    asked: Vec<String>,
    database: Option<String>,
}

/// The server of version 1 behind it.
#[derive(Clone)]
struct First {
    address: String,
    /// `u=name&p=password`.
    user: String,
}

impl First {
    /// Returns the status and the body of its answer.
    fn ask(&self, path: &str, query: &str, body: &[u8]) -> (u16, String) {
        let mut server = TcpStream::connect(&self.address).unwrap();
        let head = format!(
            "POST {path}?{query}&{} HTTP/1.1\r\nhost: x\r\naccept: application/json\r\ncontent-length: {}\r\n\
             content-type: application/x-www-form-urlencoded\r\nconnection: close\r\n\r\n",
            self.user,
            body.len()
        );
        server.write_all(head.as_bytes()).unwrap();
        server.write_all(body).unwrap();
        let mut answer = String::new();
        server.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let is_chunked = head.to_lowercase().contains("transfer-encoding: chunked");
        (status, if is_chunked { whole(body) } else { body.to_owned() })
    }

    fn query(&self, database: &str, influxql: &str) -> Value {
        let form: String = influxql.bytes().fold("q=".to_owned(), |mut form, byte| {
            write!(form, "%{byte:02x}").unwrap();
            form
        });
        let (status, body) =
            self.ask("/query", &format!("db={database}&epoch=ns"), form.as_bytes());
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }
}

/// Joins a body that arrived in chunks.
fn whole(mut chunks: &str) -> String {
    let mut body = String::new();
    loop {
        let (length, rest) = chunks.split_once("\r\n").unwrap();
        let length = usize::from_str_radix(length, 16).unwrap();
        if length == 0 {
            return body;
        }
        body.push_str(&rest[..length]);
        chunks = &rest[length + 2..];
    }
}

/// Writes rows as version 3 returns them: one object per line, with the tags among the values,
/// times as text, and no NULL.
fn lines(answer: &Value) -> String {
    let mut lines = String::new();
    for series in answer["results"][0]["series"].as_array().into_iter().flatten() {
        for values in series["values"].as_array().unwrap() {
            let mut row = Map::new();
            row.insert("iox::measurement".to_owned(), series["name"].clone());
            row.extend(series["tags"].as_object().cloned().unwrap_or_default());
            for (name, value) in
                series["columns"].as_array().unwrap().iter().zip(values.as_array().unwrap())
            {
                let value = match name.as_str() {
                    Some("time") => {
                        let time = jiff::Timestamp::from_nanosecond(value.as_i64().unwrap().into())
                            .unwrap();
                        Value::String(time.to_string().trim_end_matches('Z').to_owned())
                    }
                    _ => value.clone(),
                };
                if !value.is_null() {
                    row.insert(name.as_str().unwrap().to_owned(), value);
                }
            }
            lines.push_str(&Value::Object(row).to_string());
            lines.push('\n');
        }
    }
    lines
}

/// Answers a request.
fn answer(request: &Request, first: &First, seen: &Mutex<ServerState>) -> (u16, String) {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    let named = |name: &str| {
        let mut all = query.split('&').filter_map(|one| one.split_once('='));
        all.find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
    };
    let note = query.split('&').filter(|one| !one.starts_with("db=")).collect::<Vec<_>>().join("&");
    seen.asked.push(format!("{} {path} {note}", request.method));
    let asked = || serde_json::from_slice::<Value>(&request.body).unwrap();
    match (&*request.method, path) {
        ("GET", "/health") => (200, "OK".to_owned()),
        _ if !request.has("authorization: bearer s3cret") => {
            (401, r#"{"error":"the request was not authenticated"}"#.to_owned())
        }
        ("GET", "/ping") => (200, r#"{"version":"3.2.1","revision":"0123456789"}"#.to_owned()),
        ("POST", "/api/v3/configure/database") => {
            let name = asked()["db"].as_str().unwrap().to_owned();
            first.query("", &format!("CREATE DATABASE \"{name}\""));
            seen.database = Some(name);
            (200, String::new())
        }
        ("GET", "/api/v3/configure/database") => {
            assert_eq!(named("format").as_deref(), Some("json"));
            let of = |name: &str| serde_json::json!({ "iox::database": name });
            let all = ["_internal"].into_iter().chain(seen.database.as_deref()).map(of);
            (200, Value::Array(all.collect()).to_string())
        }
        ("DELETE", "/api/v3/configure/database") => {
            let name = seen.database.take().unwrap();
            assert_eq!(named("db"), Some(name.clone()));
            first.query("", &format!("DROP DATABASE \"{name}\""));
            (200, String::new())
        }
        ("DELETE", "/api/v3/configure/table") => {
            let (database, table) = (named("db").unwrap(), named("table").unwrap());
            let there = first.query(&database, "SHOW MEASUREMENTS").to_string();
            if !there.contains(&format!("\"{table}\"")) {
                return (404, r#"{"error":"the table does not exist"}"#.to_owned());
            }
            first.query(&database, &format!("DROP MEASUREMENT \"{table}\""));
            (200, String::new())
        }
        ("POST", "/api/v3/write_lp") => {
            assert_eq!(named("precision").as_deref(), Some("nanosecond"));
            let to = format!("db={}&precision=n", named("db").unwrap());
            match first.ask("/write", &to, &request.body) {
                (204, _) => (204, String::new()),
                (_, why) => (400, why),
            }
        }
        ("POST", "/api/v3/query_influxql") => {
            let asked = asked();
            assert_eq!(asked["format"], "jsonl");
            let found = first.query(asked["db"].as_str().unwrap(), asked["q"].as_str().unwrap());
            match found["results"][0]["error"].as_str() {
                Some(error) => (400, error.to_owned()),
                None => (200, lines(&found)),
            }
        }
        (method, path) => panic!("version 3 has no {method} {path}"),
    }
}

fn serve(stream: TcpStream, first: &First, seen: &Mutex<ServerState>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    while let Some(request) = Request::read(&mut reader) {
        let (status, body) = answer(&request, first, seen);
        respond(&mut stream, status, body.as_bytes());
    }
}

#[test]
fn a_database_of_version_3_is_made_written_asked_and_deleted() {
    if !INFLUXDB.is_here() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (owner, address, user) = private(dir.path());
    let (name, password) = user.split_once(':').unwrap();
    let first = First { address, user: format!("u={name}&p={password}") };

    let seen = Arc::new(Mutex::new(ServerState::default()));
    let shared = Arc::clone(&seen);
    let address = stand_in(move |stream| serve(stream, &first, &shared));
    let open = |user: &str, durability| {
        INFLUXDB.engine().open(&given(&format!("http://{user}@{address}"), durability))
    };
    let times =
        |what: &str| seen.lock().unwrap().asked.iter().filter(|asked| asked.contains(what)).count();
    for (durability, no_sync, flushes) in
        [(Durability::Process, "false", 0), (Durability::None, "true", 1)]
    {
        let opened = open("token:s3cret", durability).unwrap();
        assert_eq!((&*opened.version, setting(&opened, "no_sync")), ("3.2.1", no_sync));
        let mut guest = series(opened.store);
        let before = times("no_sync=false");
        assert_eq!(guest.bulk("m", &mut made(0..12_000)).unwrap(), 12_000);
        guest.flush().unwrap();
        guest.flush().unwrap();
        let synced = times("no_sync=false") - before;
        assert_eq!(
            synced,
            if no_sync == "false" { 3 } else { flushes },
            "three requests of points"
        );
        assert_holds(&mut *guest, 0..12_000);
        let refused = guest.execute("DELETE FROM m WHERE time < 1000000").unwrap_err();
        assert!(refused.is_unsupported() && refused.to_string().contains("version 3"), "{refused}");
        assert!(guest.keep_by(3_600_000_000_000).unwrap_err().is_unsupported());
        guest.maintain().unwrap();
        // Another client authenticates in the same way.
        let Join::At(at) = guest.join() else { panic!("the database is exclusive") };
        let mut second =
            series(INFLUXDB.engine().join(&given("http://x", durability), &at).unwrap());
        assert_holds(&mut *second, 0..12_000);
        second.close().unwrap();
        guest.clear("m").unwrap();
        guest.clear("m").unwrap();
        guest.close().unwrap();
        assert_eq!(seen.lock().unwrap().database, None);
    }
    assert_eq!(
        (times("POST /api/v3/configure/database"), times("DELETE /api/v3/configure/database")),
        (2, 2)
    );
    let error = open("token:wrong", Durability::Process).map(drop).unwrap_err().to_string();
    assert!(error.contains("401") && !error.contains("wrong"), "{error}");
    owner.close().unwrap();
}
