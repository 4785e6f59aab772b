//! A program in another language, in its own process.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Stdio};

use embermark_contract::{ConnectionParameters, EngineError, Result};
use nix::sys::memfd::{MFdFlags, memfd_create};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use crate::operations::Shape;
use crate::{Answers, Command, Operations, Program};

/// The first line of a program, with the version of its protocol.
#[derive(Deserialize)]
struct Greeting {
    protocol: u32,
}

/// Version of the protocol in docs/client-protocol.md.
const PROTOCOL: u32 = 1;

/// Answer of a program, or why it cannot answer.
#[derive(Deserialize)]
#[serde(untagged)]
enum Reply<T> {
    Failed { error: String },
    Unsupported { unsupported: String },
    Answer(T),
}

#[derive(Deserialize)]
struct Loaded {
    /// The language and the package, with their versions.
    version: String,
}

#[derive(Deserialize)]
struct Opened {
    /// Settings that the package reported.
    #[serde(default)]
    settings: Map<String, serde_json::Value>,
}

/// An answer without content.
#[derive(Deserialize)]
struct Nothing {}

/// How a run is executed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Run {
    /// Whether the operations, which are only reads, are done once before the clock starts.
    pub warm_up: bool,
    /// Repeats the operations until this time has passed. `None`: they are done once.
    pub repeat_ns: Option<u64>,
    /// Time after which no further operation begins.
    pub most_ns: Option<u64>,
}

/// Measurements of a run by the program's own clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Done {
    /// From before the first operation until the end of the last commit.
    pub elapsed_ns: u64,
    /// Number of operations done.
    pub operations: u64,
    /// Whether it ended because of [`Run::most_ns`].
    pub capped: bool,
}

impl Run {
    /// Returns how many times a run that was not capped did its `given` operations.
    ///
    /// # Errors
    /// If the program says that it did a part of them, or repeated what is done once: its time
    /// would be divided by a wrong number.
    pub fn repetitions(self, done: Done, given: u64) -> Result<u64> {
        let (times, rest) = (done.operations / given, done.operations % given);
        if rest != 0 || times == 0 || (times > 1 && self.repeat_ns.is_none()) {
            let repeated = if self.repeat_ns.is_some() { ", each time all of them" } else { "" };
            let why = format!("it counts {}, and was given {given}{repeated}", done.operations);
            return Err(failed("do its operations", why));
        }
        Ok(times)
    }
}

/// The process, which ends when this is dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    out: BufReader<ChildStdout>,
    /// The language and the package that were used, with their versions.
    pub version: String,
    /// Nanoseconds of an empty operation: the program's own share of each time.
    pub floor_ns: f64,
    answers: Option<(File, Shape)>,
}

impl Process {
    /// Makes a started program load the package for an engine.
    ///
    /// # Errors
    /// If it does not start, speaks another protocol, or lacks the package.
    pub fn load(mut child: Child, program: &Program) -> Result<Self> {
        let out = child.stdout.take();
        let out = out.ok_or_else(|| failed("start", "it has no output"))?;
        let (version, floor_ns, answers) = (String::new(), 0.0, None);
        let mut process = Self { child, out: BufReader::new(out), version, floor_ns, answers };
        // Not before it reads its standard input itself.
        let Greeting { protocol } = process.answer("start")?;
        if protocol != PROTOCOL {
            let what = format!(
                "it uses version {protocol} of the protocol, and embermark uses version {PROTOCOL}"
            );
            return Err(failed("start", what));
        }
        let binding = program.binding.map(|of| json!({ "name": of.package, "source": of.source }));
        process.send(&json!({
            "do": "load",
            "engine": program.engine,
            "binding": binding,
            "packages": program.packages,
        }))?;
        let said: Result<Loaded> = process.answer("load its package");
        process.version = said.map_err(|error| program.lacking(error))?.version;
        // The first time compiles it, in languages that do so.
        process.floor_ns = process.floor().and_then(|first| Ok(first.min(process.floor()?)))?;
        Ok(process)
    }

    /// Returns its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Makes it open the database. Returns the settings with these names that it read back.
    ///
    /// # Errors
    /// If it cannot.
    pub fn open(
        &mut self,
        connection: &ConnectionParameters,
        read_back: &[String],
    ) -> Result<Vec<(String, String)>> {
        let values: Map<_, _> = connection
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.as_str().into()))
            .collect();
        self.send(&json!({ "do": "open", "connection": values, "read_back": read_back }))?;
        let Opened { settings } = self.answer("open the database")?;
        let text = |value: serde_json::Value| match value {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        };
        Ok(settings.into_iter().map(|(name, value)| (name, text(value))).collect())
    }

    /// Gives it the operations, which it converts to values of its own language.
    ///
    /// # Errors
    /// If it cannot read them, or its package does not support them.
    pub fn prepare(&mut self, operations: &Operations, expected: &str, run: Run) -> Result<()> {
        let doing = "receive its operations";
        let wrong = |error: io::Error| failed(doing, error);
        // In memory: on a disk they would be counted as the engine's writes.
        let file = |name| memfd_create(name, MFdFlags::MFD_CLOEXEC).map(File::from);
        let given = file(c"embermark-operations").map_err(|error| wrong(error.into()))?;
        let answers = file(c"embermark-answers").map_err(|error| wrong(error.into()))?;
        let mut to = BufWriter::new(&given);
        operations.write(&mut to).and_then(|()| to.flush()).map_err(wrong)?;
        let path = |file: &File| format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
        self.send(&json!({
            "do": "prepare",
            "operations": path(&given),
            "answers": path(&answers),
            "statements": operations.statements,
            "tables": operations.tables,
            "expected": expected,
            "warm_up": run.warm_up,
            "repeat_ns": run.repeat_ns,
        }))?;
        let Nothing {} = self.answer(doing)?;
        self.answers = Some((answers, operations.shape()));
        Ok(())
    }

    /// Makes it do the operations.
    ///
    /// # Errors
    /// If one fails.
    pub fn go(&mut self, run: Run) -> Result<Done> {
        self.send(&json!({ "do": "go", "most_ns": run.most_ns }))?;
        self.answer("do its operations")
    }

    /// Makes it return its answers.
    ///
    /// # Errors
    /// If the file does not hold answers to the recorded operations.
    pub fn answers(&mut self) -> Result<Answers> {
        let doing = "hand over its answers";
        self.send(&json!({ "do": "answer" }))?;
        let Nothing {} = self.answer(doing)?;
        let (mut file, shape) =
            self.answers.take().ok_or_else(|| failed(doing, "it has no operations"))?;
        let mut bytes = Vec::new();
        let read = file.rewind().and_then(|()| file.read_to_end(&mut bytes));
        read.map_err(|error| failed(doing, error))?;
        Answers::new(bytes, shape)
    }

    /// Makes it close the database.
    ///
    /// # Errors
    /// If it cannot.
    pub fn close(&mut self) -> Result<()> {
        self.send(&json!({ "do": "close" }))?;
        self.answer("close the database").map(|Nothing {}| ())
    }

    fn floor(&mut self) -> Result<f64> {
        const EMPTY: u64 = 100_000;
        self.send(&json!({ "do": "floor", "operations": EMPTY }))?;
        let Done { elapsed_ns, operations, .. } = self.answer("do nothing")?;
        Ok(elapsed_ns as f64 / operations.max(1) as f64)
    }

    /// Makes it end.
    ///
    /// # Errors
    /// If it ends without success.
    pub fn end(mut self) -> Result<()> {
        self.child.stdin = None;
        let status = self.child.wait().map_err(|error| failed("end", error))?;
        if status.success() {
            return Ok(());
        }
        Err(failed("end", format!("it ended with {status}")))
    }

    fn send(&mut self, what: &impl Serialize) -> Result<()> {
        let doing = "receive a request";
        let mut line = serde_json::to_vec(what).map_err(|e| failed(doing, e))?;
        line.push(b'\n');
        let stdin = self.child.stdin.as_mut();
        let told = stdin.map_or(Ok(()), |stdin| stdin.write_all(&line));
        told.or_else(|error| self.ended(doing, error))
    }

    fn answer<T: DeserializeOwned>(&mut self, doing: &'static str) -> Result<T> {
        let mut line = String::new();
        let read = self.out.read_line(&mut line).map_err(|e| failed(doing, e))?;
        if read == 0 {
            return self.ended(doing, "its output ended");
        }
        match serde_json::from_str(&line) {
            Ok(Reply::Answer(said)) => Ok(said),
            Ok(Reply::Unsupported { unsupported }) => Err(EngineError::impossible(unsupported)),
            Ok(Reply::Failed { error }) => Err(failed(doing, error)),
            Err(_) => {
                let said: String = line.trim().chars().take(200).collect();
                Err(failed(doing, format!("it answered {said:?}")))
            }
        }
    }

    /// Makes the error for a program that ended too early, with how it ended.
    fn ended<T>(&mut self, doing: &str, why: impl ToString) -> Result<T> {
        let _ = self.child.kill();
        let why = why.to_string();
        let ended = self.child.wait().map_or(why, |status| format!("it ended with {status}"));
        Err(failed(doing, ended))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Has no effect if it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn failed(doing: &str, why: impl ToString) -> EngineError {
    EngineError::failed("the client", doing, why)
}

/// Replaces this process by a program, as described by [`Program::task`]. Returns only if that
/// cannot be started.
pub fn become_program(task: &str, out: File) -> io::Error {
    let Command { program, arguments } = match serde_json::from_str(task) {
        Ok(command) => command,
        Err(error) => return error.into(),
    };
    std::process::Command::new(program).args(arguments).stdout(Stdio::from(out)).exec()
}
