//! Companions: processes that take part in a phase in addition to the worker. They are a sensor, a
//! reader, a disk sampler. Each runs this program again. The first line of its standard input is
//! its task. The process runs until its parent closes that input.

use std::error::Error;
use std::io::{self, BufRead};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};

use embermark_engines::OpenOptions;
use embermark_workloads::{Companions, defined};
use serde::{Deserialize, Serialize};

use crate::child::{die_with, exit, kill_with_parent, private_stdout};
use crate::protocol::{Job, send};
use crate::{Catalog, disk_curve, network};

/// Argument that makes this program a companion.
const COMMAND: &str = "companion";

/// Task of a companion.
#[derive(Debug, Serialize, Deserialize)]
struct Task {
    /// Process id of the worker.
    parent: u32,
    workload: String,
    role: String,
    task: String,
    database: Option<Database>,
}

/// A database that the companion opens while the worker has it open.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Database {
    engine: String,
    /// The worker's options.
    options: OpenOptions,
    /// Address of the database.
    at: String,
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
    program.arg(COMMAND).stdin(Stdio::piped()).stdout(Stdio::piped());
    kill_with_parent(program);
    let mut child = program.spawn()?;
    if let Some(stdin) = &mut child.stdin {
        send(stdin, task)?;
    }
    Ok(child)
}

/// Runs the hidden `companion` command, with the engines and workloads of this build: executes the
/// task on the first line of standard input.
pub fn companion_main() -> ExitCode {
    exit("companion", serve(&Catalog::default()))
}

fn serve(catalog: &Catalog) -> Result<(), Box<dyn Error>> {
    let out = private_stdout()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let Task { parent, workload, role, task, database } = serde_json::from_str(&line)?;
    die_with(parent)?;
    match role.as_str() {
        disk_curve::ROLE => return disk_curve::serve(&task, out),
        network::ROLE => return network::serve(&task, out),
        _ => {}
    }
    let workload = catalog.workload(&workload);
    if let (Err(_), None) = (&workload, &database) {
        // The workload of a user's file is in no catalog.
        return defined::companion(&role, &task, out);
    }
    let workload = workload?;
    let Some(Database { engine, options, at }) = database else {
        return workload.companion(&role, &task, None, out);
    };
    let options = OpenOptions { clients: 1, shared: true, ..options };
    let store = catalog.engine(&engine)?.join(&options, &at)?;
    workload.companion(&role, &task, Some(store), out)
}
