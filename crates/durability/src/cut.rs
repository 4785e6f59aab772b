//! Cuts the power: does the work once on a recorded device, and then examines, state by state, what
//! a cut could have left on the device.

mod files;
mod short;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use embermark_blockdev::{Device, DeviceError, Image, State, own_mounts};

use crate::gathered::{Gathered, Lost};
use crate::look::{self, Looked};
use crate::oracle::{Promised, Verdict};
use crate::outcome::{CommitIo, Experiment, Tested};
use crate::protocol::{Event, There};
use crate::recording::{Acknowledged, Recording};
use crate::settings::{Test, TestError};
use crate::work::MADE;

/// Number of commits of each client's work after the table was made.
const COMMITS: u64 = 150;
/// Size of the device in bytes.
const DEVICE: u64 = 1 << 30;
/// Number of commits after a cut, before the second one.
const AFTERWARDS: u64 = 3;
/// One of this many states is cut a second time, during its recovery or the commits after it.
const TWICE: usize = 4;
/// How often a closed database is opened to measure the time.
const CLEAN: usize = 3;
/// Directory of the database on the device. The root of a file system may have its own.
const DATABASE: &str = "database";

pub(crate) fn test(test: &Test<'_>, progress: &(dyn Fn(u32) + Sync)) -> Result<Tested, TestError> {
    own_mounts()?;
    let settings = test.settings;
    let folder = &settings.folder;
    fs::create_dir_all(folder).map_err(TestError::io("make the folder of the devices"))?;
    let base = folder.join("base.img");
    settings.file_system.make(&base, DEVICE)?;
    let content = Image::of(&base).map_err(TestError::io("read a device's image"))?;
    let recording = record(test, &folder.join("record"), content.clone(), COMMITS)?;
    let made = recording.acknowledged.first().map_or(0, |first| first.at);
    let last = recording.acknowledged.last().map_or(0, |last| last.at);
    let counted = recording.log.counted(made..last);
    let commits = recording.acknowledged.len() as u64 - u64::from(test.clients());
    let commit = Some(CommitIo { commits, bytes: counted.bytes, flushes: counted.flushes });

    let most = settings.states as usize;
    let states = match test.experiment {
        Experiment::DeviceLies => recording.log.states_of_lies(most, settings.seed),
        _ => recording.log.states(0, most, settings.seed),
    };
    let (gathered, looked_at) = (Mutex::default(), AtomicU32::new(0));
    let progress = || progress(looked_at.fetch_add(1, Ordering::Relaxed) + 1);
    let tries = Tries { test, recording: &recording, gathered: &gathered };
    tries.close_and_open(&folder.join("look"))?;
    by_all(test, &states, &|folder, state, place| {
        tries.make(folder, state, place)?;
        progress();
        Ok(())
    })?;
    drop(states);
    // They are for finding broken promises, and a state of a server takes long.
    if test.promises() && !test.is_server() {
        short::test(test, &content, &gathered, &progress)?;
    }
    let gathered = gathered.into_inner().unwrap_or_else(PoisonError::into_inner);
    let outcome = Tested { commit, ..test.outcome() };
    let tested = gathered.ended(outcome, |example, image| {
        let promised = test.promises() && example.verdict.is_violation();
        promised.then(|| keep(test, example.verdict, &image)).transpose()
    })?;
    fs::remove_file(&base).map_err(TestError::io("remove a device's image"))?;
    Ok(tested)
}

/// Examines states with one thread per CPU, each with its own directory and mounts.
fn by_all(
    test: &Test<'_>,
    states: &[State],
    look: &(dyn Fn(&Path, &State, usize) -> Result<(), TestError> + Sync),
) -> Result<(), TestError> {
    let next = AtomicUsize::new(0);
    let processors = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    // A server waits most of the time that it takes to start and stop.
    let threads = if test.is_server() { 2 * processors } else { processors };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|number| {
                let next = &next;
                let folder = test.settings.folder.join(format!("look-{number}"));
                scope.spawn(move || -> Result<(), TestError> {
                    own_mounts()?;
                    loop {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        let Some(state) = states.get(place) else { return Ok(()) };
                        test.go_on()?;
                        look(&folder, state, place)?;
                    }
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| {
            worker.join().unwrap_or_else(|_| {
                let source = io::Error::other("a thread of the experiment panicked");
                Err(TestError::Io { doing: "look at a state", source })
            })
        })
    })
}

/// Keeps the image of a state that broke a promise.
fn keep(test: &Test<'_>, verdict: Verdict, image: &Image) -> Result<PathBuf, TestError> {
    let failed = TestError::io("keep the image of a violation");
    fs::create_dir_all(&test.settings.violations).map_err(&failed)?;
    let mut name = test.kept_as(verdict).into_os_string();
    name.push(".img");
    let path = PathBuf::from(name);
    image.save(&path).map_err(&failed)?;
    Ok(path)
}

/// Does this number of commits of the work after that of the table, on a device with that content.
/// The log begins with an empty directory on it, or with the files of a new server. A separate
/// program creates those, and interrupting it affects no database.
fn record(
    test: &Test<'_>,
    folder: &Path,
    content: Image,
    commits: u64,
) -> Result<Recording, TestError> {
    let device = Device::mount(folder, content, test.settings.file_system)?;
    fs::create_dir(device.at.join(DATABASE))
        .and_then(|()| File::open(device.at.join(DATABASE))?.sync_all())
        .and_then(|()| File::open(&device.at)?.sync_all())
        .map_err(TestError::io("make the folder of a database"))?;
    if test.is_server() {
        install(test, &device)?;
    }
    let log = device.unmount()?;
    let content = log.prefix(log.records.len());

    let device = Device::mount(folder, content, test.settings.file_system)?;
    let promised = test.nothing();
    let (looked, acknowledged) = work_on(test, &device, &promised, commits)?;
    if looked.verdict != Verdict::Holds {
        let message = looked.message.unwrap_or_else(|| looked.verdict.name().to_owned());
        return Err(test.not_done(message));
    }
    let log = device.unmount()?;
    let log = if test.settings.obeys_flushes { log } else { log.without_flushes() };
    Ok(Recording { log, acknowledged, before: promised })
}

/// Creates a server on a device and stops it.
fn install(test: &Test<'_>, device: &Device) -> Result<(), TestError> {
    let mut worker = test.start(device.at.join(DATABASE), There::Nothing)?;
    match worker.event().map_err(TestError::io("talk to a worker"))? {
        Ok(Event::Failed { message, .. }) => Err(test.not_done(message)),
        Ok(_) => Ok(()),
        Err(silent) => Err(test.not_done(silent.verdict().1)),
    }
}

/// Opens the database of a device and judges its content. If work can continue, each client does
/// `commits` more, and each is acknowledged in the device's log.
fn work_on(
    test: &Test<'_>,
    device: &Device,
    promised: &[Promised],
    commits: u64,
) -> Result<(Looked, Vec<Acknowledged>), TestError> {
    let talk = TestError::io("talk to a worker");
    let is_promised = promised.iter().any(|promised| promised.acknowledged >= MADE);
    let there = if is_promised { There::Table } else { There::NoTable };
    let mut worker = test.start(device.at.join(DATABASE), there)?;
    let made = std::cell::Cell::new(None);
    let opened = || made.set(Some(Acknowledged::now(0, MADE, device)));
    let looked = look::look(&mut worker, test.plan(), promised, opened);
    let mut looked = looked.map_err(&talk)?;
    // If the table had not been promised, its commit is acknowledged to every client at once.
    let made = made.get().filter(|_| !is_promised);
    let of_client = |client| made.map(|made| Acknowledged { client, ..made });
    let mut acknowledged: Vec<_> = (0..promised.len()).filter_map(of_client).collect();
    if let Some(last) = &looked.last {
        let pause = test.settings.over / (COMMITS as u32 * test.clients());
        let last: Vec<_> = last.iter().map(|last| *last.max(&MADE)).collect();
        let failed = look::go_on(&mut worker, &last, commits, |client, number| {
            acknowledged.push(Acknowledged::now(client, number, device));
            if commits == COMMITS {
                thread::sleep(pause);
            }
        });
        if let Some((verdict, message)) = failed.map_err(&talk)? {
            (looked.verdict, looked.message) = (verdict, Some(message));
        }
    }
    Ok((looked, acknowledged))
}

/// The states of one recording, and their results.
struct Tries<'a> {
    test: &'a Test<'a>,
    recording: &'a Recording,
    gathered: &'a Mutex<Gathered<Image>>,
}

impl Tries<'_> {
    fn gathered(&self) -> MutexGuard<'_, Gathered<Image>> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Measures how long it takes to open the database after it was closed. It must hold
    /// everything.
    fn close_and_open(&self, folder: &Path) -> Result<(), TestError> {
        let log = &self.recording.log;
        let content = log.prefix(log.records.len());
        let promised = self.recording.promised(usize::MAX);
        for _ in 0..CLEAN {
            let looked = self.look(folder, content.clone(), &promised)?.map(|(looked, _)| looked);
            match looked {
                Some(Looked { verdict: Verdict::Holds, open_ns, .. }) => {
                    self.gathered().opened_clean(open_ns);
                }
                looked => {
                    let verdict = looked.as_ref().map_or("is not mounted", |l| l.verdict.name());
                    let message = looked.and_then(|looked| looked.message).unwrap_or_default();
                    let message = format!("after a clean close: {verdict} {message}");
                    return Err(self.test.not_done(message));
                }
            }
        }
        Ok(())
    }

    /// Examines a state, and some states again after another cut.
    fn make(&self, folder: &Path, state: &State, place: usize) -> Result<(), TestError> {
        let at = state.cut.at;
        let promised = self.recording.promised(at);
        let Some((looked, again)) = self.look(folder, state.image.clone(), &promised)? else {
            self.gathered().not_mounted += 1;
            return Ok(());
        };
        let last = looked.last.clone();
        let lost = last.as_ref().map(|last| self.recording.lost(at, last));
        let of = || state.cut.to_string();
        self.add(of, &promised, looked, lost, state);
        let (Some(_), 0) = (last, place % TWICE) else { return Ok(()) };
        let seed = self.test.settings.seed.wrapping_add(place as u64);
        for second in again.log.states(0, 1, seed) {
            let promised = again.promised(second.cut.at);
            let Some((looked, _)) = self.look(folder, second.image.clone(), &promised)? else {
                self.gathered().not_mounted += 1;
                continue;
            };
            let of = || format!("{}; mounted, opened, then {}", state.cut, second.cut);
            self.add(of, &promised, looked, None, &second);
            self.gathered().second += 1;
        }
        Ok(())
    }

    fn add(
        &self,
        of: impl FnOnce() -> String,
        promised: &[Promised],
        looked: Looked,
        lost: Option<Lost>,
        state: &State,
    ) {
        let mut gathered = self.gathered();
        let torn = state.cut.tears_a_block();
        gathered.torn_blocks += u32::from(looked.verdict.is_violation() && torn);
        gathered.add(of, torn, promised, looked, lost, || state.image.clone());
    }

    /// Examines the content of a device and does a few more commits, recorded. `None` if the file
    /// system itself is broken.
    fn look(
        &self,
        folder: &Path,
        content: Image,
        promised: &[Promised],
    ) -> Result<Option<(Looked, Recording)>, TestError> {
        let device = match Device::mount(folder, content, self.test.settings.file_system) {
            Ok(device) => device,
            Err(DeviceError::NotMounted { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let (looked, acknowledged) = work_on(self.test, &device, promised, AFTERWARDS)?;
        let log = device.unmount()?;
        // The active commit at the first cut was seen, but never acknowledged.
        let before = (0..).zip(promised).map(|(client, promised): (usize, _)| {
            let last = looked.last.as_ref().map_or(0, |last| last[client]);
            Promised { acknowledged: last.min(promised.acknowledged), begun: last + 1 }
        });
        let before = before.collect();
        Ok(Some((looked, Recording { log, acknowledged, before })))
    }
}
