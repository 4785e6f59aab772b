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
mod experiment;
mod full;
mod gathered;
pub mod journal;
mod keeper;
mod kill;
mod ledger;
mod look;
mod oracle;
mod process;
mod protocol;
mod recording;
mod settings;
mod talk;
mod work;
mod worker;

pub use embermark_blockdev::{DeviceError, FileSystem, own_mounts};
use embermark_model::durability_result as outcome;
pub use experiment::test;
pub use outcome::{CommitIo, Example, Exhaustive, Experiment, Loss, Tested, Verdict};
pub use outcome::{Deletes, Fill, FullDisk, GoesOn, Said, Stopped, Tried};
pub use process::{PATIENCE, PATIENCE_FOR_NOTHING, PATIENCE_WITH_SERVERS, WorkerProgram};
pub use settings::{Settings, Subject, TestError};
pub use worker::worker_main;

/// Number of short works with up to two operations after creating the table. With three there are
/// 25.
pub const SHORT_WORKS: u32 = work::short::OF_TWO as u32;
