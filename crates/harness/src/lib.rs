//! From a plan to a result file: cells, worker processes, probes, journal.
//!
//! The parent process calls [`run()`]; it starts one worker process per trial, and the program's
//! hidden `worker` command calls [`worker_main`] in it. In between go one job on the worker's
//! standard input and events on its standard output ([`protocol`]).
//!
//! ```no_run
//! # use embermark_harness::{RunOptions, interrupt, progress};
//! # fn example(plan: &embermark_model::plan::Plan) -> Result<(), embermark_harness::HarnessError> {
//! let mut options = RunOptions::new("results/today")?; // this program again, with `worker`
//! options.interrupt = interrupt::on_signals()?;
//! let mut progress = progress::on_stderr();
//! let result = embermark_harness::run(plan, &options, progress.as_mut())?;
//! # Ok(())
//! # }
//! ```

mod agreement;
mod asked;
mod background_cpu;
mod block_device;
pub mod catalog;
pub mod cells;
mod cgroup;
mod child;
pub mod client_machines;
mod clock;
mod cold;
mod companion;
mod confinement;
mod counting;
mod database_size;
pub mod device;
mod disk;
mod disk_curve;
mod disk_watch;
pub mod doctor;
mod elsewhere;
pub mod energy;
mod energy_of_run;
mod engine_library;
mod error;
mod explaining;
mod facts;
mod file_system;
mod flash;
mod floor;
pub mod footprint;
mod heap;
mod imitation;
pub mod interrupt;
mod isolation;
pub mod journal;
mod keeper;
mod loading;
mod machine;
mod manifest;
mod network;
mod observing;
mod outdir;
mod parts;
pub mod passwords;
pub mod probe;
mod probes;
mod processes;
mod program;
pub mod progress;
pub mod protocol;
mod purpose;
mod race;
mod referees;
mod repetition;
mod request;
mod result_file;
mod resumption;
mod run;
mod run_options;
pub mod schedule;
mod secrecy;
mod session;
mod sized_disk;
mod stage;
mod steps;
mod system;
mod throttle;
mod timeline;
mod trial;
mod try_out;
mod warnings;
mod wear;
mod worker;
mod worker_command;

pub use catalog::Catalog;
pub use companion::{companion_main, serve_companion};
pub use engine_library::add_engine_library;
pub use error::HarnessError;
pub use imitation::{Foreseen, foreseen};
pub use interrupt::Interrupt;
pub use outdir::{JOURNAL, RESULT};
pub use progress::Progress;
pub use result_file::{assemble, result_bytes, write_result};
pub use resumption::resume;
pub use run::run;
pub use run_options::RunOptions;
pub use try_out::try_out;
pub use worker::{serve, worker_main};
pub use worker_command::WorkerCommand;
