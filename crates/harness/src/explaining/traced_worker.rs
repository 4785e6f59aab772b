//! A worker whose system calls are counted. The process that the parent started starts the actual
//! worker and traces it. The tracer is a separate process, because everything that it waits for
//! must be a traced thread.

use std::env;
use std::fs::File;
use std::io::{self, Write};
use std::process::{Command, Stdio};

use embermark_model::Status;
use nix::errno::Errno;
use nix::unistd::Pid;

use super::ptrace::Change;
use super::tracer::Tracer;
use crate::protocol::{Event, Explain, Job, send};
use crate::request::Request;

/// Runs `job` in a traced worker, which writes its events itself. The counts are written between
/// them.
pub(crate) fn run(job: Job, events: &mut File) -> io::Result<()> {
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
    let job = Job { parent: std::process::id(), explain: Explain::Traced, ..job };
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(&serde_json::to_vec(&Request::Trial(job.into()))?)?;
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
