//! The client: it prepares every request beforehand, and has one thread per connection.

use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde::{Deserialize, Serialize};

use super::wire::{self, Incoming};

/// Task of a client.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Task {
    /// Bodies to post: JSON, one per row.
    pub bodies: Vec<String>,
    /// The server's port.
    pub port: u16,
    /// Connections, each with one request in flight.
    pub connections: usize,
}

/// A client with its requests.
pub(super) struct Poster {
    streams: Vec<TcpStream>,
    /// All requests in sequence, and where each ends.
    requests: Vec<u8>,
    ends: Vec<usize>,
}

impl Poster {
    /// Prepares the requests, and connects. `accepted` returns when the server has accepted the
    /// last connection.
    pub(super) fn connect(
        task: &Task,
        mut accepted: impl FnMut() -> io::Result<()>,
    ) -> io::Result<Self> {
        let (mut requests, mut ends) = (Vec::new(), Vec::new());
        for body in &task.bodies {
            wire::append_request(body, &mut requests)?;
            ends.push(requests.len());
        }
        let connect = |_| {
            let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, task.port))?;
            stream.set_nodelay(true)?;
            accepted().map(|()| stream)
        };
        let streams = (0..task.connections).map(connect).collect::<io::Result<_>>()?;
        Ok(Self { streams, requests, ends })
    }

    /// Posts them in order, each on the first free connection.
    pub(super) fn post_all(&self) -> io::Result<()> {
        let next = AtomicUsize::new(0);
        thread::scope(|scope| {
            let post = |stream| {
                let next = &next;
                scope.spawn(move || self.post(stream, next))
            };
            let posting: Vec<_> = self.streams.iter().map(post).collect();
            posting.into_iter().try_for_each(|posting| {
                posting
                    .join()
                    .unwrap_or_else(|_| Err(io::Error::other("a connection's thread died")))
            })
        })
    }

    /// Posts on one connection until no row is left or the server closes it.
    fn post(&self, mut stream: &TcpStream, next: &AtomicUsize) -> io::Result<()> {
        let mut answers = Incoming::new(stream);
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(&end) = self.ends.get(place) else {
                return stream.shutdown(std::net::Shutdown::Both);
            };
            let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
            let answered = stream
                .write_all(&self.requests[start..end])
                .and_then(|()| answers.next(wire::answer).map(|answer| answer.is_some()));
            match answered {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error) if is_closed(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }
}

/// Returns whether the server has closed a connection, as it does when its time is over.
fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset};
    matches!(error.kind(), BrokenPipe | ConnectionReset)
}
