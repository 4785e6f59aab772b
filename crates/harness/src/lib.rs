//! From a plan to a result file: cells, worker processes, probes, journal.
//!
//! The parent process calls [`run()`], which starts one worker process per trial. The program's
//! hidden `worker` command calls [`worker_main`] in that process. The worker gets one job on its
//! standard input and writes events to its standard output ([`protocol`]).
//!
//! ```no_run
//! # use embermark_harness::{RunOptions, interrupt, progress};
//! # fn example(plan: &embermark_model::plan::Plan) -> Result<(), embermark_harness::HarnessError> {
//! let mut options = RunOptions::new("results/today")?; // this program again, with `worker`
//! options.interrupt = interrupt::on_signals()?;
//! let mut progress = progress::on_stderr(None);
//! let result = embermark_harness::run(plan, &options, progress.as_mut())?;
//! # Ok(())
//! # }
//! ```

mod background_cpu;
mod block_device;
pub mod catalog;
pub mod cells;
mod cgroup;
mod child;
pub mod client_machines;
mod clock;
mod companion;
mod confinement;
mod counting;
mod cpu_speeds;
mod cross_check;
mod database_size;
pub mod device;
mod disk;
mod disk_curve;
pub mod doctor;
pub mod energy;
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
pub mod journal;
mod loading;
mod machine;
mod machine_limits;
mod manifest;
mod network;
mod outdir;
pub mod passwords;
mod phase_observer;
pub mod probe;
mod processes;
mod program;
pub mod progress;
pub mod protocol;
mod purpose;
mod race;
mod redaction;
mod referees;
mod repetition;
mod result_file;
mod resumption;
mod run;
mod run_options;
pub mod schedule;
mod server_cleanup;
mod session;
mod stage;
mod system;
mod throttle;
mod trial;
mod trial_disk;
mod warnings;
mod wear;
mod worker;
mod worker_command;

pub use catalog::Catalog;
pub use child::kill_with_parent;
pub use companion::companion_main;
pub use engine_library::add_engine_library;
pub use error::{HarnessError, Result};
pub use facts::check_settings;
pub use imitation::{PlanPreview, preview};
pub use interrupt::Interrupt;
pub use machine_limits::check_machine;
pub use outdir::{JOURNAL, RESULT, remove_folder};
pub use progress::Progress;
pub use result_file::{assemble, result_bytes, write_result};
pub use resumption::resume;
pub use run::run;
pub use run_options::RunOptions;
pub use worker::{serve, worker_main};
pub use worker_command::WorkerCommand;
