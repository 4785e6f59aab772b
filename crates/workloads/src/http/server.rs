//! The server: one thread per connection, and one that owns the store and commits their rows,
//! because a store stays in its thread.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use embermark_contract::{EngineError, Result};
use embermark_meter::Meter;

use super::wire::{self, Incoming};

/// Parses and commits rows for a server, each in reused memory.
pub(crate) struct Service<'a, R> {
    /// Parses the body of a request.
    pub read: &'a (dyn Fn(&[u8], &mut R) -> io::Result<()> + Sync),
    /// Commits a row. Returns the number that the engine reports.
    pub commit: &'a mut dyn FnMut(&mut R) -> Result<u64>,
    /// Creates memory for a row.
    pub room: &'a dyn Fn() -> R,
}

/// Rows that were committed as they arrived.
pub(crate) struct Served {
    /// Rows that the engine reports.
    pub stored: u64,
    /// Measurements of each connection.
    pub meters: Vec<Meter>,
}

/// A row for the store, with the connection that waits for its commit.
struct Posted<R> {
    row: Box<R>,
    from: usize,
}

/// Serves connections until all are closed or their meters' time is over. A row is answered after
/// its commit.
///
/// # Errors
/// Returns the store's error, or that of a request that is not a row.
pub(crate) fn serve<R: Send>(
    streams: &[TcpStream],
    service: Service<'_, R>,
    meter: &Meter,
) -> Result<Served> {
    let Service { read, commit: commit_one, room } = service;
    let (post, posted) = sync_channel::<Posted<R>>(streams.len());
    let (answers, answered): (Vec<_>, Vec<_>) = streams.iter().map(|_| sync_channel(1)).unzip();
    let (stored, ended) = thread::scope(|scope| {
        let connections = streams.iter().zip(answered).enumerate();
        let serving: Vec<_> = connections
            .map(|(from, (stream, committed))| {
                let (post, meter) = (post.clone(), meter.for_client(None));
                let (requests, free) = (Incoming::new(stream), Some(Box::new(room())));
                let connection = Connection { from, stream, requests, read, post, committed, free };
                scope.spawn(move || connection.serve(meter))
            })
            .collect();
        drop(post);
        let stored = commit(posted, answers, commit_one);
        let mut ended = Vec::with_capacity(serving.len());
        for serving in serving {
            ended.push(serving.join().map_err(|_| refused("a connection's thread died"))?);
        }
        stored.map(|stored| (stored, ended))
    })?;
    let mut meters = Vec::with_capacity(ended.len());
    for (meter, ended) in ended {
        ended.map_err(refused)?;
        meters.push(meter);
    }
    Ok(Served { stored, meters })
}

fn refused(why: impl ToString) -> EngineError {
    EngineError::failed("the HTTP server", "serve a request", why.to_string())
}

/// Commits rows as they arrive, until all connections are closed. It owns the channels, so that after an
/// error no connection waits for an answer.
fn commit<R>(
    posted: Receiver<Posted<R>>,
    answers: Vec<SyncSender<Box<R>>>,
    commit: &mut dyn FnMut(&mut R) -> Result<u64>,
) -> Result<u64> {
    let mut stored = 0;
    for Posted { mut row, from } in posted {
        stored += commit(&mut row)?;
        // The connection waits for its row.
        let _ = answers[from].send(row);
    }
    Ok(stored)
}

/// A connection, which has its own thread.
struct Connection<'a, R> {
    from: usize,
    stream: &'a TcpStream,
    requests: Incoming<&'a TcpStream>,
    read: &'a (dyn Fn(&[u8], &mut R) -> io::Result<()> + Sync),
    post: SyncSender<Posted<R>>,
    committed: Receiver<Box<R>>,
    /// Memory for a row.
    free: Option<Box<R>>,
}

/// Why a connection stops serving requests.
enum End {
    /// The client has no more rows, or the store takes no more.
    Closed,
    Failed(io::Error),
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

impl<R> Connection<'_, R> {
    fn serve(mut self, mut meter: Meter) -> (Meter, io::Result<()>) {
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

    /// Serves one request: from the answer to the one before to its own.
    fn row(&mut self) -> std::result::Result<(), End> {
        let body = self.requests.next(wire::request)?.ok_or(End::Closed)?;
        let mut row = self.free.take().ok_or(End::Closed)?;
        if let Err(error) = (self.read)(body, &mut row) {
            // The client ends with its connection.
            let _ = self.stream.write_all(wire::BAD);
            return Err(error.into());
        }
        self.post.send(Posted { row, from: self.from }).map_err(|_| End::Closed)?;
        self.free = Some(self.committed.recv().map_err(|_| End::Closed)?);
        self.stream.write_all(wire::CREATED)?;
        Ok(())
    }
}
