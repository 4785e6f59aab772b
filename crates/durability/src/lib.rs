//! What survives: processes killed, power cut and disks full in the middle of a work, and what the engine
//! then has of it.
//!
//! A [worker](worker_main) opens a database and does, with one client or several, the commits of a
//! [`work`] that follows from a seed; each says that it was acknowledged. It is killed ([`kill`]),
//! or its disk is what [a power cut could leave](embermark_blockdev) ([`cut`]), or becomes full ([`full`]). Another worker
//! opens what is left and reads all of it, and the [`oracle`] says whether that may be left of the
//! work.

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

/// How many short works have up to two operations after the making of the table. With three there are
/// 25.
pub const SHORT_WORKS: u32 = work::short::OF_TWO as u32;
