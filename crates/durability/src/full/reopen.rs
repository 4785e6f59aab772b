//! Opens the database in another process, on the full disk and when there is room.

use super::ballast_disk::BallastDisk;
use super::worst::WorstFinding;
use crate::inspection::{self, Inspection};
use crate::oracle::{Promised, Verdict};
use crate::outcome::{Observation, Tried};
use crate::process::Worker;
use crate::protocol::DatabaseState;
use crate::settings::{Result, Test, TestError};

/// Number of commits when there is room.
const COMMITS: u64 = 3;

/// Opens the database on the full disk and judges its content. Not opening there breaks no promise.
pub(super) fn open_on_full_disk(
    test: &Test<'_>,
    disk: &BallastDisk,
    promised: Promised,
    worst: &mut WorstFinding,
) -> Result<Observation<Tried>> {
    disk.top_up()?;
    let (mut worker, inspection) = open(test, disk, promised)?;
    if is_unopened(&inspection) {
        worker.wait().map_err(TestError::io("end a worker"))?;
        return Ok(Observation { is: Tried::No, message: inspection.message });
    }
    let of = "killed when it was full, opened on the full disk";
    worst.add(test, disk, inspection, promised, of)?;
    let message = close(&mut worker)?.map(|said| format!("it does not close: {said}"));
    Ok(Observation { is: Tried::Yes, message })
}

/// Opens the database when there is room and judges it. Then it takes commits, checks itself,
/// closes, and opens again.
pub(super) fn check_with_room(
    test: &Test<'_>,
    disk: &BallastDisk,
    promised: Promised,
    of: &str,
    worst: &mut WorstFinding,
) -> Result<()> {
    let (mut worker, mut inspection) = open(test, disk, promised)?;
    let last = inspection.last.as_ref().and_then(|last| last.first().copied());
    let Some(last) = last.filter(|_| inspection.verdict == Verdict::Holds) else {
        return worst.add(test, disk, inspection, promised, of);
    };
    let failed = inspection::continue_work(&mut worker, &[last], COMMITS, |_, _| ())?;
    worker.wait().map_err(TestError::io("end a worker"))?;
    if let Some((verdict, message)) = failed {
        (inspection.verdict, inspection.message) = (verdict, Some(message));
        return worst.add(test, disk, inspection, promised, of);
    }
    let promised = Promised::after(last + COMMITS);
    let (mut worker, inspection) = open(test, disk, promised)?;
    worst.add(test, disk, inspection, promised, &format!("{of}, and opened again"))?;
    close(&mut worker).map(drop)
}

/// Whether it did not open or could not be read, so that no rows were seen.
pub(super) fn is_unopened(inspection: &Inspection) -> bool {
    let Inspection { verdict, last, message, .. } = inspection;
    match verdict {
        Verdict::NotOpened | Verdict::HalfMade | Verdict::Crashed | Verdict::Hangs => true,
        // A wrong row has no message.
        Verdict::CorruptRow => last.is_none() && message.is_some(),
        _ => false,
    }
}

/// Makes a worker open the database, and judges its content.
pub(super) fn open(
    test: &Test<'_>,
    disk: &BallastDisk,
    promised: Promised,
) -> Result<(Worker, Inspection)> {
    let mut worker = test.start(disk.database(), DatabaseState::Table)?;
    let inspection = inspection::inspect(&mut worker, test.plan(), &[promised], || ())?;
    Ok((worker, inspection))
}

/// Makes a worker close the database and end. Returns the engine's message if that failed.
pub(super) fn close(worker: &mut Worker) -> Result<Option<String>> {
    let closed = inspection::continue_work(worker, &[], 0, |_, _| ())?;
    worker.wait().map_err(TestError::io("end a worker"))?;
    Ok(closed.map(|(_, message)| message))
}
