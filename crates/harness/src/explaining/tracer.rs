//! Counts the system calls of a worker and of every process that it starts.

use std::collections::HashMap;
use std::io;

use embermark_model::result::SystemCalls;
use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use super::calls::{self, Transfer};
use super::marks::Mark;
use super::ptrace::{Change, SystemCall, listen, resume, system_call, wait};
use crate::system::read_lossy;

/// The system calls of one process in a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TracedProcess {
    /// Process id.
    pub pid: u32,
    /// The processes that it descends from, up to the worker. Empty for the worker itself.
    pub ancestors: Vec<u32>,
    /// Its system calls inside the clock.
    pub calls: SystemCalls,
}

/// Follows a worker to its end.
pub(super) struct Tracer<F> {
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
    pub fn seize(worker: Pid, report: F) -> Result<Self, Errno> {
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
    pub fn follow(mut self) -> io::Result<Change> {
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
            let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
            line.trim().parse().ok()
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
