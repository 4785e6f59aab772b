use std::io::Read;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use super::wire::{self, Incoming};
use super::*;

const ROWS: usize = 700;
const CONNECTIONS: usize = 10;

fn bodies() -> Vec<String> {
    (0..ROWS).map(|n| format!("{{\"n\":{n}}}")).collect()
}

fn read(body: &[u8]) -> io::Result<usize> {
    let json: serde_json::Value = serde_json::from_slice(body)?;
    let number = json["n"].as_u64().ok_or_else(|| io::Error::other("no row"))?;
    Ok(number as usize)
}

/// Serves what `post` does on its own connections.
fn served<C: Send>(
    connections: usize,
    cap: Option<Duration>,
    commit: &mut dyn FnMut(usize) -> Result<()>,
    client: impl FnOnce(u16) -> C + Send,
) -> (Result<Vec<Meter>>, C) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::scope(|scope| {
        let client = scope.spawn(move || client(port));
        let streams: Vec<_> = (0..connections).map(|_| listener.accept().unwrap().0).collect();
        let done = serve(&streams, &read, commit, &Meter::new(cap));
        drop(streams);
        (done, client.join().unwrap())
    })
}

fn post_all(port: u16) -> io::Result<()> {
    let task = Task { bodies: bodies(), port, connections: CONNECTIONS };
    Poster::connect(&task, || Ok(()))?.post_all()
}

#[test]
fn every_row_that_is_posted_arrives_once() {
    let mut came = Vec::new();
    let commit = &mut |row: usize| {
        came.push(row);
        Ok(())
    };
    let (done, posted) = served(CONNECTIONS, None, commit, post_all);
    posted.unwrap();
    let meters = done.unwrap();
    assert_eq!(meters.len(), CONNECTIONS);
    assert_eq!(meters.iter().map(|meter| meter.measured().ops).sum::<u64>(), ROWS as u64);
    came.sort_unstable();
    assert_eq!(came, (0..ROWS).collect::<Vec<_>>());
}

#[test]
fn the_time_that_is_over_ends_both_sides() {
    let mut stored = 0;
    let commit = &mut |_| {
        stored += 1;
        thread::sleep(Duration::from_millis(2));
        Ok(())
    };
    let (done, posted) = served(CONNECTIONS, Some(Duration::from_millis(1)), commit, post_all);
    posted.unwrap();
    assert!(done.unwrap().iter().all(|meter| meter.measured().capped));
    assert!((1..ROWS).contains(&stored), "{stored}");
}

#[test]
fn a_store_that_fails_lets_nobody_wait() {
    let mut left = 20;
    let commit = &mut |_| {
        left -= 1;
        if left == 0 { Err(EngineError::read_only("a store")) } else { Ok(()) }
    };
    let (done, posted) = served(CONNECTIONS, None, commit, post_all);
    posted.unwrap();
    assert!(done.is_err_and(|error| error.to_string().contains("a store")));
}

#[test]
fn what_is_no_row_is_refused_and_told_of() {
    for body in ["no json", "{}"] {
        let (done, answer) = served(1, None, &mut |_| Ok(()), |port| {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
            let length = body.len();
            write!(stream, "POST / HTTP/1.1\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        });
        assert!(answer.starts_with("HTTP/1.1 400"), "{body}: {answer}");
        assert!(done.is_err_and(|error| error.to_string().contains("the HTTP server")), "{body}");
    }
}

#[test]
fn more_connections_than_a_listener_queues_are_accepted_one_after_the_other() {
    const MANY: usize = 200;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let task = Task { bodies: bodies(), port, connections: MANY };
    let ((messages, mut out), (input, go_on)) = (io::pipe().unwrap(), io::pipe().unwrap());
    thread::scope(|scope| {
        let client = scope.spawn(move || {
            let (mut input, mut made) = (BufReader::new(input), 0);
            let poster = Poster::connect(&task, || {
                made += 1;
                accepted(&mut out, &mut input)
            });
            writeln!(out, "{READY}").unwrap();
            poster.map(|_| made).unwrap()
        });
        let streams = accept(&listener, MANY, BufReader::new(messages), go_on).unwrap().unwrap();
        assert_eq!((streams.len(), client.join().unwrap()), (MANY, MANY));
    });
}

#[test]
fn a_client_that_ends_before_all_its_connections_lets_nobody_wait() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let messages = format!("{CONNECTED}\n");
    assert!(accept(&listener, 2, messages.as_bytes(), io::sink()).unwrap().is_none());
    drop(stream);
    assert!(accepted(io::sink(), io::empty()).is_err());
}

/// Returns its bytes one at a time.
struct Drops<'a>(&'a [u8]);

impl Read for Drops<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let part = into.len().min(1);
        self.0.read(&mut into[..part])
    }
}

#[test]
fn messages_are_found_however_they_come() {
    let (bodies, mut bytes) = (bodies(), Vec::new());
    for body in &bodies[..3] {
        wire::append_request(body, &mut bytes).unwrap();
    }
    let mut whole = Incoming::new(&*bytes);
    let mut drops = Incoming::new(Drops(&bytes));
    for body in &bodies[..3] {
        for came in [whole.next(wire::request), drops.next(wire::request)] {
            assert_eq!(came.unwrap().unwrap(), body.as_bytes());
        }
    }
    assert!(whole.next(wire::request).unwrap().is_none());
    let cut = Incoming::new(&bytes[..bytes.len() - 1]).next(wire::request).map(|_| ());
    assert!(cut.is_ok(), "the first of three is whole");
    let mut short = Incoming::new(&bytes[..20]);
    assert!(short.next(wire::request).is_err());
    let other: &[u8] = b"GET / HTTP/1.1\r\ncontent-length: 0\r\n\r\n";
    assert!(Incoming::new(other).next(wire::request).is_err());
}
