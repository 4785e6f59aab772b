use std::cell::Cell;
use std::io::Read;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use embermark_data::events;

use super::super::oracle::Content;
use super::super::port::Stored;
use super::super::testing::Fake;
use super::wire::Incoming;
use super::*;

const ROWS: u64 = 700;

fn records() -> Vec<Record> {
    events::generate(ROWS, 7).into_iter().map(Record::of).collect()
}

/// Serves what `post` does on connections of its own.
fn served<C: Send>(
    connections: usize,
    cap: Option<Duration>,
    store: &mut dyn Telemetry,
    client: impl FnOnce(u16) -> C + Send,
) -> (Result<Served>, C) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::scope(|scope| {
        let client = scope.spawn(move || client(port));
        let streams: Vec<_> = (0..connections).map(|_| listener.accept().unwrap().0).collect();
        let done = serve(&streams, ROWS as usize, store, &Meter::new(cap));
        drop(streams);
        (done, client.join().unwrap())
    })
}

fn post_all(port: u16) -> io::Result<()> {
    Poster::connect(&Task { rows: ROWS, seed: 7, port, connections: CONNECTIONS })?.post_all()
}

#[test]
fn every_row_that_is_posted_arrives_once_and_as_it_was() {
    let (records, mut came) = (records(), Vec::new());
    let mut store = Fake(|batch: &[Record]| {
        came.extend(batch.iter().map(|record| (record.event, record.json.clone())));
        Ok(batch.len() as u64)
    });
    let (done, posted) = served(CONNECTIONS, None, &mut store, post_all);
    posted.unwrap();
    let done = done.unwrap();
    assert_eq!(done.stored, ROWS);
    assert_eq!(done.meters.len(), CONNECTIONS);
    assert_eq!(done.meters.iter().map(|meter| meter.measured().ops).sum::<u64>(), ROWS);

    let expected = in_order(&records, &done.arrived).unwrap();
    let mut content = Content::new(expected.clone());
    came.iter().for_each(|(event, _)| content.see(&Stored::of(event)));
    assert_eq!(content.finish(), Ok(()));
    for (event, (_, json)) in expected.into_iter().zip(&came) {
        assert_eq!(*json, Record::of(*event).json);
    }
}

#[test]
fn a_row_that_came_twice_or_from_nobody_is_a_difference() {
    let records = records();
    let twice = [Known::of(&records[0]), Known::of(&records[1]), Known::of(&records[0])];
    assert!(in_order(&records, &twice).unwrap_err().0.contains("number 3"));
    let other = Record::of(events::generate(1, 8)[0]);
    assert!(in_order(&records, &[Known::of(&other)]).is_err());
    assert_eq!(in_order(&records, &twice[1..]).unwrap()[0].id, 2);
}

#[test]
fn the_time_that_is_over_ends_both_sides() {
    let mut store = Fake(|_: &[Record]| {
        thread::sleep(Duration::from_millis(2));
        Ok(1)
    });
    let (done, posted) = served(CONNECTIONS, Some(Duration::from_millis(1)), &mut store, post_all);
    posted.unwrap();
    let done = done.unwrap();
    assert!((1..ROWS).contains(&done.stored), "{}", done.stored);
    assert_eq!(done.arrived.len() as u64, done.stored);
    assert!(done.meters.iter().all(|meter| meter.measured().capped));
}

#[test]
fn a_store_that_fails_lets_nobody_wait() {
    let left = Cell::new(20);
    let mut store = Fake(|_: &[Record]| match left.replace(left.get() - 1) {
        0 => Err(EngineError::read_only("a store")),
        _ => Ok(1),
    });
    let (done, posted) = served(CONNECTIONS, None, &mut store, post_all);
    posted.unwrap();
    assert!(done.is_err_and(|error| error.to_string().contains("a store")));
}

#[test]
fn what_is_no_row_is_refused_and_told_of() {
    let bodies = [
        "no json",
        r#"{"data":{"co2":1.5},"bucket":"weather","timestamp":"2023-01-01T00:00:00.000Z"}"#,
        r#"{"data":{"co2":1.5},"bucket":"location","timestamp":"2023-01-01T00:00:00.000Z"}"#,
        r#"{"data":{"co2":1.5},"bucket":"co2","timestamp":"yesterday"}"#,
    ];
    for body in bodies {
        let (done, answer) = served(1, None, &mut Fake(|_: &[Record]| Ok(1)), |port| {
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

/// Gives its bytes one at a time.
struct Drops<'a>(&'a [u8]);

impl Read for Drops<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let part = into.len().min(1);
        self.0.read(&mut into[..part])
    }
}

#[test]
fn messages_are_found_however_they_come() {
    let records = records();
    let mut bytes = Vec::new();
    for record in &records[..3] {
        wire::append_request(record, &mut bytes).unwrap();
    }
    let mut whole = Incoming::new(&*bytes);
    let mut drops = Incoming::new(Drops(&bytes));
    for record in &records[..3] {
        let mut read = Record::of(records[9].event);
        for body in [whole.next(wire::request), drops.next(wire::request)] {
            wire::read_row(body.unwrap().unwrap(), &mut read).unwrap();
            assert_eq!((read.event.data, &read.json), (record.event.data, &record.json));
            assert_eq!(read.event.timestamp, record.event.timestamp);
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
