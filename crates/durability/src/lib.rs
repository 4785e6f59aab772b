//! Durability experiments: kills processes, cuts the power and fills disks in the middle of work,
//! and checks what the engine has left of it.
//!
//! A [worker](worker_main) opens a database. With one client or several it does the commits of a
//! `work` that follows from a seed, and reports each as acknowledged. It is killed (`kill`), or
//! its disk becomes what [a power cut could leave](embermark_blockdev) (`cut`), or becomes full
//! (`full`). Another worker opens what is left and reads all of it, and the `oracle` decides
//! whether that is a permitted remainder of the work.

mod clients;
mod cut;
mod full;
mod inspection;
pub mod journal;
mod kill;
mod ledger;
mod oracle;
mod process;
mod protocol;
mod recording;
mod settings;
mod supervisor;
mod try_results;
mod work;
mod worker;
mod worker_channel;

use std::time::Instant;

pub use embermark_blockdev::{DeviceError, FileSystem, enter_mount_namespace};
use embermark_model::{Durability, durability_result as outcome};
pub use outcome::{CommitIo, Example, Exhaustive, Experiment, Loss, Tested, Verdict};
pub use outcome::{CommitRecovery, DeleteOutcome, Fill, FullDisk, Observation, Stopped, Tried};
pub use process::{PATIENCE, PATIENCE_FOR_NOTHING, PATIENCE_WITH_SERVERS, WorkerProgram};
use settings::Test;
pub use settings::{Settings, Subject, TestError};
pub use worker::worker_main;

/// Number of short works with up to two operations after creating the table. With three there are
/// 25.
pub const SHORT_WORKS: u32 = work::short::UP_TO_TWO as u32;

/// Runs one experiment with one engine or configuration in one tier. Calls `progress` with the
/// number of tries so far. `stop` ends it.
///
/// # Errors
/// If it cannot run. A failure of the engine is part of the outcome.
pub fn test<'a>(
    experiment: Experiment,
    subject: impl Into<Subject<'a>>,
    durability: Durability,
    settings: &Settings,
    stop: &(dyn Fn() -> bool + Sync),
    progress: &(dyn Fn(u32) + Sync),
) -> Result<Tested, TestError> {
    let (subject, short, filling) = (subject.into(), None, None);
    let test = Test { subject, durability, experiment, short, filling, settings, stop };
    let begun = Instant::now();
    let tested = match experiment {
        Experiment::Kill => kill::test(&test, progress),
        Experiment::PowerCut | Experiment::DeviceLies => cut::test(&test, progress),
        Experiment::FullDisk => full::test(&test, progress),
    }?;
    Ok(Tested { took_ms: begun.elapsed().as_millis() as u64, ..tested })
}
