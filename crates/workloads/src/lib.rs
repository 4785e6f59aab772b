//! The executor of workload files ([`defined`]): what each phase does, in one implementation per data model, and an oracle. The
//! machine at 1 kHz is the only workload with code of its own; rows that arrive by themselves are a module for both.
//!
//! A workload drives stores through the trait of their data model and knows no engine. To add one: a file
//! in the crate `language`, and a line beside its name.

mod arrivals;
mod bench;
pub mod defined;
mod error;
mod generated;
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

/// Every workload.
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

/// A workload that is a published file. A test of the language reads them all, so that none is missing.
fn published(name: &str) -> Option<&'static dyn Workload> {
    let (_, text) = PUBLISHED.iter().find(|(known, _)| *known == name)?;
    Some(Defined::leak(parse(name, text, &[]).ok()?, PathBuf::new(), 0.0))
}

/// The workload of that id.
///
/// # Errors
/// When there is none; the error names the nearest and all valid ids.
pub fn find(id: &str) -> Result<&'static dyn Workload, UnknownName> {
    WORKLOADS
        .iter()
        .find(|workload| workload.info().id == id)
        .copied()
        .ok_or_else(|| choice::unknown("workload", id, WORKLOADS.iter().map(|w| w.info().id)))
}
