//! The server: one thread per connection, and one that owns the store and commits their rows,
//! because a store stays in its thread.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use embermark_contract::{EngineError, Result};
use embermark_meter::Meter;

use super::wire::{self, Incoming};

/// Returns the number of the row in the body of a request.
type Read<'a> = dyn Fn(&[u8]) -> io::Result<usize> + Sync + 'a;

/// Commits the row with a number.
type Commit<'a> = dyn FnMut(usize) -> Result<()> + 'a;

/// The number of a row for the store, and the connection that waits for its commit.
struct Posted {
    row: usize,
    from: usize,
}

/// Serves connections until all are closed or their meters' time is over. A row is answered after
/// its commit. Returns the measurements of each connection.
///
/// # Errors
/// Returns the store's error, or that of a request that is not a row.
pub(crate) fn serve(
    streams: &[TcpStream],
    read: &Read<'_>,
    commit_one: &mut Commit<'_>,
    meter: &Meter,
) -> Result<Vec<Meter>> {
    let (post, posted) = sync_channel(streams.len());
    let (answers, answered): (Vec<_>, Vec<_>) = streams.iter().map(|_| sync_channel(1)).unzip();
    let ended = thread::scope(|scope| {
        let connections = streams.iter().zip(answered).enumerate();
        let serving: Vec<_> = connections
            .map(|(from, (stream, committed))| {
                let (post, meter) = (post.clone(), meter.for_client(None));
                let requests = Incoming::new(stream);
                let connection = Connection { from, stream, requests, read, post, committed };
                scope.spawn(move || connection.serve(meter))
            })
            .collect();
        drop(post);
        let committed = commit(posted, answers, commit_one);
        let mut ended = Vec::with_capacity(serving.len());
        for serving in serving {
            ended.push(serving.join().map_err(|_| refused("a connection's thread died"))?);
        }
        committed.map(|()| ended)
    })?;
    ended.into_iter().map(|(meter, ended)| ended.map(|()| meter).map_err(refused)).collect()
}

fn refused(why: impl ToString) -> EngineError {
    EngineError::failed("the HTTP server", "serve a request", why.to_string())
}

/// Commits rows as they arrive, until all connections are closed. It owns the channels, so that after an
/// error no connection waits for an answer.
fn commit(
    posted: Receiver<Posted>,
    answers: Vec<SyncSender<()>>,
    commit: &mut Commit<'_>,
) -> Result<()> {
    for Posted { row, from } in posted {
        commit(row)?;
        // The connection waits for its row.
        let _ = answers[from].send(());
    }
    Ok(())
}

/// A connection, which has its own thread.
struct Connection<'a> {
    from: usize,
    stream: &'a TcpStream,
    requests: Incoming<&'a TcpStream>,
    read: &'a Read<'a>,
    post: SyncSender<Posted>,
    committed: Receiver<()>,
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

impl Connection<'_> {
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
        let row = (self.read)(body).inspect_err(|_| {
            // The client ends with its connection.
            let _ = self.stream.write_all(wire::BAD);
        })?;
        self.post.send(Posted { row, from: self.from }).map_err(|_| End::Closed)?;
        self.committed.recv().map_err(|_| End::Closed)?;
        self.stream.write_all(wire::CREATED)?;
        Ok(())
    }
}
