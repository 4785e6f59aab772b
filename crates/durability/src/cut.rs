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

use embermark_blockdev::{Device, DeviceError, Image, State, enter_mount_namespace};

use crate::inspection::{self, Inspection};
use crate::oracle::{Promised, Verdict};
use crate::outcome::{CommitIo, Experiment, Tested};
use crate::protocol::{DatabaseState, Event};
use crate::recording::{Acknowledgement, Recording};
use crate::settings::{Result, Test, TestError};
use crate::try_results::{TryLoss, TryResults};
use crate::work::TABLE_COMMIT;

/// Number of commits of each client's work after the table was made.
const COMMITS: u64 = 150;
/// Size of the device in bytes.
const DEVICE_BYTES: u64 = 1 << 30;
/// Number of commits after a cut, before the second one.
const COMMITS_AFTER_CUT: u64 = 3;
/// One of this many states is cut a second time, during its recovery or the commits after it.
const SECOND_CUT_EVERY: usize = 4;
/// How often a closed database is opened to measure the time.
const CLEAN_OPENS: usize = 3;
/// Folder of the database on the device. The root of a file system may have its own.
const DATABASE: &str = "database";

pub(crate) fn test(test: &Test<'_>, progress: &(dyn Fn(u32) + Sync)) -> Result<Tested> {
    enter_mount_namespace()?;
    let settings = test.settings;
    let folder = &settings.folder;
    fs::create_dir_all(folder).map_err(TestError::io("make the folder of the devices"))?;
    let base = folder.join("base.img");
    settings.file_system.make(&base, DEVICE_BYTES)?;
    let content = Image::from_file(&base).map_err(TestError::io("read a device's image"))?;
    let recording = record(test, &folder.join("record"), content.clone(), COMMITS)?;
    let made = recording.acknowledged.first().map_or(0, |first| first.at);
    let last = recording.acknowledged.last().map_or(0, |last| last.at);
    let counted = recording.log.totals(made..last);
    let commits = recording.acknowledged.len() as u64 - u64::from(test.clients());
    let commit = Some(CommitIo { commits, bytes: counted.bytes, flushes: counted.flushes });

    let most = settings.states as usize;
    let states = match test.experiment {
        Experiment::DeviceLies => recording.log.lying_states(most, settings.seed),
        _ => recording.log.states(0, most, settings.seed),
    };
    let results = TryResults::new(Tested { commit, ..test.initial_result() });
    let (results, looked_at) = (Mutex::new(results), AtomicU32::new(0));
    let progress = || progress(looked_at.fetch_add(1, Ordering::Relaxed) + 1);
    let inspector = StateInspector { test, recording: &recording, results: &results };
    let inspect = || {
        inspector.close_and_open(&folder.join("look"))?;
        inspect_in_parallel(test, &states, &|folder, state, index| {
            inspector.inspect_state(folder, state, index)?;
            progress();
            Ok(())
        })?;
        // They are for finding broken promises, and a state of a server takes long.
        if test.promises() && !test.is_server() {
            short::test(test, &content, &results, &progress)?;
        }
        Ok(())
    };
    let ended = inspect();
    drop(states);
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    match ended {
        Err(error) if test.loses_nothing(&error, &results) => return Err(error),
        _ => {}
    }
    let tested = results.into_tested(|example, image| {
        let promised = test.promises() && example.verdict.is_violation();
        promised.then(|| keep(test, example.verdict, &image)).transpose()
    })?;
    fs::remove_file(&base).map_err(TestError::io("remove a device's image"))?;
    Ok(tested)
}

/// Examines states with one thread per CPU, each with its own folder and mounts.
fn inspect_in_parallel(
    test: &Test<'_>,
    states: &[State],
    inspect: &(dyn Fn(&Path, &State, usize) -> Result<()> + Sync),
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let processors = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    // A server waits most of the time that it takes to start and stop.
    let threads = if test.is_server() { 2 * processors } else { processors };
    thread::scope(|scope| {
        let spawn = |number: usize| {
            let next = &next;
            let folder = test.settings.folder.join(format!("look-{number}"));
            scope.spawn(move || -> Result<()> {
                enter_mount_namespace()?;
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(state) = states.get(index) else { return Ok(()) };
                    test.check_interrupted()?;
                    inspect(&folder, state, index)?;
                }
            })
        };
        let workers: Vec<_> = (0..threads).map(spawn).collect();
        workers.into_iter().try_for_each(|worker| {
            worker.join().unwrap_or_else(|_| {
                let source = io::Error::other("a thread of the experiment panicked");
                Err(TestError::Io { doing: "inspect a state", source })
            })
        })
    })
}

/// Keeps the image of a state that broke a promise.
fn keep(test: &Test<'_>, verdict: Verdict, image: &Image) -> Result<PathBuf> {
    let failed = TestError::io("keep the image of a violation");
    fs::create_dir_all(&test.settings.violations).map_err(&failed)?;
    let path = test.violation_path(verdict, ".img");
    image.save(&path).map_err(&failed)?;
    Ok(path)
}

/// Does this number of commits of the work after that of the table, on a device with that content.
/// The log begins with an empty folder on it, or with the files of a new server. A separate
/// program creates those, and interrupting it affects no database.
fn record(test: &Test<'_>, folder: &Path, content: Image, commits: u64) -> Result<Recording> {
    let device = Device::mount(folder, content, test.settings.file_system)?;
    fs::create_dir(device.at.join(DATABASE))
        .and_then(|()| File::open(device.at.join(DATABASE))?.sync_all())
        .and_then(|()| File::open(&device.at)?.sync_all())
        .map_err(TestError::io("make the folder of a database"))?;
    if test.is_server() {
        create_server(test, &device)?;
    }
    let log = device.unmount()?;
    let content = log.prefix(log.records.len());

    let device = Device::mount(folder, content, test.settings.file_system)?;
    let promised = test.initial_promises();
    let (inspection, acknowledged) = inspect_and_continue(test, &device, &promised, commits)?;
    test.check_holds(&inspection)?;
    let log = device.unmount()?;
    let log = if test.settings.obeys_flushes { log } else { log.without_flushes() };
    Ok(Recording { log, acknowledged, before: promised })
}

/// Creates a server on a device and stops it.
fn create_server(test: &Test<'_>, device: &Device) -> Result<()> {
    let mut worker = test.start(device.at.join(DATABASE), DatabaseState::Nothing)?;
    match worker.next_event()? {
        Ok(Event::Failed { message, .. }) => Err(test.engine_error(message)),
        Ok(_) => Ok(()),
        Err(silent) => Err(test.engine_error(silent.verdict().1)),
    }
}

/// Opens the database of a device and judges its content. If work can continue, each client does
/// `commits` more, and each is acknowledged in the device's log.
fn inspect_and_continue(
    test: &Test<'_>,
    device: &Device,
    promised: &[Promised],
    commits: u64,
) -> Result<(Inspection, Vec<Acknowledgement>)> {
    let is_promised = promised.iter().any(|promised| promised.acknowledged >= TABLE_COMMIT);
    let there = if is_promised { DatabaseState::Table } else { DatabaseState::NoTable };
    let mut worker = test.start(device.at.join(DATABASE), there)?;
    let made = std::cell::Cell::new(None);
    let opened = || made.set(Some(Acknowledgement::now(0, TABLE_COMMIT, device)));
    let mut inspection = inspection::inspect(&mut worker, test.plan(), promised, opened)?;
    // The files of a server were made before.
    if !test.is_server() {
        inspection = inspection.while_it_was_made(promised);
    }
    // If the table had not been promised, its commit is acknowledged to every client at once.
    let made = made.get().filter(|_| !is_promised);
    let of_client = |client| made.map(|made| Acknowledgement { client, ..made });
    let mut acknowledged: Vec<_> = (0..promised.len()).filter_map(of_client).collect();
    if let Some(last) = &inspection.last {
        let pause = test.settings.min_duration / (COMMITS as u32 * test.clients());
        let last: Vec<_> = last.iter().map(|last| *last.max(&TABLE_COMMIT)).collect();
        let failed = inspection::continue_work(&mut worker, &last, commits, |client, number| {
            acknowledged.push(Acknowledgement::now(client, number, device));
            if commits == COMMITS {
                thread::sleep(pause);
            }
        })?;
        if let Some((verdict, message)) = failed {
            (inspection.verdict, inspection.message) = (verdict, Some(message));
        }
    }
    Ok((inspection, acknowledged))
}

/// The states of one recording, and their results.
struct StateInspector<'a> {
    test: &'a Test<'a>,
    recording: &'a Recording,
    results: &'a Mutex<TryResults<Image>>,
}

impl StateInspector<'_> {
    fn results(&self) -> MutexGuard<'_, TryResults<Image>> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Measures how long it takes to open the database after it was closed. It must hold
    /// everything.
    fn close_and_open(&self, folder: &Path) -> Result<()> {
        let log = &self.recording.log;
        let content = log.prefix(log.records.len());
        let promised = self.recording.promised(usize::MAX);
        for _ in 0..CLEAN_OPENS {
            let (verdict, message) = match self.inspect(folder, content.clone(), &promised)? {
                Some((Inspection { verdict: Verdict::Holds, open_ns, .. }, _)) => {
                    self.results().add_clean_open(open_ns);
                    continue;
                }
                Some((inspection, _)) => (inspection.verdict.name(), inspection.message),
                None => ("is not mounted", None),
            };
            let message = message.unwrap_or_default();
            return Err(self
                .test
                .engine_error(format!("after a clean close: {verdict} {message}")));
        }
        Ok(())
    }

    /// Examines a state, and some states again after another cut.
    fn inspect_state(&self, folder: &Path, state: &State, index: usize) -> Result<()> {
        let at = state.cut.at;
        let promised = self.recording.promised(at);
        let found = self.inspect(folder, state.image.clone(), &promised)?;
        let Some((inspection, again)) = found else { return Ok(()) };
        let last = inspection.last.clone();
        let lost = last.as_ref().map(|last| self.recording.loss(at, last));
        let of = || state.cut.to_string();
        let torn = state.cut.tears_a_block();
        self.add(of, torn, &promised, inspection, lost, &state.image);
        let (Some(_), 0) = (last, index % SECOND_CUT_EVERY) else { return Ok(()) };
        let seed = self.test.settings.seed.wrapping_add(index as u64);
        for second in again.log.states(0, 1, seed) {
            let promised = again.promised(second.cut.at);
            let found = self.inspect(folder, second.image.clone(), &promised)?;
            let Some((inspection, _)) = found else { continue };
            let of = || format!("{}; mounted, opened, then {}", state.cut, second.cut);
            let torn = torn || second.cut.tears_a_block();
            self.add(of, torn, &promised, inspection, None, &second.image);
            self.results().tested.second += 1;
        }
        Ok(())
    }

    fn add(
        &self,
        of: impl FnOnce() -> String,
        torn: bool,
        promised: &[Promised],
        inspection: Inspection,
        lost: Option<TryLoss>,
        image: &Image,
    ) {
        let mut results = self.results();
        results.tested.torn_blocks += u32::from(inspection.verdict.is_violation() && torn);
        results.add(of, torn, promised, inspection, lost, || image.clone());
    }

    /// Mounts the content of a device. `None`, which is counted, if the file system itself is
    /// broken.
    fn mount(&self, folder: &Path, content: Image) -> Result<Option<Device>> {
        match Device::mount(folder, content, self.test.settings.file_system) {
            Err(DeviceError::NotMounted { .. }) => {
                self.results().tested.not_mounted += 1;
                Ok(None)
            }
            mounted => Ok(Some(mounted?)),
        }
    }

    /// Examines the content of a device and does a few more commits, recorded. `None` if the file
    /// system itself is broken.
    fn inspect(
        &self,
        folder: &Path,
        content: Image,
        promised: &[Promised],
    ) -> Result<Option<(Inspection, Recording)>> {
        let Some(device) = self.mount(folder, content)? else { return Ok(None) };
        let (inspection, acknowledged) =
            inspect_and_continue(self.test, &device, promised, COMMITS_AFTER_CUT)?;
        let log = device.unmount()?;
        // The active commit at the first cut was seen, but never acknowledged.
        let before = (0..).zip(promised).map(|(client, promised): (usize, _)| {
            let last = inspection.last.as_ref().map_or(0, |last| last[client]);
            Promised { acknowledged: last.min(promised.acknowledged), begun: last + 1 }
        });
        let before = before.collect();
        Ok(Some((inspection, Recording { log, acknowledged, before })))
    }
}
