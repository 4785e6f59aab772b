//! A Node.js program beside this one that inserts rows and counts them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use embermark_contract::{EngineError, NodeClient, Result};
use embermark_model::table::Value;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::super::cell::Rows;
use crate::Companions;

/// The role of its process.
pub(in super::super) const ROLE: &str = "client";

/// The program.
const DRIVER: &str = include_str!("driver.mjs");

/// What the program is told to do.
#[derive(Serialize)]
struct Task<'a> {
    module: &'a str,
    connection: Object,
    table: &'a str,
    key: &'a str,
    rows: Vec<Object>,
    /// In one commit.
    together: bool,
    /// After which no further row is begun.
    most_ns: Option<u64>,
}

type Object = serde_json::Map<String, serde_json::Value>;

/// A row as an object: what is absent is null.
fn object(rows: &Rows, place: usize) -> Object {
    let columns = rows.table.columns.iter().zip(rows.row(place));
    let value = |value| match value {
        Value::Null | Value::Bytes(_) => serde_json::Value::Null,
        Value::Int(value) => value.into(),
        Value::Float(value) => value.into(),
        Value::Text(text) => text.into(),
    };
    columns.map(|(column, of)| (column.name.clone(), value(of))).collect()
}

/// What it answers, or why it cannot.
#[derive(Deserialize)]
#[serde(untagged)]
enum Word<T> {
    Failed { error: String },
    Said(T),
}

#[derive(Deserialize)]
struct Version {
    version: String,
}

/// What it did, and how long that took by its own clock.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(in super::super) struct Done {
    pub inserted: u64,
    pub counted: u64,
    pub ns: u64,
}

/// The process. It is over when this is dropped.
pub(in super::super) struct NodeProcess {
    child: Child,
    out: BufReader<ChildStdout>,
    /// Node.js and the client, with their versions.
    pub version: String,
}

fn failed(doing: &'static str) -> impl FnOnce(io::Error) -> EngineError {
    move |error| EngineError::failed("the Node.js program", doing, error)
}

impl NodeProcess {
    /// Starts the program and has it open the database.
    pub(in super::super) fn start(
        companions: &dyn Companions,
        client: &NodeClient,
        rows: &Rows,
        together: bool,
        most: Option<Duration>,
    ) -> Result<Self> {
        let program = client.program.to_string_lossy();
        let mut child = companions.start(ROLE, &program, None).map_err(failed("start"))?;
        let out = child.stdout.take();
        let out = out.ok_or_else(|| failed("start")(io::Error::other("it has no output")))?;
        let mut process = Self { child, out: BufReader::new(out), version: String::new() };
        // Not before it reads its standard input itself.
        let node: Version = process.answer("start")?;
        let text = |(name, text): &(&str, String)| ((*name).to_owned(), text.as_str().into());
        process.tell(&Task {
            module: client.module,
            connection: client.connection.iter().map(text).collect(),
            table: &rows.table.name,
            key: &rows.table.columns[rows.table.key[0]].name,
            rows: (0..rows.loaded).map(|place| object(rows, place)).collect(),
            together,
            most_ns: most.map(|most| most.as_nanos() as u64),
        })?;
        let client: Version = process.answer("open the database")?;
        process.version = format!("Node.js {}, {}", node.version, client.version);
        Ok(process)
    }

    pub(in super::super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Has it insert and count.
    pub(in super::super) fn go(&mut self) -> Result<Done> {
        self.tell(&"go")?;
        self.answer("insert and count")
    }

    /// Has it close the database and end.
    pub(in super::super) fn end(mut self) -> Result<()> {
        self.child.stdin = None;
        let status = self.child.wait().map_err(failed("end"))?;
        if status.success() {
            return Ok(());
        }
        Err(failed("close the database")(io::Error::other(format!("it ended with {status}"))))
    }

    fn tell(&mut self, what: &impl Serialize) -> Result<()> {
        let doing = "hear what to do";
        let mut line = serde_json::to_vec(what).map_err(|e| failed(doing)(e.into()))?;
        line.push(b'\n');
        let stdin = self.child.stdin.as_mut();
        stdin.map_or(Ok(()), |stdin| stdin.write_all(&line)).map_err(failed(doing))
    }

    fn answer<T: DeserializeOwned>(&mut self, doing: &'static str) -> Result<T> {
        let mut line = String::new();
        let read = self.out.read_line(&mut line).map_err(failed(doing))?;
        if read == 0 {
            let ended = self.child.wait().map(|status| format!("it ended with {status}"));
            return Err(failed(doing)(ended.map_or_else(|error| error, io::Error::other)));
        }
        match serde_json::from_str(&line) {
            Ok(Word::Said(said)) => Ok(said),
            Ok(Word::Failed { error }) => Err(failed(doing)(io::Error::other(error))),
            Err(_) => Err(failed(doing)(io::Error::other(format!("it said {}", line.trim())))),
        }
    }
}

impl Drop for NodeProcess {
    fn drop(&mut self) {
        // One that has ended is not hit.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Makes this process the Node.js program; returns only where it cannot be started.
pub(in super::super) fn become_program(node: &str, out: File) -> io::Error {
    let mut command = Command::new(node);
    command.args(["--input-type=module", "--eval", DRIVER]).stdout(Stdio::from(out)).exec()
}
