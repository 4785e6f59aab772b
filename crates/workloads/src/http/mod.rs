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
use client::{Poster, Task};
pub(crate) use server::{Served, Service, serve};

/// Role of the process that posts rows.
pub(crate) const CLIENT: &str = "http-client";

/// Message of a client that is connected and has prepared its requests.
const READY: &str = "ready";

fn failed(doing: &'static str) -> impl FnOnce(io::Error) -> EngineError {
    move |error| EngineError::failed("the HTTP client's process", doing, error)
}

/// A client that is connected and has prepared its requests. Its process is killed when this is
/// dropped.
pub(crate) struct Client {
    child: Child,
    _out: BufReader<ChildStdout>,
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
        let companions = companions.ok_or_else(|| {
            EngineError::unsupported("this program", "starting processes that take part in a phase")
        })?;
        let begin = |error| failed("start")(error);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(begin)?;
        let port = listener.local_addr().map_err(begin)?.port();
        let task = Task { bodies, port, connections };
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
        // The connections wait in the listener's queue.
        for _ in 0..connections {
            let (stream, _) = listener.accept().map_err(begin)?;
            stream.set_nodelay(true).map_err(begin)?;
            client.streams.push(stream);
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

/// Lets a client post its rows while `work` serves its connections, each with its own meter.
/// `meter` gathers them. Returns the number of rows that the engine reports.
///
/// # Errors
/// Returns the error of `work`, or an error if the client ends too early.
pub(crate) fn insert(
    mut client: Client,
    rows: usize,
    meter: &mut Meter,
    work: impl FnOnce(&[TcpStream], &Meter) -> Result<Served>,
) -> Result<u64> {
    meter.start();
    let served = client.go().and_then(|()| work(&client.streams, meter));
    meter.stop();
    let Served { stored, meters } = served?;
    client.end()?;
    meter.merge_clients(&meters);
    let Measured { ops, capped, .. } = meter.measured();
    if ops == rows as u64 || capped {
        return Ok(stored);
    }
    let why = io::Error::other(format!("it posted {ops} rows of {rows}"));
    Err(failed("post its rows")(why))
}

/// Posts rows as the task says, once a line arrives on standard input.
///
/// # Errors
/// Fails when the server cannot be reached or gives another answer than expected.
pub(crate) fn client(task: &str, mut out: File) -> std::result::Result<(), Box<dyn Error>> {
    let poster = Poster::connect(&serde_json::from_str(task)?)?;
    writeln!(out, "{READY}")?;
    let mut go = String::new();
    // Without a line the parent is gone.
    if io::stdin().lock().read_line(&mut go)? > 0 {
        poster.post_all()?;
    }
    Ok(())
}
