//! Counts the system calls of a worker and of every process that it starts. The process that the
//! parent started starts the actual worker and traces it. The tracer is a separate process, because
//! everything that it waits for must be a traced thread.
//!
//! The worker notifies its tracer by marks, in order with everything else that its thread does. They
//! are system calls without effect that have a reserved number as argument.

use std::collections::HashMap;
use std::env;
use std::fs::File;
use std::io::{self, Write};
use std::process::{Command, Stdio};

use embermark_model::Status;
use embermark_model::result::SystemCalls;
use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::unistd::{Pid, getsid};

use super::calls::{self, Transfer};
use super::ptrace::{Change, SystemCall, listen, resume, system_call, wait};
use crate::probe::number;
use crate::protocol::{Event, Explain, Job, Request, TracedProcess, send};
use crate::system::read_lossy;

/// The first reserved number. It belongs to no process, because the kernel assigns none above
/// 4,194,304 (`PID_MAX_LIMIT`).
const FIRST: i32 = 0x656d_6272;

/// An event that a worker marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A run begins. What was counted before does not belong to it.
    RunBegins,
    /// A clock is about to start.
    ClockStarts,
    /// A clock has stopped.
    ClockStopped,
    /// The run has ended. Everything that belongs to it was counted.
    RunEnded,
}

impl Mark {
    const ALL: [Self; 4] = [Self::RunBegins, Self::ClockStarts, Self::ClockStopped, Self::RunEnded];

    /// Makes the system call of the mark.
    pub fn emit(self) {
        // The call always fails, because no process has this number.
        let _ = getsid(Some(Pid::from_raw(FIRST + self as i32)));
    }

    /// Marks that a clock starts or has stopped.
    pub fn clock(starts: bool) {
        if starts { Self::ClockStarts } else { Self::ClockStopped }.emit();
    }

    /// Returns the mark that a system call represents.
    fn from_call(name: &str, argument: u64) -> Option<Self> {
        let number = usize::try_from(argument.checked_sub(FIRST as u64)?).ok()?;
        Self::ALL.get(number).copied().filter(|_| name == "getsid")
    }
}

/// Runs `job` in a traced worker, which writes its events itself. The counts are written between
/// them.
pub(crate) fn run_traced(job: Job, events: &mut File) -> io::Result<()> {
    let mut child = Command::new(env::current_exe()?)
        .args(env::args_os().skip(1))
        .stdin(Stdio::piped())
        .stdout(events.try_clone()?)
        .spawn()?;
    let worker = Pid::from_raw(child.id().cast_signed());
    let report = |processes| send(events, &Event::Traced { processes });
    // It waits for its job, and so has done nothing yet.
    let tracer = match Tracer::seize(worker, report) {
        Ok(tracer) => tracer,
        Err(errno) => {
            let _ = child.kill().and_then(|()| child.wait());
            let reason = refused(errno);
            return send(events, &Event::Failed { status: Status::Unsupported, reason });
        }
    };
    let job = Job { explain: Explain::Traced, ..job };
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(&Request::Trial(job.into()).to_json()?)?;
    }
    let reason = match tracer.follow() {
        Ok(Change::Exited(0)) => return Ok(()),
        Ok(Change::Exited(status)) => format!("the traced worker exited with status {status}"),
        Ok(Change::Killed(signal)) => format!("the traced worker was killed by signal {signal}"),
        Ok(change) => format!("the traced worker stopped unexpectedly: {change:?}"),
        Err(error) => format!("the worker could not be traced to its end: {error}"),
    };
    send(events, &Event::Failed { status: Status::Failed, reason })
}

fn refused(errno: Errno) -> String {
    format!(
        "this system does not let a process trace its child ({}): see \
         /proc/sys/kernel/yama/ptrace_scope, and in a container its seccomp profile",
        errno.desc()
    )
}

/// Follows a worker to its end.
struct Tracer<F> {
    worker: Pid,
    /// Receives the counts of each run while the worker is stopped.
    report: F,
    /// Number of running clocks. Each of several clients has one.
    clocks: u32,
    /// Process of each thread.
    processes: HashMap<i32, u32>,
    /// Parent of each started process.
    parents: HashMap<u32, u32>,
    /// Threads inside a system call whose bytes count.
    transfers: HashMap<i32, Transfer>,
    counted: HashMap<u32, SystemCalls>,
}

impl<F: FnMut(Vec<TracedProcess>) -> io::Result<()>> Tracer<F> {
    /// Begins to trace a child that has one thread, and stops it.
    fn seize(worker: Pid, report: F) -> Result<Self, Errno> {
        let options = Options::PTRACE_O_TRACESYSGOOD
            | Options::PTRACE_O_TRACECLONE
            | Options::PTRACE_O_TRACEFORK
            | Options::PTRACE_O_TRACEVFORK
            | Options::PTRACE_O_TRACEEXEC;
        ptrace::seize(worker, options)?;
        ptrace::interrupt(worker)?;
        Ok(Self {
            worker,
            report,
            clocks: 0,
            processes: HashMap::new(),
            parents: HashMap::new(),
            transfers: HashMap::new(),
            counted: HashMap::new(),
        })
    }

    /// Follows the worker until it ends and returns how it ended. Processes that it left running
    /// continue untraced.
    fn follow(mut self) -> io::Result<Change> {
        loop {
            let (thread, change) = wait()?;
            let resumed = match change {
                Change::Exited(_) | Change::Killed(_) => {
                    self.processes.remove(&thread);
                    self.transfers.remove(&thread);
                    if thread == self.worker.as_raw() {
                        return Ok(change);
                    }
                    continue;
                }
                Change::SystemCall => {
                    self.system_call(thread)?;
                    resume(thread, 0)
                }
                Change::Event(event) => {
                    self.event(thread, event);
                    resume(thread, 0)
                }
                Change::GroupStopped => listen(thread),
                Change::Signal(signal) => resume(thread, signal),
            };
            unless_gone(resumed)?;
        }
    }

    fn event(&mut self, thread: i32, event: i32) {
        let starts = [libc::PTRACE_EVENT_CLONE, libc::PTRACE_EVENT_FORK, libc::PTRACE_EVENT_VFORK];
        if event == libc::PTRACE_EVENT_EXEC {
            // The thread that called it now has its process's id, and the others are gone.
            self.transfers.remove(&thread);
        } else if starts.contains(&event)
            && let Ok(started) = ptrace::getevent(Pid::from_raw(thread))
        {
            // Also recorded for a thread, but only looked up for processes.
            let parent = self.process_of(thread);
            self.parents.insert(started as u32, parent);
        }
    }

    fn system_call(&mut self, thread: i32) -> io::Result<()> {
        let call = match system_call(thread) {
            Err(gone) if is_gone(&gone) => return Ok(()),
            call => call?,
        };
        match call {
            Some(SystemCall::Entry { number, arguments }) => {
                let name = calls::name(number);
                match Mark::from_call(&name, arguments[0]) {
                    Some(mark) => self.mark(mark)?,
                    None if self.clocks > 0 => self.entry(thread, name, &arguments),
                    None => {}
                }
            }
            Some(SystemCall::Exit { returned }) => {
                if let Some(transfer) = self.transfers.remove(&thread) {
                    let process = self.process_of(thread);
                    let calls = self.counted.entry(process).or_default();
                    calls::count_bytes(calls, transfer, returned);
                }
            }
            None => {}
        }
        Ok(())
    }

    fn entry(&mut self, thread: i32, name: String, arguments: &[u64; 6]) {
        let process = self.process_of(thread);
        let calls = self.counted.entry(process).or_default();
        if let Some(transfer) = calls::count(calls, thread, name, arguments) {
            self.transfers.insert(thread, transfer);
        }
    }

    fn mark(&mut self, mark: Mark) -> io::Result<()> {
        match mark {
            Mark::RunBegins => {
                // A run that failed left its clock running.
                self.clocks = 0;
                self.counted.clear();
            }
            Mark::ClockStarts => self.clocks += 1,
            Mark::ClockStopped => self.clocks = self.clocks.saturating_sub(1),
            Mark::RunEnded => {
                let counted = std::mem::take(&mut self.counted);
                let processes = counted.into_iter().map(|(pid, calls)| TracedProcess {
                    pid,
                    ancestors: self.ancestors(pid),
                    calls,
                });
                let processes = processes.collect();
                (self.report)(processes)?;
            }
        }
        Ok(())
    }

    fn ancestors(&self, process: u32) -> Vec<u32> {
        let parent = |process: &u32| self.parents.get(process).copied();
        std::iter::successors(parent(&process), parent).collect()
    }

    fn process_of(&mut self, thread: i32) -> u32 {
        let read = || {
            let status = read_lossy(format!("/proc/{thread}/status")).ok()?;
            u32::try_from(number(&status, "Tgid:")?).ok()
        };
        *self.processes.entry(thread).or_insert_with(|| read().unwrap_or(thread.cast_unsigned()))
    }
}

/// A thread that was killed while it was stopped is waited for like any other.
fn unless_gone(resumed: io::Result<()>) -> io::Result<()> {
    resumed.or_else(|error| if is_gone(&error) { Ok(()) } else { Err(error) })
}

fn is_gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ESRCH)
}
