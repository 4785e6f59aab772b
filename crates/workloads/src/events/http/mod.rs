//! Rows that come over HTTP: a small server in this process with the store behind it, and a client in
//! a process of its own.

mod client;
mod server;
#[cfg(test)]
mod tests;
mod wire;

use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, ChildStdout};

use embermark_contract::{EngineError, Result};
use embermark_data::events::Event;
use embermark_meter::{Measured, Meter};
use embermark_model::answer::Difference;

use super::port::{Record, Telemetry};
use crate::Companions;
use client::{Poster, Task};
pub(super) use server::Known;
use server::{Served, serve};

/// The role of the process that posts rows.
pub(super) const CLIENT: &str = "http-client";

/// Requests in flight, each on a connection that is kept open: those of the source's client.
const CONNECTIONS: usize = 10;

/// What the client says when it is connected and has made its requests.
const READY: &str = "ready";

fn failed(doing: &'static str) -> impl FnOnce(io::Error) -> EngineError {
    move |error| EngineError::failed("the HTTP client's process", doing, error)
}

/// A client that is connected and has made its requests. Its process is over when this is dropped.
pub(super) struct Client {
    child: Child,
    _out: BufReader<ChildStdout>,
    /// The server's ends of its connections.
    streams: Vec<TcpStream>,
}

impl Client {
    /// Starts one that will post so many rows, made from a seed, to a port of 127.0.0.1 that nobody else
    /// has, and waits until it is ready.
    pub(super) fn start(
        companions: Option<&dyn Companions>,
        rows: usize,
        seed: u64,
    ) -> Result<Self> {
        let companions = companions.ok_or_else(|| {
            EngineError::unsupported("this program", "starting processes that take part in a phase")
        })?;
        let begin = |error| failed("start")(error);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(begin)?;
        let port = listener.local_addr().map_err(begin)?.port();
        let task = Task { rows: rows as u64, seed, port, connections: CONNECTIONS };
        let task = serde_json::to_string(&task).map_err(io::Error::other).map_err(begin)?;
        let mut child = companions.start(CLIENT, &task, None).map_err(begin)?;
        let out = child.stdout.take();
        let out = out.ok_or_else(|| begin(io::Error::other("it has no output")));
        let (mut line, mut out) = (String::new(), BufReader::new(out?));
        out.read_line(&mut line).map_err(begin)?;
        let mut client = Self { child, _out: out, streams: Vec::new() };
        if line.trim_end() != READY {
            return Err(client.died());
        }
        // They wait in the listener's queue.
        for _ in 0..CONNECTIONS {
            let (stream, _) = listener.accept().map_err(begin)?;
            stream.set_nodelay(true).map_err(begin)?;
            client.streams.push(stream);
        }
        Ok(client)
    }

    /// Has it begin.
    pub(super) fn go(&mut self) -> Result<()> {
        let told = self.child.stdin.as_mut().map_or(Ok(()), |stdin| stdin.write_all(b"\n"));
        told.map_err(failed("begin"))
    }

    /// Waits for its end, which comes when every row was answered or its connections are closed.
    pub(super) fn end(mut self) -> Result<()> {
        self.streams.clear();
        match self.child.wait() {
            Ok(status) if status.success() => Ok(()),
            _ => Err(self.died()),
        }
    }

    fn died(&mut self) -> EngineError {
        failed("post its rows")(match self.child.wait() {
            Ok(status) => io::Error::other(format!("it ended with {status}; its log says why")),
            Err(error) => error,
        })
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // One that has ended is not hit.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Inserts the rows that a client posts, each committed before it is answered; how many the engine says
/// there were, and what they are known by. Each connection has a meter of its own, and `meter` gathers
/// them.
///
/// # Errors
/// The store's, and where the client ends before its time.
pub(super) fn insert(
    mut client: Client,
    store: &mut dyn Telemetry,
    rows: usize,
    meter: &mut Meter,
) -> Result<(u64, Vec<Known>)> {
    meter.start();
    let served = client.go().and_then(|()| serve(&client.streams, rows, store, meter));
    meter.stop();
    let Served { stored, arrived, meters } = served?;
    client.end()?;
    meter.gather(&meters);
    let Measured { ops, capped, .. } = meter.measured();
    if ops == rows as u64 || capped {
        return Ok((stored, arrived));
    }
    let why = io::Error::other(format!("it posted {ops} rows of {rows}"));
    Err(failed("post its rows")(why))
}

/// The events in the order in which they came.
///
/// # Errors
/// When one came that nobody posted, or twice.
pub(super) fn in_order<'a>(
    records: &'a [Record],
    arrived: &[Known],
) -> std::result::Result<Vec<&'a Event>, Difference> {
    let mut posted: HashMap<Known, Vec<&Event>> = HashMap::with_capacity(records.len());
    for record in records {
        posted.entry(Known::of(record)).or_default().push(&record.event);
    }
    let came = arrived.iter().enumerate().map(|(place, known)| {
        let event = posted.get_mut(known).and_then(Vec::pop);
        event.ok_or_else(|| {
            Difference(format!("the row that came as number {} was not posted", place + 1))
        })
    });
    came.collect()
}

/// Posts rows as the task says, once a line comes on standard input.
///
/// # Errors
/// When the server is not reached, or answers otherwise than it should.
pub(super) fn client(task: Task, mut out: File) -> std::result::Result<(), Box<dyn Error>> {
    let poster = Poster::connect(&task)?;
    writeln!(out, "{READY}")?;
    let mut go = String::new();
    // Without a line nobody is there any more.
    if io::stdin().lock().read_line(&mut go)? > 0 {
        poster.post_all()?;
    }
    Ok(())
}
