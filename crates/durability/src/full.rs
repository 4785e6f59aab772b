//! The work fills the disk, which later has room again.
//!
//! Commits fill a file system of fixed size until the engine cannot continue, and a file then fills
//! it to the last block. [`filler`] covers the process that has filled it. A copy of the disk, made
//! while the process was stopped in a commit, is what another process opens in [`reopen`].

mod ballast_disk;
mod filler;
mod reopen;
mod worst;

use std::fs;
use std::path::Path;

use embermark_blockdev::enter_mount_namespace;

use crate::outcome::{Fill, FullDisk, Tested};
use crate::settings::{Result, Settings, Test, TestError};
use crate::try_results::TryResults;
use crate::work::filling::Filling;
use ballast_disk::{BLOCK, BallastDisk};
use filler::DiskFiller;
use worst::WorstFinding;

/// Additional bytes of a server's disk, because it needs more to start.
const SERVER_STARTS: u64 = 512 << 20;
/// Additional bytes of each of a server's ballast files. A segment of PostgreSQL's log has 16 MiB,
/// and it does not start without room for one.
const SERVER_BALLAST: u64 = 24 << 20;

pub(crate) fn test(test: &Test<'_>, progress: &(dyn Fn(u32) + Sync)) -> Result<Tested> {
    enter_mount_namespace()?;
    let folder = &test.settings.folder;
    fs::create_dir_all(folder).map_err(TestError::io("make the folder of the disks"))?;
    let [starts, more] = if test.is_server() { [SERVER_STARTS, SERVER_BALLAST] } else { [0, 0] };
    let disk_bytes = test.settings.disk + starts;
    let ballast_bytes = test.settings.disk / 6 / BLOCK * BLOCK + more;
    let (mut results, mut fills) = (TryResults::new(test.initial_result()), Vec::new());
    for number in 1..=test.settings.fills {
        test.check_interrupted()?;
        let seed = test.settings.seed.wrapping_add(number.into());
        let settings = Settings { seed, ..test.settings.clone() };
        let filling = Some(Filling::default());
        let one = Test { settings: &settings, filling, ..*test };
        let (folder, mut worst) = (folder.join("full"), WorstFinding::new());
        let filled = self::fill(&one, &folder, disk_bytes, ballast_bytes, &mut worst);
        let WorstFinding { inspection, promised, check, kept } = worst;
        let is_violation = inspection.verdict.is_violation() && test.promises();
        if filled.is_ok() || is_violation {
            let of = || format!("disk {number}: {check}");
            results.add(of, false, &[promised], inspection, None, || kept);
        }
        match filled {
            Ok(fill) => fills.push(fill),
            Err(error) if test.loses_nothing(&error, &results) => return Err(error),
            Err(_) => break,
        }
        progress(number);
    }
    let full_disk = FullDisk { disk_bytes, ballast_bytes, fills };
    results.tested.full_disk = Some(full_disk).filter(|full| !full.fills.is_empty());
    results.into_tested(|_, kept| Ok(kept))
}

/// Fills one disk. `worst` gets the worst finding, also if an error ends the experiment.
fn fill(
    test: &Test<'_>,
    folder: &Path,
    bytes: u64,
    ballast: u64,
    worst: &mut WorstFinding,
) -> Result<Fill> {
    let remove = |folder: &Path| match folder.exists() {
        true => fs::remove_dir_all(folder).map_err(TestError::io("remove a disk")),
        false => Ok(()),
    };
    remove(folder)?;
    fs::create_dir_all(folder).map_err(TestError::io("make the folder of a disk"))?;
    let disk = BallastDisk::create(test, &folder.join("disk"), bytes)?;
    let mut filler = DiskFiller::start(test, &disk, ballast)?;
    let (commits, stopped, free_bytes) = filler.fill()?;
    let copy = folder.join("killed.img");
    let promised = filler.copy(&copy)?;
    let reads = filler.read("read on the full disk", worst)?;

    let killed = BallastDisk::mount(test, &folder.join("killed"), &copy)?;
    let opens = reopen::open_on_full_disk(test, &killed, promised, worst)?;
    killed.make_room()?;
    let of = "killed when it was full, opened when there was room";
    reopen::check_with_room(test, &killed, promised, of, worst)?;
    killed.unmount()?;

    let (goes_on, goes_on_ms) = filler.recover(worst)?;
    let deletes = filler.delete_rows(worst)?;
    filler.close()?;
    disk.make_room()?;
    let (filled, promised) = (Test { filling: Some(filler.filling), ..*test }, filler.promised());
    let of = "closed, opened when there was room";
    reopen::check_with_room(&filled, &disk, promised, of, worst)?;
    let room_bytes = filler.room;
    drop(filler);
    disk.unmount()?;
    remove(folder)?;
    let (stopped, stopped_ms) = stopped;
    Ok(Fill {
        seed: test.settings.seed,
        room_bytes,
        commits,
        free_bytes,
        stopped,
        stopped_ms,
        reads,
        goes_on,
        goes_on_ms,
        deletes,
        opens,
        verdict: worst.inspection.verdict,
        found: worst.describe(),
    })
}
