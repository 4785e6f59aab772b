//! A server of version 2. No such server can be fetched, so a server of version 1 takes the writes
//! and answers the questions, and this file answers everything else as the public interface of
//! version 2 does (<https://docs.influxdata.com/influxdb/v2/api/>).

use std::io::{BufRead, BufReader, Read, Write, copy};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use embermark_engines::Join;
use embermark_model::Durability;

use super::{INFLUXDB, assert_holds, made, private, respond, stand_in};
use crate::server::{given, series};

/// The requests received, and the existing bucket.
#[derive(Default)]
struct ServerState {
    asked: Vec<String>,
    bucket: Option<String>,
}

/// A request as it was received.
pub struct Request {
    pub method: String,
    pub path: String,
    head: Vec<String>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn read(stream: &mut BufReader<TcpStream>) -> Option<Self> {
        let mut line = String::new();
        stream.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let mut words = line.split(' ').map(str::to_owned);
        let (method, path) = (words.next()?, words.next()?);
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).ok()?;
            match line.trim_end() {
                "" => break,
                line => head.push(line.to_owned()),
            }
        }
        let named = |name: &str| {
            let mut named = head.iter().filter_map(|line| line.split_once(": "));
            named.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
        };
        let length = named("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        stream.read_exact(&mut body).ok()?;
        Some(Self { method, path, head, body })
    }

    /// Returns whether its head has this line, in letters of any case.
    pub fn has(&self, line: &str) -> bool {
        self.head.iter().any(|known| known.eq_ignore_ascii_case(line))
    }

    /// Lets the server of version 1 answer it, as a user of that server.
    fn forward(&self, address: &str, user: &str, to: &mut TcpStream) {
        let mut server = TcpStream::connect(address).unwrap();
        let kept = self.head.iter().filter(|line| {
            let name = line.split(':').next().unwrap_or_default().to_lowercase();
            !["authorization", "connection"].contains(&&*name)
        });
        let separator = if self.path.contains('?') { '&' } else { '?' };
        let (name, password) = user.split_once(':').unwrap();
        let head = format!(
            "{} {}{separator}u={name}&p={password} HTTP/1.1\r\n{}\r\nconnection: close\r\n\r\n",
            self.method,
            self.path,
            kept.cloned().collect::<Vec<_>>().join("\r\n")
        );
        server.write_all(head.as_bytes()).unwrap();
        server.write_all(&self.body).unwrap();
        copy(&mut server, to).unwrap();
        to.shutdown(Shutdown::Both).unwrap();
    }
}

/// Answers the requests of a connection.
fn serve(stream: TcpStream, first: &(String, String), seen: &Mutex<ServerState>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    while let Some(request) = Request::read(&mut reader) {
        let (path, (address, user)) = (request.path.split('?').next().unwrap(), first);
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.asked.push(format!("{} {path}", request.method));
        let run_on_version_1 = |sql: &str| {
            let body = format!("q={sql}").replace(' ', "%20").replace('"', "%22").into_bytes();
            let head = vec![
                "content-type: application/x-www-form-urlencoded".to_owned(),
                format!("content-length: {}", body.len()),
                "host: x".to_owned(),
            ];
            let (method, path) = ("POST".to_owned(), "/query".to_owned());
            let asks = Request { method, path, head, body };
            let (listener, mut sink) = pair();
            let reads = thread::spawn(move || {
                let mut text = String::new();
                listener.accept().unwrap().0.read_to_string(&mut text).unwrap();
                assert!(text.starts_with("HTTP/1.1 200") && !text.contains("error"), "{text}");
            });
            asks.forward(address, user, &mut sink);
            reads.join().unwrap();
        };
        let answer = match (&*request.method, path) {
            ("GET", "/health") => {
                (200, r#"{"name":"influxdb","status":"pass","version":"v2.7.11"}"#.to_owned())
            }
            ("GET", "/ping") => (204, String::new()),
            _ if !request.has("authorization: token s3cret") => {
                (401, r#"{"code":"unauthorized","message":"unauthorized access"}"#.to_owned())
            }
            ("GET", "/api/v2/orgs") => {
                (200, r#"{"orgs":[{"id":"0123456789abcdef","name":"my org"}]}"#.to_owned())
            }
            ("GET", "/api/v2/config") => (
                200,
                r#"{"config":{"storage-wal-fsync-delay":"0s","log-level":"info"}}"#.to_owned(),
            ),
            ("GET", "/metrics") => (200, "storage_compactions_active{level=\"1\"} 0\n".to_owned()),
            ("POST", "/api/v2/buckets") => {
                let made: serde_json::Value = serde_json::from_slice(&request.body).unwrap();
                assert_eq!(made["orgID"], "0123456789abcdef");
                assert_eq!(made["retentionRules"][0]["everySeconds"], 0);
                let name = made["name"].as_str().unwrap().to_owned();
                run_on_version_1(&format!("CREATE DATABASE \"{name}\""));
                seen.bucket = Some(name);
                (201, r#"{"id":"b1"}"#.to_owned())
            }
            ("GET", "/api/v2/buckets") => {
                let of = |name: &String| serde_json::json!({"id": "b1", "name": name});
                let buckets: Vec<_> = seen.bucket.iter().map(of).collect();
                (200, serde_json::json!({ "buckets": buckets }).to_string())
            }
            ("DELETE", "/api/v2/buckets/b1") => {
                let name = seen.bucket.take().unwrap();
                run_on_version_1(&format!("DROP DATABASE \"{name}\""));
                (204, String::new())
            }
            (_, "/write" | "/query") => {
                drop(seen);
                return request.forward(address, user, &mut stream);
            }
            (method, path) => panic!("version 2 has no {method} {path}"),
        };
        let (status, body) = answer;
        respond(&mut stream, status, body.as_bytes());
    }
}

/// Returns the two ends of a connection.
fn pair() -> (TcpListener, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (listener, stream)
}

#[test]
fn a_bucket_of_version_2_is_made_written_asked_and_deleted() {
    if !INFLUXDB.is_here() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (owner, address, user) = private(dir.path());
    let first = (address, user);

    let seen = Arc::new(Mutex::new(ServerState::default()));
    let shared = Arc::clone(&seen);
    let address = stand_in(move |stream| serve(stream, &first, &shared));
    let open = |user: &str| {
        INFLUXDB.engine().open(&given(&format!("http://{user}@{address}"), Durability::Power))
    };
    let opened = open("my%20org:s3cret").unwrap();
    assert_eq!(opened.version, "2.7.11");
    assert!(
        opened
            .settings
            .iter()
            .any(|(name, value)| (&**name, &**value) == ("storage-wal-fsync-delay", "0s"))
    );
    let mut guest = series(opened.store);
    assert_eq!(guest.bulk("m", &mut made(0..12_000)).unwrap(), 12_000);
    assert_holds(&mut *guest, 0..12_000);
    guest.execute("DELETE FROM m WHERE time < 1000000").unwrap();
    assert_holds(&mut *guest, 1_000..12_000);
    guest.maintain().unwrap();
    assert!(guest.keep_by(3_600_000_000_000).unwrap_err().is_unsupported());
    // Another client authenticates in the same way.
    let Join::At(at) = guest.join() else { panic!("the database is exclusive") };
    let mut second =
        series(INFLUXDB.engine().join(&given("http://x", Durability::Power), &at).unwrap());
    assert_holds(&mut *second, 1_000..12_000);
    second.close().unwrap();
    guest.close().unwrap();
    {
        let seen = seen.lock().unwrap();
        assert_eq!(seen.bucket, None, "{:?}", seen.asked);
        let times = |what: &str| seen.asked.iter().filter(|asked| *asked == what).count();
        assert_eq!((times("POST /api/v2/buckets"), times("DELETE /api/v2/buckets/b1")), (1, 1));
    }
    let error = open("my%20org:wrong").map(drop).unwrap_err().to_string();
    assert!(error.contains("unauthorized access") && !error.contains("wrong"), "{error}");
    owner.close().unwrap();
}
