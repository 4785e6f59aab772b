//! Starts companions: processes that take part in a phase in addition to the worker. They are a
//! sensor, a reader, a disk sampler. Each runs this program again. The first line of its standard
//! input is its task. The process runs until its parent closes that input.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use embermark_engines::OpenOptions;
use embermark_workloads::Companions;
use serde::{Deserialize, Serialize};

use crate::child::kill_with_parent;
use crate::protocol::Job;

/// Argument that makes this program a companion.
const COMMAND: &str = "companion";

/// Task of a companion.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    /// Process id of the worker.
    pub parent: u32,
    pub workload: String,
    pub role: String,
    pub task: String,
    pub database: Option<Database>,
}

/// A database that the companion opens while the worker has it open.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Database {
    pub engine: String,
    /// The worker's options.
    pub options: OpenOptions,
    /// Address of the database.
    pub at: String,
}

/// Starts the companions of a worker.
pub(crate) struct Starter {
    program: PathBuf,
    workload: String,
    database: Database,
}

impl Starter {
    /// Makes the starter for the worker of a cell, which opens its engine with these options.
    pub fn new(Job { cell, plan, .. }: &Job, options: OpenOptions) -> io::Result<Self> {
        let engine = plan.engine_of(&cell.engine).to_owned();
        let database = Database { engine, options, at: String::new() };
        let program = std::env::current_exe()?;
        Ok(Self { program, workload: cell.workload.clone(), database })
    }
}

impl Companions for Starter {
    fn start(&self, role: &str, task: &str, join: Option<&str>) -> io::Result<Child> {
        let database = join.map(|at| Database { at: at.to_owned(), ..self.database.clone() });
        let task = Task {
            parent: std::process::id(),
            workload: self.workload.clone(),
            role: role.to_owned(),
            task: task.to_owned(),
            database,
        };
        spawn(&mut Command::new(&self.program), &task)
    }
}

/// Starts a companion of the harness itself, without a workload. Its role is in its name.
pub(crate) fn start(role: &str, task: &str) -> io::Result<Child> {
    let (workload, database) = (String::new(), None);
    let mut program = Command::new(std::env::current_exe()?);
    program.arg0(format!("embermark-{role}"));
    let (role, task) = (role.to_owned(), task.to_owned());
    spawn(&mut program, &Task { parent: std::process::id(), workload, role, task, database })
}

fn spawn(program: &mut Command, task: &Task) -> io::Result<Child> {
    let mut line = serde_json::to_vec(task)?;
    line.push(b'\n');
    program.arg(COMMAND).stdin(Stdio::piped()).stdout(Stdio::piped());
    kill_with_parent(program);
    let mut child = program.spawn()?;
    if let Some(stdin) = &mut child.stdin {
        stdin.write_all(&line)?;
    }
    Ok(child)
}
