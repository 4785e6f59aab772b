//! A worker whose syncs do nothing: a test library precedes libc in its symbol search
//! (`LD_PRELOAD`, ld.so(8)).

use std::path::{Path, PathBuf};
use std::process::Command;

use embermark_durability::WorkerProgram;

/// Builds the library in a folder.
fn library(folder: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/integration/controls/nosync.c");
    let library = folder.join("libnosync.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror"]).arg(source);
    let built = compiler.arg("-o").arg(&library).arg("-ldl").output();
    let built = built.expect("a C compiler, which the build of the engines takes, too");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    library
}

/// Returns the worker with the library in a folder. env(1) replaces itself by the program, so that its
/// parent stays the same.
pub fn without_syncs(worker: &WorkerProgram, folder: &Path) -> WorkerProgram {
    let words =
        [format!("LD_PRELOAD={}", library(folder).display()), worker.program.display().to_string()];
    let args = words.into_iter().chain(worker.args.iter().cloned()).collect();
    WorkerProgram { program: "/usr/bin/env".into(), args, library: None }
}
