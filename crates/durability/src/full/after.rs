//! What another process finds, on the full disk and when there is room.

use super::space::Space;
use super::worst::Worst;
use crate::look::{self, Looked};
use crate::oracle::{Promised, Verdict};
use crate::outcome::{Said, Tried};
use crate::process::Worker;
use crate::protocol::There;
use crate::settings::{Test, TestError};

/// Number of commits when there is room.
const COMMITS: u64 = 3;

/// Whether the database opens on the full disk and has what it must. Not opening there breaks no
/// promise.
pub(super) fn opens(
    test: &Test<'_>,
    space: &Space,
    promised: Promised,
    worst: &mut Worst,
) -> Result<Said<Tried>, TestError> {
    space.top_up()?;
    let (mut worker, looked) = open(test, space, promised)?;
    if is_unopened(&looked) {
        worker.wait().map_err(TestError::io("end a worker"))?;
        return Ok(Said { is: Tried::No, message: looked.message });
    }
    worst.add(test, space, looked, promised, "killed when it was full, opened on the full disk")?;
    let closed = close(&mut worker)?;
    Ok(Said { is: Tried::Yes, message: closed.map(|said| format!("it does not close: {said}")) })
}

/// Opens the database when there is room and judges it. Then it takes commits, checks itself,
/// closes, and opens again.
pub(super) fn with_room(
    test: &Test<'_>,
    space: &Space,
    promised: Promised,
    of: &str,
    worst: &mut Worst,
) -> Result<(), TestError> {
    let (mut worker, mut looked) = open(test, space, promised)?;
    let last = looked.last.as_ref().and_then(|last| last.first().copied());
    let Some(last) = last.filter(|_| looked.verdict == Verdict::Holds) else {
        return worst.add(test, space, looked, promised, of);
    };
    let failed = look::go_on(&mut worker, &[last], COMMITS, |_, _| ());
    let failed = failed.map_err(TestError::io("talk to a worker"))?;
    worker.wait().map_err(TestError::io("end a worker"))?;
    if let Some((verdict, message)) = failed {
        (looked.verdict, looked.message) = (verdict, Some(message));
        return worst.add(test, space, looked, promised, of);
    }
    let promised = Promised::after(last + COMMITS);
    let (mut worker, looked) = open(test, space, promised)?;
    worst.add(test, space, looked, promised, &format!("{of}, and opened again"))?;
    close(&mut worker).map(drop)
}

/// Whether it did not open or could not be read, so that no rows were seen.
pub(super) fn is_unopened(looked: &Looked) -> bool {
    let Looked { verdict, last, message, .. } = looked;
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
    space: &Space,
    promised: Promised,
) -> Result<(Worker, Looked), TestError> {
    let mut worker = test.start(space.database(), There::Table)?;
    let looked = look::look(&mut worker, test.plan(), &[promised], || ());
    Ok((worker, looked.map_err(TestError::io("talk to a worker"))?))
}

/// Makes a worker close the database and end. Returns the engine's message if that failed.
pub(super) fn close(worker: &mut Worker) -> Result<Option<String>, TestError> {
    let closed = look::go_on(worker, &[], 0, |_, _| ());
    let closed = closed.map_err(TestError::io("talk to a worker"))?;
    worker.wait().map_err(TestError::io("end a worker"))?;
    Ok(closed.map(|(_, message)| message))
}
