//! Workloads: what phases do, how they do it on each data model, and how their answers are checked.
//!
//! [`defined`] runs workload files, with one implementation per data model and an oracle. Only the
//! machine at 1 kHz has code of its own. Both use the same module for rows that arrive by
//! themselves.
//!
//! A workload drives stores through the trait of their data model and knows no engine. To add a
//! workload, add a file to the crate `language` and add its name to the list there.

mod arrivals;
mod bench;
pub mod defined;
mod error;
mod http;
mod info;
mod machine;
mod observer;
mod outcome;
mod published;
mod reopenable;
mod spec;
mod strategy;
mod workload;
mod write_behind;

use embermark_model::choice::{self, UnknownName};

use published::Published;

pub use arrivals::{CONFIRMATIONS, FASTEST};
pub use bench::{Bench, BenchPhase, Prepared, Repeat};
pub use error::WorkloadError;
pub use info::{Info, PhaseInfo, Protocol, VariantInfo};
pub use observer::{Companions, NoopObserver, PhaseObserver};
pub use outcome::{CheckError, MeasuredPart, Outcome, Passed};
pub use spec::Spec;
pub use workload::{Source, Workload};

/// All workloads.
pub static WORKLOADS: [&dyn Workload; 6] =
    [&SENSORS, &CONTACTS, &machine::Machine, &EVENTS, &HTAP, &RETENTION];

static SENSORS: Published = Published::new("sensors");
static CONTACTS: Published = Published::new("contacts");
static EVENTS: Published = Published::new("events");
static HTAP: Published = Published::new("htap");
static RETENTION: Published = Published::new("retention");

/// Returns the workload with this id.
///
/// # Errors
/// Fails when no workload has this id. The error names the nearest id and lists all.
pub fn find(id: &str) -> Result<&'static dyn Workload, UnknownName> {
    WORKLOADS
        .iter()
        .find(|workload| workload.id() == id)
        .copied()
        .ok_or_else(|| choice::unknown("workload", id, WORKLOADS.iter().map(|w| w.id())))
}
