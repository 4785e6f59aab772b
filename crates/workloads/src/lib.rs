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
mod reopenable;
mod spec;
mod strategy;
mod workload;
mod write_behind;

use std::path::PathBuf;
use std::sync::LazyLock;

use embermark_language::{PUBLISHED, parse};
use embermark_model::choice::{self, UnknownName};

use defined::Defined;

pub use arrivals::{CONFIRMATIONS, FASTEST};
pub use bench::{Bench, BenchPhase, Prepared, Repeat};
pub use error::WorkloadError;
pub use info::{Info, PhaseInfo, Protocol, VariantInfo};
pub use observer::{Companions, NoopObserver, PhaseObserver};
pub use outcome::{CheckError, MeasuredPart, Outcome, Passed};
pub use spec::Spec;
pub use workload::{Source, Workload};

/// All workloads.
pub static WORKLOADS: LazyLock<Vec<&'static dyn Workload>> = LazyLock::new(|| {
    let all: [Option<&'static dyn Workload>; 6] = [
        published("sensors"),
        published("contacts"),
        Some(&machine::Machine),
        published("events"),
        published("htap"),
        published("retention"),
    ];
    all.into_iter().flatten().collect()
});

/// Returns a published workload file as a workload. A test of `language` parses every published
/// file, so none is missing here.
fn published(name: &str) -> Option<&'static dyn Workload> {
    let (_, text) = PUBLISHED.iter().find(|(known, _)| *known == name)?;
    Some(Defined::leak(parse(name, text, &[]).ok()?, PathBuf::new(), 0.0))
}

/// Returns the workload with this id.
///
/// # Errors
/// Fails when no workload has this id. The error names the nearest id and lists all.
pub fn find(id: &str) -> Result<&'static dyn Workload, UnknownName> {
    WORKLOADS
        .iter()
        .find(|workload| workload.info().id == id)
        .copied()
        .ok_or_else(|| choice::unknown("workload", id, WORKLOADS.iter().map(|w| w.info().id)))
}
