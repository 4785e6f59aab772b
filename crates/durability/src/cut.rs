//! The power is cut: the work is done once on a recorded device, then what a cut could have left of
//! the device is looked at, state by state.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use embermark_blockdev::{Device, DeviceError, Image, Log, State, own_mounts};

use crate::look::{self, Looked};
use crate::oracle::{Promised, Verdict};
use crate::outcome::{CommitIo, Example, Experiment, Gathered, Tested};
use crate::process::Worker;
use crate::protocol::Event;
use crate::settings::{Test, TestError};

/// Commits of the work.
const COMMITS: u64 = 150;
/// Bytes of the device.
const DEVICE: u64 = 1 << 30;
/// Commits after a cut, before the second one.
const AFTERWARDS: u64 = 3;
/// Every so many-th state is cut a second time, during its recovery or the commits after it.
const TWICE: usize = 4;
/// The folder on the device that is the database's: the root of a file system may hold its own.
const DATABASE: &str = "database";

/// A commit's acknowledgement: its number, the place in the device's log, and the time.
type Acknowledged = (u64, usize, Duration);

/// The work done on a recorded device.
struct Recording {
    log: Log,
    /// The place in the log at which the table was there.
    created: usize,
    acknowledged: Vec<Acknowledged>,
}

impl Recording {
    /// What had been promised when so many records had reached the device.
    fn promised(&self, at: usize, before: u64) -> Promised {
        let acknowledged = self.acknowledged.partition_point(|(_, place, _)| *place <= at);
        let acknowledged = before + acknowledged as u64;
        Promised { acknowledged, begun: acknowledged + 1 }
    }

    /// For how long a commit had been acknowledged when the record before `at` reached the device.
    fn age_ms(&self, commit: u64, at: usize) -> f64 {
        let then = self.acknowledged.iter().find(|(number, ..)| *number == commit);
        let now = at.checked_sub(1).and_then(|last| self.log.times.get(last));
        let age = then.zip(now).map(|((.., then), now)| now.saturating_sub(*then));
        age.unwrap_or_default().as_secs_f64() * 1e3
    }
}

pub(crate) fn test(test: &Test<'_>, progress: &(dyn Fn(u32) + Sync)) -> Result<Tested, TestError> {
    own_mounts()?;
    let settings = test.settings;
    let folder = &settings.folder;
    std::fs::create_dir_all(folder).map_err(TestError::io("make the folder of the devices"))?;
    let base = folder.join("base.img");
    settings.file_system.make(&base, DEVICE)?;
    let content = Image::of(&base).map_err(TestError::io("open a device's image"))?;
    let recording = record(test, &folder.join("record"), content)?;
    let states = recording.log.states(recording.created, settings.states as usize, settings.seed);
    let states = states.map_err(TestError::io("make the states of a device"))?;

    let (next, gathered) = (AtomicUsize::new(0), Mutex::new(Gathered::default()));
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|number| {
                let (next, gathered, states, recording) = (&next, &gathered, &states, &recording);
                let folder = folder.join(format!("look-{number}"));
                scope.spawn(move || -> Result<(), TestError> {
                    own_mounts()?;
                    loop {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        let Some(state) = states.get(place) else { return Ok(()) };
                        test.go_on()?;
                        try_state(test, &folder, recording, state, place, gathered)?;
                        progress(place as u32 + 1);
                    }
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| {
            worker.join().unwrap_or_else(|_| {
                let source = std::io::Error::other("a thread of the experiment panicked");
                Err(TestError::Io { doing: "look at a state", source })
            })
        })
    })?;
    std::fs::remove_file(&base).map_err(TestError::io("remove a device's image"))?;

    let commits = recording.acknowledged.len() as u64;
    let last = recording.acknowledged.last().map_or(0, |(_, place, _)| *place);
    let counted = recording.log.counted(recording.created..last);
    let gathered = gathered.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let commit = Some(CommitIo { commits, bytes: counted.bytes, flushes: counted.flushes });
    Ok(gathered.ended(Tested { commit, ..test.outcome(Experiment::PowerCut) }))
}

/// Does the work on a device with that content.
fn record(test: &Test<'_>, folder: &Path, content: Image) -> Result<Recording, TestError> {
    let device = Device::mount(folder, content)?;
    let dir = device.at.join(DATABASE);
    std::fs::create_dir(&dir).map_err(TestError::io("make the folder of a database"))?;
    let talk = TestError::io("talk to a worker");
    let mut worker = Worker::start(&test.settings.worker, &test.task(dir, true)).map_err(&talk)?;
    match worker.event().map_err(&talk)? {
        Some(Event::Opened { .. }) => {}
        Some(Event::Failed { message, .. }) => return Err(test.not_done(message)),
        _ => return Err(test.not_done("its process died while it made the database")),
    }
    let created = device.position();
    let mut acknowledged = Vec::new();
    let failed = look::go_on(&mut worker, 0, COMMITS, |number| {
        acknowledged.push((number, device.position(), device.elapsed()));
    });
    if let Some(message) = failed.map_err(&talk)? {
        return Err(test.not_done(message));
    }
    worker.wait().map_err(&talk)?;
    drop(worker);
    Ok(Recording { log: device.unmount()?, created, acknowledged })
}

/// Looks at a state, and at some a second time after another cut.
fn try_state(
    test: &Test<'_>,
    folder: &Path,
    recording: &Recording,
    state: &State,
    place: usize,
    gathered: &Mutex<Gathered>,
) -> Result<(), TestError> {
    let add = |looked: Looked, of: String, promised: Promised, lost: Option<(u64, f64)>| {
        let (verdict, last) = (looked.judged.verdict, looked.judged.last);
        let (acknowledged, message) = (promised.acknowledged, looked.message);
        let example = Example { verdict, of, acknowledged, last, message };
        let mut gathered = gathered.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        gathered.add(example, looked.open_ns, lost);
    };
    let at = state.cut.at;
    let promised = recording.promised(at, 0);
    let Some((looked, again)) = look_at(test, folder, state.image.clone(), promised)? else {
        gathered.lock().unwrap_or_else(std::sync::PoisonError::into_inner).not_mounted += 1;
        return Ok(());
    };
    let lost = looked.judged.last.map(|last| {
        let lost = promised.acknowledged.saturating_sub(last);
        (lost, if lost > 0 { recording.age_ms(last + 1, at) } else { 0.0 })
    });
    let last = looked.judged.last;
    add(looked, format!("{:?}", state.cut), promised, lost);
    let (Some(again), Some(last)) = (again, last) else { return Ok(()) };
    if place % TWICE != 0 {
        return Ok(());
    }
    let second = again.log.states(0, 1, test.settings.seed.wrapping_add(place as u64));
    for state in second.map_err(TestError::io("make the states of a device"))? {
        let promised = again.promised(state.cut.at, last);
        let Some((looked, _)) = look_at(test, folder, state.image, promised)? else { continue };
        let of = format!("{:?}, then {:?}", at, state.cut);
        add(looked, of, promised, None);
    }
    Ok(())
}

/// Looks at what a device holds, and does a few commits more, recorded. `None` where the file system
/// itself is broken.
fn look_at(
    test: &Test<'_>,
    folder: &Path,
    content: Image,
    promised: Promised,
) -> Result<Option<(Looked, Option<Recording>)>, TestError> {
    let device = match Device::mount(folder, content) {
        Ok(device) => device,
        Err(DeviceError::NotMounted { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let talk = TestError::io("talk to a worker");
    let task = test.task(device.at.join(DATABASE), false);
    let mut worker = Worker::start(&test.settings.worker, &task).map_err(&talk)?;
    let mut looked = look::look(&mut worker, test.settings.seed, promised).map_err(&talk)?;
    let mut acknowledged = Vec::new();
    if let (Verdict::Holds, Some(last)) = (looked.judged.verdict, looked.judged.last) {
        let failed = look::go_on(&mut worker, last, AFTERWARDS, |number| {
            acknowledged.push((number, device.position(), device.elapsed()));
        });
        if let Some(message) = failed.map_err(&talk)? {
            (looked.judged.verdict, looked.message) = (Verdict::NotWritable, Some(message));
        }
    }
    drop(worker);
    let log = device.unmount()?;
    Ok(Some((looked, Some(Recording { log, created: 0, acknowledged }))))
}
