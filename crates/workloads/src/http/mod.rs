//! Rows that arrive over HTTP: a small server in this process in front of the store, and a client
//! in its own process.

mod client;
mod server;
#[cfg(test)]
mod tests;
mod wire;

use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, ChildStdout};

use embermark_contract::{EngineError, Result};
use embermark_meter::{Measured, Meter};

use crate::Companions;
use crate::observer::no_companions;
use client::{Poster, Task};
pub(crate) use server::serve;

/// Role of the process that posts rows.
pub(crate) const CLIENT: &str = "http-client";

/// Message of a client after each of its connections. It makes the next one when it receives a
/// line, because the kernel queues only a limited number of connections that are not accepted yet:
/// 128 for a listener of the standard library, and never more than `net.core.somaxconn`
/// (`listen(2)`).
const CONNECTED: &str = "connected";

/// Message of a client that has all connections and has prepared its requests.
const READY: &str = "ready";

fn failed(doing: &'static str) -> impl FnOnce(io::Error) -> EngineError {
    move |error| EngineError::failed("the HTTP client's process", doing, error)
}

/// A client that is connected and has prepared its requests. Its process is killed when this is
/// dropped.
pub(crate) struct Client {
    child: Child,
    /// Its messages.
    out: BufReader<ChildStdout>,
    /// The server's ends of the connections.
    streams: Vec<TcpStream>,
}

impl Client {
    /// Starts a client that will post these rows, given as JSON, to a free port of 127.0.0.1 over
    /// this many connections, each with one request in flight. Waits until it is ready.
    pub(crate) fn start(
        companions: Option<&dyn Companions>,
        bodies: Vec<String>,
        connections: usize,
    ) -> Result<Self> {
        let companions = companions.ok_or_else(no_companions)?;
        let begin = |error| failed("start")(error);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(begin)?;
        let port = listener.local_addr().map_err(begin)?.port();
        let task = Task { bodies, port, connections };
        let task = serde_json::to_string(&task).map_err(io::Error::other).map_err(begin)?;
        let mut child = companions.start(CLIENT, &task, None).map_err(begin)?;
        let out = child.stdout.take();
        let out = out.ok_or_else(|| begin(io::Error::other("it has no output")))?;
        let mut client = Self { child, out: BufReader::new(out), streams: Vec::new() };
        let go_on = client.child.stdin.as_mut();
        let go_on = go_on.ok_or_else(|| begin(io::Error::other("it has no input")))?;
        match accept(&listener, connections, &mut client.out, go_on).map_err(begin)? {
            Some(streams) => client.streams = streams,
            None => return Err(client.died()),
        }
        Ok(client)
    }

    /// Starts the client's requests.
    fn go(&mut self) -> Result<()> {
        let told = self.child.stdin.as_mut().map_or(Ok(()), |stdin| stdin.write_all(b"\n"));
        told.map_err(failed("begin"))
    }

    /// Waits for the client's process to end, after every row is answered or its connections are closed.
    fn end(mut self) -> Result<()> {
        self.streams.clear();
        match self.child.wait() {
            Ok(status) if status.success() => Ok(()),
            _ => Err(self.died()),
        }
    }

    fn died(&mut self) -> EngineError {
        failed("post its rows")(match self.child.wait() {
            Ok(status) => {
                io::Error::other(format!("it ended with {status}; its log has the reason"))
            }
            Err(error) => error,
        })
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // A process that has ended cannot be hit.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Accepts the connections of a client, each before the client makes the next one. The client's
/// messages are `messages`. A line to `go_on` lets it continue. Returns `None` if it ends first.
fn accept(
    listener: &TcpListener,
    connections: usize,
    mut messages: impl BufRead,
    mut go_on: impl Write,
) -> io::Result<Option<Vec<TcpStream>>> {
    let mut line = String::new();
    let mut receives = |message: &str| {
        line.clear();
        messages.read_line(&mut line).map(|_| line.trim_end() == message)
    };
    let mut streams = Vec::with_capacity(connections);
    for _ in 0..connections {
        if !receives(CONNECTED)? {
            return Ok(None);
        }
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        streams.push(stream);
        if go_on.write_all(b"\n").is_err() {
            return Ok(None);
        }
    }
    Ok(receives(READY)?.then_some(streams))
}

/// Reports a connection, and waits until the server has accepted it.
fn accepted(mut out: impl Write, mut input: impl BufRead) -> io::Result<()> {
    writeln!(out, "{CONNECTED}")?;
    match input.read_line(&mut String::new())? {
        0 => Err(io::Error::other("the process that accepts connections has ended")),
        _ => Ok(()),
    }
}

/// Lets a client post its rows while `work` serves its connections, each with its own meter.
/// `meter` gathers them.
///
/// # Errors
/// Returns the error of `work`, or an error if the client ends too early.
pub(crate) fn insert(
    mut client: Client,
    rows: usize,
    meter: &mut Meter,
    work: impl FnOnce(&[TcpStream], &Meter) -> Result<Vec<Meter>>,
) -> Result<()> {
    meter.start();
    let served = client.go().and_then(|()| work(&client.streams, meter));
    meter.stop();
    let meters = served?;
    client.end()?;
    meter.merge_clients(&meters);
    let Measured { ops, capped, .. } = meter.measured();
    if ops == rows as u64 || capped {
        return Ok(());
    }
    let why = io::Error::other(format!("it posted {ops} rows of {rows}"));
    Err(failed("post its rows")(why))
}

/// Posts rows as the task says, once a line arrives on standard input.
///
/// # Errors
/// Fails when the server cannot be reached or gives another answer than expected.
pub(crate) fn client(task: &str, mut out: File) -> std::result::Result<(), Box<dyn Error>> {
    let mut input = io::stdin().lock();
    let poster = Poster::connect(&serde_json::from_str(task)?, || accepted(&mut out, &mut input))?;
    writeln!(out, "{READY}")?;
    let mut go = String::new();
    // Without a line the parent is gone.
    if input.read_line(&mut go)? > 0 {
        poster.post_all()?;
    }
    Ok(())
}
