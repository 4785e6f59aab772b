//! Programs where any user may run them: where they lie, below a home perhaps, others than its owner may
//! not reach them.

use std::path::Path;
use std::process::Command;

/// Copies a file, or a folder with all below it, for anybody to read and to run. Another program does
/// that: what this process has open to write, a child that another test starts has open for a moment
/// too, and a program that somebody has open to write cannot be run.
pub fn copy(from: &Path, to: &Path) {
    let run = |command: &mut Command| {
        assert!(command.status().unwrap().success(), "{command:?}");
    };
    run(Command::new("cp").arg("-rL").arg(from).arg(to));
    run(Command::new("chmod").args(["-R", "a+rX"]).arg(to));
}
