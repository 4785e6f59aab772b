//! Functions that the tests of experiments share.

use std::path::Path;
use std::time::Duration;
use std::{env, thread};

use embermark_durability::{Settings, WorkerProgram, enter_mount_namespace};
use embermark_skips::{chosen, skipped};
use libtest_mimic::Trial;

/// Argument that makes a test's program a worker.
pub const WORKER: &str = "durability-worker";

/// Returns settings without any tries, below a folder, with this program as the workers.
pub fn settings(folder: &Path) -> Settings {
    let worker = WorkerProgram {
        program: env::current_exe().unwrap(),
        args: vec![WORKER.to_owned()],
        library: None,
    };
    let longest_fill = Duration::from_secs(20);
    Settings { seed: 0, disk: 96 << 20, longest_fill, ..Settings::new(folder, worker) }
}

/// Returns a test with that name, which fails by panicking.
pub fn trial(name: impl Into<String>, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}

/// Returns the tests of a campaign: `most` of them run, as [`chosen`], and the others are ignored.
pub fn some_of(campaign: &str, most: usize, tests: Vec<Trial>) -> impl Iterator<Item = Trial> {
    let chosen = chosen(campaign, tests.len(), most);
    tests.into_iter().zip(chosen).map(|(test, done)| test.with_ignored_flag(!done))
}

/// Returns a test that makes and mounts block devices. It is skipped if that is not permitted.
pub fn on_devices(name: impl Into<String>, test: impl FnOnce() + Send + 'static) -> Trial {
    let name = name.into();
    let thread = thread::Builder::new().name(name.clone());
    trial(name, move || {
        // A thread's own mounts stay its own.
        let test = move || match enter_mount_namespace() {
            Ok(()) => test(),
            Err(_) => skipped("root", "power cuts and full disks use devices, which need root"),
        };
        if let Err(panic) = thread.spawn(test).unwrap().join() {
            std::panic::resume_unwind(panic);
        }
    })
}
