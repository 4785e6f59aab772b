//! A device with the times of a model. Requires root, FUSE and a loop device.
//!
//! These tests check that a request takes at least its time. The accuracy depends on the load of
//! the machine: docs/storage.md has figures.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use embermark_blockdev::{
    FileSystem, Request, RequestKind, TimedDevice, Timing, enter_mount_namespace,
};
use embermark_model::result::{StoragePath, StorageTimes};
use tempfile::TempDir;

/// A model whose requests all take the same time, in parallel. It records them.
#[derive(Clone, Default)]
struct FixedTiming {
    ns: u64,
    /// Each request with its time of arrival.
    requests: Arc<Mutex<Vec<(Request, u64)>>>,
}

impl Timing for FixedTiming {
    fn end(&mut self, request: Request, now: u64) -> u64 {
        self.requests.lock().unwrap().push((request, now));
        now + self.ns
    }
}

impl FixedTiming {
    fn new(ms: u64) -> Self {
        Self { ns: ms * 1_000_000, ..Self::default() }
    }

    fn count(&self, kind: RequestKind) -> usize {
        self.requests.lock().unwrap().iter().filter(|(request, _)| request.kind == kind).count()
    }
}

const SECTOR: u32 = 512;

fn device(timing: &FixedTiming, parallel_requests: u32) -> Option<(TempDir, TimedDevice)> {
    if !nix::unistd::geteuid().is_root() {
        embermark_skips::skipped("root", "only root can mount an imitated device");
        return None;
    }
    enter_mount_namespace().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("image");
    FileSystem::Ext4.make(&image, 64 << 20).unwrap();
    let (timing, path) = (Box::new(timing.clone()), StoragePath::default());
    let device = TimedDevice::mount(
        folder.path(),
        &image,
        FileSystem::Ext4,
        timing,
        parallel_requests,
        SECTOR,
        path,
    );
    Some((folder, device.unwrap()))
}

/// A file of 1 MiB whose blocks are all written, for reads and writes that bypass the page cache.
fn direct(device: &TimedDevice) -> File {
    let path = device.at.join("file");
    fs::write(&path, vec![7; 1 << 20]).unwrap();
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).custom_flags(libc::O_DIRECT).open(path).unwrap();
    file.sync_all().unwrap();
    file
}

#[repr(align(4096))]
struct Block([u8; 4096]);

#[test]
fn a_request_takes_no_less_than_it_is_to_and_is_one_request() {
    let timing = FixedTiming::new(3);
    let Some((_folder, device)) = device(&timing, 1) else { return };
    let file = direct(&device);
    let mut block = Block([0; 4096]);
    let before = [timing.count(RequestKind::Read), timing.count(RequestKind::Write)];
    let begun = Instant::now();
    for place in 0..10 {
        file.read_exact_at(&mut block.0, place * 8_192).unwrap();
        block.0[0] = place as u8;
        file.write_all_at(&block.0, place * 8_192).unwrap();
    }
    assert!(begun.elapsed() >= Duration::from_millis(20 * 3));
    let after = [timing.count(RequestKind::Read), timing.count(RequestKind::Write)];
    assert!(after[0] - before[0] >= 10 && after[1] - before[1] >= 10, "{before:?} {after:?}");
    let (flushes, begun) = (timing.count(RequestKind::Flush), Instant::now());
    file.sync_all().unwrap();
    assert!(timing.count(RequestKind::Flush) > flushes && begun.elapsed().as_millis() >= 3);
    drop(file);
    let (trace, StorageTimes { requests, time_ns, .. }) = device.unmount().unwrap();
    assert!(!trace.is_empty() && time_ns == requests * 3_000_000, "{requests} in {time_ns} ns");
}

#[test]
fn a_large_write_reaches_it_in_one_piece_and_its_content_is_kept() {
    let timing = FixedTiming::new(0);
    let Some((folder, device)) = device(&timing, 1) else { return };
    let mut file = File::create(device.at.join("large")).unwrap();
    let bytes: Vec<u8> = (0..4_u32 << 20).map(|i| (i / 4_096) as u8).collect();
    file.write_all(&bytes).unwrap();
    file.sync_all().unwrap();
    drop(file);
    let largest = timing.requests.lock().unwrap().iter().map(|(request, _)| request.length).max();
    assert!(largest >= Some(128 << 10), "{largest:?}");
    device.unmount().unwrap();
    let image = folder.path().join("image");
    let (timing, path) = (Box::new(timing), StoragePath::default());
    let (at, ext4) = (folder.path(), FileSystem::Ext4);
    let again = TimedDevice::mount(at, &image, ext4, timing, 1, SECTOR, path).unwrap();
    assert!(fs::read(again.at.join("large")).unwrap() == bytes);
    again.unmount().unwrap();
    // Only the image is left.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn with_a_deeper_queue_requests_pass_side_by_side() {
    let timing = FixedTiming::new(200);
    let Some((_folder, device)) = device(&timing, 8) else { return };
    timing.requests.lock().unwrap().clear();
    let file = direct(&device);
    thread::scope(|scope| {
        for place in 0..8 {
            let file = &file;
            scope.spawn(move || {
                let mut block = Block([0; 4096]);
                file.read_exact_at(&mut block.0, place * 8_192).unwrap();
            });
        }
    });
    drop(file);
    device.unmount().unwrap();
    let requests = timing.requests.lock().unwrap();
    let side_by_side = requests.windows(2).filter(|pair| pair[1].1 < pair[0].1 + timing.ns).count();
    assert!(side_by_side > 0, "each began when the one before had ended: {requests:?}");
}
