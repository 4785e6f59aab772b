//! The process of a companion: does the task of its parent.

use std::error::Error;
use std::io::{self, BufRead};
use std::process::ExitCode;

use embermark_engines::OpenOptions;
use embermark_workloads::defined;

use crate::child::{die_with, exit, private_stdout};
use crate::companion_command::{Database, Task};
use crate::{Catalog, disk_curve, network};

/// Runs the hidden `companion` command, with the engines and workloads of this build.
pub fn companion_main() -> ExitCode {
    serve_companion(&Catalog::default())
}

/// Executes the task on the first line of standard input.
pub fn serve_companion(catalog: &Catalog) -> ExitCode {
    exit("companion", serve(catalog))
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
