//! What the tests of experiments ask alike.

#![allow(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

use std::env;
use std::path::Path;
use std::time::Duration;

use embermark_durability::{FileSystem, Settings, WorkerProgram};

/// The argument that makes a test's program a worker.
pub const WORKER: &str = "durability-worker";

/// Nothing to try yet, below a folder, with workers that are this program.
pub fn settings(folder: &Path) -> Settings {
    Settings {
        folder: folder.join("work"),
        worker: WorkerProgram {
            program: env::current_exe().unwrap(),
            args: vec![WORKER.to_owned()],
            library: None,
        },
        seed: 0,
        clients: 0,
        states: 0,
        short_works: 0,
        kills: 0,
        file_system: FileSystem::Ext4,
        obeys_flushes: true,
        over: Duration::ZERO,
        fills: 0,
        disk: 96 << 20,
        violations: folder.join("violations"),
        memory: 4 << 20,
    }
}
