//! Private servers: each is started as a child process for one database, and ends with it or with
//! its owner.
//!
//! A server runs in its own process group, so an interrupt at the terminal does not reach it before
//! its owner has stopped it. The kernel sends it a signal when its owner dies, in whatever way. Its
//! files and sockets are in its [`Home`], inside the folder that the caller removes.
#![cfg_attr(
    not(all(feature = "postgres", feature = "harperdb")),
    allow(dead_code, reason = "each engine needs its part of it")
)]

mod account;
pub(crate) mod address;
pub(crate) mod engine;
mod home;
mod spawn;
pub(crate) mod template;
#[cfg(test)]
mod tests;
#[cfg(any(feature = "http", feature = "mongodb", feature = "valkey"))]
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

use crate::{EFFECTIVE_DURABILITY, EngineError, Link, OpenOptions, Result, WeakerSettings};
pub(crate) use account::Account;
use embermark_model::Durability;
pub(crate) use home::Home;

/// Intervals between checks of a server that starts or stops.
const POLL_INTERVAL: Duration = Duration::from_millis(2);
const LONGEST_INTERVAL: Duration = Duration::from_millis(50);

/// Pauses before the next check of a server that has been starting or stopping since then: for a
/// hundredth of that time, because each check takes processor time that the server needs.
fn pause(since: Instant) {
    sleep((since.elapsed() / 100).clamp(POLL_INTERVAL, LONGEST_INTERVAL));
}

/// How long a server may take to die after the abort signal.
const ABORT_WITHIN: Duration = Duration::from_secs(10);

/// Returns the error of a client that leaves no log to recover.
pub(crate) fn no_log(engine: &'static str) -> EngineError {
    let what = "recovery with a connection: a server recovers when the server starts";
    EngineError::unsupported(engine, what)
}

/// A program of an engine to run in a [`Home`].
pub(crate) struct ServerSpec<'a> {
    /// Absolute path of the program.
    pub program: &'a Path,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables added to the inherited environment.
    pub env: Vec<(OsString, OsString)>,
    /// Signal that stops it properly.
    pub stop: Signal,
    /// Signal that makes it and its child processes die at once. It is also sent when its owner
    /// dies.
    pub abort: Signal,
    /// How long it may take until its first answer, or until its end if it is a program that ends.
    pub ready_within: Duration,
    /// How long it may take to stop properly.
    pub stop_within: Duration,
    /// Whether it runs in its own network namespace with only a loopback device, where no other
    /// process can reach what it listens on. Unix sockets with a path work across namespaces.
    pub alone: bool,
}

impl<'a> ServerSpec<'a> {
    /// Creates the specification of a program that writes English and uses UTC, whatever the user's
    /// environment is, that stops at SIGTERM, and that has five minutes each to start and to stop: a
    /// slow card and a busy device make either take minutes.
    pub fn new(program: &'a Path, args: Vec<OsString>) -> Self {
        Self {
            program,
            args,
            env: vec![("LC_ALL".into(), "C".into()), ("TZ".into(), "UTC".into())],
            stop: Signal::SIGTERM,
            abort: Signal::SIGKILL,
            ready_within: Duration::from_secs(300),
            stop_within: Duration::from_secs(300),
            alone: false,
        }
    }
}

/// Compares what a server reported with the requested tier. `weaker_settings` returns the settings
/// that are weaker than a tier. For a given server it adds the tier that it keeps, and its cache in
/// bytes.
///
/// # Errors
/// Fails when the server keeps less: a private server has failed, and a given one cannot be used.
pub(crate) fn check_tier(
    engine: &'static str,
    options: &OpenOptions,
    settings: &mut Vec<(String, String)>,
    cache: Option<u64>,
    weaker_settings: impl Fn(Durability, &[(String, String)]) -> Option<WeakerSettings>,
) -> Result<()> {
    let tier = options.durability;
    match (weaker_settings(tier, settings), &options.url) {
        (None, None) => return Ok(()),
        (Some(weaker), None) => return weaker.check_configured(engine, options, settings),
        (Some(why), Some(_)) => {
            let what = format!("a server that does not keep the tier '{tier}': {why}");
            return Err(EngineError::unsupported(engine, what));
        }
        (None, Some(_)) => {}
    }
    let kept =
        Durability::ALL.into_iter().rev().find(|tier| weaker_settings(*tier, settings).is_none());
    let kept = kept.unwrap_or(tier);
    let mut add = |name: &str, value: String| settings.push((name.to_owned(), value));
    add("server", "given by URL".to_owned());
    add(EFFECTIVE_DURABILITY, kept.to_string());
    if let Some(cache) = cache {
        add("cache", cache.to_string());
    }
    Ok(())
}

/// Returns a password of 128 random bits for a private server that listens on TCP. `None` for a
/// socket in a folder closed to others, and in a network namespace of our own, which has no other
/// users.
pub(crate) fn password(engine: &'static str, link: Link) -> Result<Option<String>> {
    let is_closed = link == Link::Socket || embermark_network::is_isolated();
    if is_closed { Ok(None) } else { random(engine).map(Some) }
}

/// Checks that a server may listen on TCP without a password, or on every address: only in a
/// network namespace of our own.
///
/// # Errors
/// Unsupported in a shared network.
pub(crate) fn require_isolated_network(engine: &'static str) -> Result<()> {
    if embermark_network::is_isolated() {
        return Ok(());
    }
    let what = "the loopback address of a network that others share: there it would be reached on \
                every address, or without a password";
    Err(EngineError::unsupported(engine, what))
}

/// Checks that the user of a given server cannot read the server's files, which SQL of a workload
/// file could do. `reads_files` is the server's answer, and `advice` what another user would be.
///
/// # Errors
/// Unsupported if the user can, or if the server does not say.
pub(crate) fn check_user(
    engine: &'static str,
    reads_files: Option<bool>,
    advice: &str,
) -> Result<()> {
    let what = match reads_files {
        Some(false) => return Ok(()),
        Some(true) => format!(
            "SQL of a workload file by a user who may read files of the server: give a URL with a \
             user {advice}"
        ),
        None => {
            "SQL of a workload file on a server that does not say what its user may do".to_owned()
        }
    };
    Err(EngineError::unsupported(engine, what))
}

/// Returns 128 random bits in hexadecimal.
pub(crate) fn random(engine: &'static str) -> Result<String> {
    let mut bytes = [0; 16];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| EngineError::file(engine, "read", "/dev/urandom", error))?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

/// A running server or other program of an engine, and its folder. Dropping it aborts it.
/// [`stop`](Self::stop) is the proper way.
pub(crate) struct Server {
    program: String,
    child: Child,
    status: Option<ExitStatus>,
    stop: Signal,
    abort: Signal,
    stop_within: Duration,
    home: Home,
}

impl Server {
    /// Starts a server and waits until `ready`, a real request, succeeds. Returns its result.
    ///
    /// # Errors
    /// Fails when the program cannot be started, exits, or is not ready in time. The error has the
    /// last lines of its log.
    pub fn start<T>(
        spec: ServerSpec<'_>,
        home: &Home,
        mut ready: impl FnMut(&Home) -> std::result::Result<T, String>,
    ) -> Result<(Self, T)> {
        let (began, within) = (Instant::now(), spec.ready_within);
        let server = Self::spawn(spec, home)?;
        loop {
            match ready(&server.home) {
                Ok(answer) => return Ok((server, answer)),
                Err(_) if server.has_exited() => return Err(server.failed_early("start")),
                Err(last) if began.elapsed() > within => {
                    let why = format!("it gave no answer within {within:?} ({last})");
                    return Err(server.failed("start", &why));
                }
                Err(_) => pause(began),
            }
        }
    }

    /// Returns the process id, which is the root of its process tree.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Stops it properly.
    ///
    /// # Errors
    /// Fails when it had died before, crashed, reports by its status that it failed, or had to be
    /// killed. The error has the last lines of its log.
    pub fn stop(mut self) -> Result<()> {
        if self.has_exited() {
            return Err(self.failed_early("keep"));
        }
        self.signal(self.stop);
        if !self.exits_within(self.stop_within) {
            let why = format!("it did not stop within {:?} and was killed", self.stop_within);
            return Err(self.failed("stop", &why));
        }
        match self.reap() {
            // Killed a moment before, crashed, or failed while stopping, for example because there
            // was no room for its last checkpoint.
            Some(status) if !status.success() && status.signal() != Some(self.stop as i32) => {
                Err(self.failed_early("stop"))
            }
            _ => Ok(()),
        }
    }

    fn spawn(spec: ServerSpec<'_>, home: &Home) -> Result<Self> {
        let ServerSpec { program, args, env, stop, abort, stop_within, alone, .. } = spec;
        let could_not = |e: io::Error| EngineError::file(home.engine, "start", program, e);
        let log = home.log()?;
        let mut command = Command::new(program);
        command.args(args).envs(env).current_dir("/").process_group(0);
        command.stdin(Stdio::null()).stderr(log.try_clone().map_err(could_not)?).stdout(log);
        home.account.run(&mut command);
        let child =
            spawn::tied(command, Arc::clone(&home.handle), alone, abort).map_err(could_not)?;
        let program = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (status, home) = (None, home.clone());
        Ok(Self { program, child, status, stop, abort, stop_within, home })
    }

    fn process(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }

    /// Returns whether it has ended. It is not reaped here, so its process id, and its group's, is
    /// not reused before the rest of the group is gone too.
    fn has_exited(&self) -> bool {
        let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        self.status.is_some()
            || !matches!(waitid(Id::Pid(self.process()), look), Ok(WaitStatus::StillAlive))
    }

    fn exits_within(&self, time: Duration) -> bool {
        let began = Instant::now();
        while !self.has_exited() {
            if began.elapsed() > time {
                return false;
            }
            pause(began);
        }
        true
    }

    /// Sends a signal. To a process that has ended and is not reaped it does nothing, and errors do
    /// not matter.
    fn signal(&self, signal: Signal) {
        if self.status.is_none() {
            let _ = kill(self.process(), signal);
        }
    }

    /// Ends what is left of its process group, and reaps it.
    fn reap(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            let _ = killpg(self.process(), Signal::SIGKILL);
            self.status = self.child.wait().ok();
        }
        self.status
    }

    /// Makes it die, with its own signal first, because a server knows children that have left its
    /// process group.
    fn abort(&mut self) {
        if !self.has_exited() && self.abort != Signal::SIGKILL {
            self.signal(self.abort);
            self.exits_within(ABORT_WITHIN);
        }
        self.reap();
    }

    fn failed_early(mut self, doing: &str) -> EngineError {
        let status = self.reap();
        let is_killed = status.and_then(|s| s.signal()) == Some(Signal::SIGKILL as i32);
        let hint = if is_killed { ", perhaps out of memory (see the kernel's log)" } else { "" };
        let status = status.map_or_else(|| "no status".to_owned(), |s| s.to_string());
        self.failed(doing, &format!("it ended with {status}{hint}"))
    }

    fn failed(mut self, doing: &str, why: &str) -> EngineError {
        self.abort();
        let log = self.home.log.display();
        let lines = self.home.last_log_lines();
        let tail = lines.map(|lines| format!("; last lines of {log}:{lines}")).unwrap_or_default();
        let doing = format!("{doing} its program `{}`", self.program);
        EngineError::failed(self.home.engine, doing, format!("{why}{tail}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.abort();
    }
}

/// Runs a program to its end, such as the one that creates a server's files.
///
/// # Errors
/// Fails when it cannot be started, fails, or takes too long. The error has the last lines of its
/// log.
pub(crate) fn run_to_end(spec: ServerSpec<'_>, home: &Home) -> Result<()> {
    let within = spec.ready_within;
    let mut program = Server::spawn(spec, home)?;
    if !program.exits_within(within) {
        return Err(program.failed("finish", &format!("it ran for more than {within:?}")));
    }
    match program.reap() {
        Some(status) if status.success() => Ok(()),
        _ => Err(program.failed_early("finish")),
    }
}
