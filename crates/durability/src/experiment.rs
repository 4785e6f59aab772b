//! One experiment with one engine in one tier.

use std::time::Instant;

use embermark_model::Durability;

use crate::outcome::{Experiment, Tested};
use crate::settings::{Settings, Subject, Test, TestError};
use crate::{cut, full, kill};

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
