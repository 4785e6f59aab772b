//! The server: a thread for each connection, and one that owns the store and commits what they hand
//! it, since a store stays in its thread.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use embermark_contract::{EngineError, Result};
use embermark_data::events::{Event, Payload};
use embermark_meter::Meter;

use super::super::port::{Record, Telemetry};
use super::wire::{self, Incoming};

/// Rows that were committed as they came.
pub(in super::super) struct Served {
    /// Rows that the engine says there were.
    pub stored: u64,
    /// By what the rows are known, in the order of the ids that they were given.
    pub arrived: Vec<Known>,
    /// What was measured of each connection.
    pub meters: Vec<Meter>,
}

/// By what a row is known that has no id: when it happened, and its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in super::super) struct Known(i64, u64);

impl Known {
    pub(in super::super) fn of(record: &Record) -> Self {
        let mut hasher = DefaultHasher::new();
        record.json.hash(&mut hasher);
        Self(record.event.timestamp, hasher.finish())
    }
}

/// A row on its way to the store, and the connection that waits for its commit.
struct Posted {
    record: Box<Record>,
    from: usize,
}

/// Serves connections until all of them are closed, or their meters' time is over: `rows` at most. A row
/// is answered when it was committed.
///
/// # Errors
/// The store's, or that of a request that is no row.
pub(in super::super) fn serve(
    streams: &[TcpStream],
    rows: usize,
    store: &mut dyn Telemetry,
    meter: &Meter,
) -> Result<Served> {
    let mut served = Served { stored: 0, arrived: Vec::with_capacity(rows), meters: Vec::new() };
    let (post, posted) = sync_channel::<Posted>(streams.len());
    let (answers, answered): (Vec<_>, Vec<_>) = streams.iter().map(|_| sync_channel(1)).unzip();
    let ended = thread::scope(|scope| {
        let connections = streams.iter().zip(answered).enumerate();
        let serving: Vec<_> = connections
            .map(|(from, (stream, committed))| {
                let (post, meter) = (post.clone(), meter.for_client(None));
                let requests = Incoming::new(stream);
                let connection = Connection { from, stream, requests, post, committed, free: None };
                scope.spawn(move || connection.serve(meter))
            })
            .collect();
        drop(post);
        let stored = commit(posted, answers, store, &mut served);
        let mut ended = Vec::with_capacity(serving.len());
        for serving in serving {
            ended.push(serving.join().map_err(|_| refused("a connection's thread died"))?);
        }
        stored.map(|()| ended)
    })?;
    for (meter, ended) in ended {
        ended.map_err(refused)?;
        served.meters.push(meter);
    }
    store.flush()?;
    Ok(served)
}

fn refused(why: impl ToString) -> EngineError {
    EngineError::failed("the HTTP server", "serve a request", why.to_string())
}

/// Commits rows as they come, until nobody posts any. What it is given goes with it, so that after an
/// error no connection waits for an answer.
fn commit(
    posted: Receiver<Posted>,
    answers: Vec<SyncSender<Box<Record>>>,
    store: &mut dyn Telemetry,
    served: &mut Served,
) -> Result<()> {
    for Posted { mut record, from } in posted {
        served.arrived.push(Known::of(&record));
        record.event.id = served.arrived.len() as i64;
        served.stored += store.insert_one(&record)?;
        // A connection waits for its row.
        let _ = answers[from].send(record);
    }
    Ok(())
}

/// One connection, on a thread of its own.
struct Connection<'a> {
    from: usize,
    stream: &'a TcpStream,
    requests: Incoming<&'a TcpStream>,
    post: SyncSender<Posted>,
    committed: Receiver<Box<Record>>,
    /// Room for a row.
    free: Option<Box<Record>>,
}

/// Why no further request is served.
enum End {
    /// The client has no more, or the store takes no more.
    Closed,
    Failed(io::Error),
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

impl Connection<'_> {
    fn serve(mut self, mut meter: Meter) -> (Meter, io::Result<()>) {
        let nothing = Event { id: 0, timestamp: 0, data: Payload::Co2 { co2: 0.0 } };
        self.free = Some(Box::new(Record::of(nothing)));
        meter.start();
        let ended = meter.each(u64::MAX, |_| self.row());
        meter.stop();
        // The client may wait for an answer that never comes.
        let _ = self.stream.shutdown(Shutdown::Both);
        match ended {
            Ok(_) | Err(End::Closed) => (meter, Ok(())),
            Err(End::Failed(error)) => (meter, Err(error)),
        }
    }

    /// One request: from when the one before was answered to when it is.
    fn row(&mut self) -> std::result::Result<(), End> {
        let body = self.requests.next(wire::request)?.ok_or(End::Closed)?;
        let mut record = self.free.take().ok_or(End::Closed)?;
        if let Err(error) = wire::read_row(body, &mut record) {
            // Its client ends with it.
            let _ = self.stream.write_all(wire::BAD);
            return Err(error.into());
        }
        self.post.send(Posted { record, from: self.from }).map_err(|_| End::Closed)?;
        self.free = Some(self.committed.recv().map_err(|_| End::Closed)?);
        self.stream.write_all(wire::CREATED)?;
        Ok(())
    }
}
