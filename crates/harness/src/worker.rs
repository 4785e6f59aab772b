//! The worker process: answers one request of its parent.

use std::io::{self, Read};
use std::process::ExitCode;

use embermark_engines::EngineError;
use embermark_engines::engine_library::Described;
use embermark_model::Status;

use crate::child::{die_with, exit, private_stdout};
use crate::explaining::run_traced;
use crate::protocol::{Event, Explain, Request, send};
use crate::{Catalog, server_cleanup};

mod trial;

/// Runs the hidden `worker` command with the engines and workloads of this build.
pub fn worker_main() -> ExitCode {
    serve(&Catalog::default())
}

/// Executes one request from standard input: a trial's job, or a question about an engine. Writes
/// events or the answer to standard output. Everything else that this process writes to standard
/// output goes to standard error. Fails without an event only if it cannot reach its parent. The
/// parent reports a panic or a crash.
pub fn serve(catalog: &Catalog) -> ExitCode {
    exit("worker", handle_request(catalog))
}

fn handle_request(catalog: &Catalog) -> io::Result<()> {
    // Before anything else, so that no output of an engine is mistaken for an event.
    let mut out = private_stdout()?;
    let mut request = Vec::new();
    io::stdin().read_to_end(&mut request)?;
    let (parent, request): (u32, Request) = serde_json::from_slice(&request)?;
    if !matches!(request, Request::Abandoned { .. }) {
        die_with(parent)?;
    }
    match request {
        Request::Trial(job) if job.explain == Explain::Calls => run_traced(*job, &mut out),
        Request::Trial(job) => match trial::run(&job, catalog, &mut out) {
            Ok(()) => send(&mut out, &Event::Finished),
            Err(Stop::Parent(error)) => Err(error),
            Err(Stop::Failed(status, reason)) => send(&mut out, &Event::Failed { status, reason }),
        },
        Request::Facts(question) => {
            send(&mut out, &question.answer(catalog).map_err(io::Error::other)?)
        }
        Request::Idle(idling) => send(&mut out, &idling.answer(catalog)),
        Request::Stage(staging) => send(&mut out, &staging.answer(catalog)),
        Request::Library { path } => {
            // It needs no network for its description, so it gets none if the kernel allows a
            // namespace.
            let _ = embermark_network::enter();
            send(&mut out, &Described::load(&path))
        }
        Request::Abandoned { site } => {
            server_cleanup::remove_after_exit(&site);
            Ok(())
        }
    }
}

/// Why a trial ends early.
enum Stop {
    /// The parent no longer listens.
    Parent(io::Error),
    /// The engine or the workload cannot continue.
    Failed(Status, String),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Parent(error)
    }
}

impl From<EngineError> for Stop {
    fn from(error: EngineError) -> Self {
        Self::Failed(status_of(&error), error.to_string())
    }
}

pub(crate) fn status_of(error: &EngineError) -> Status {
    if error.is_unsupported() {
        Status::Unsupported
    } else if error.is_unavailable() {
        Status::Unavailable
    } else {
        Status::Failed
    }
}

fn failed(error: impl ToString) -> Stop {
    Stop::Failed(Status::Failed, error.to_string())
}
