//! A device whose content is a file. Requires root, FUSE and a loop device.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use embermark_blockdev::{FileSystem, RequestKind, TracedDevice, enter_mount_namespace};
use tempfile::TempDir;

/// Mounts an image of 2 GiB in a sparse file. `None` if this user may not.
fn device() -> Option<(TempDir, TracedDevice)> {
    if !nix::unistd::geteuid().is_root() {
        embermark_skips::skipped("root", "only root can mount a recorded device");
        return None;
    }
    enter_mount_namespace().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("image");
    FileSystem::Ext4.make(&image, 2 << 30).unwrap();
    let device = TracedDevice::mount(folder.path(), &image, FileSystem::Ext4).unwrap();
    Some((folder, device))
}

/// Returns the sectors written and the flushes of a folder's device, by the kernel's count
/// (`/sys/dev/block/N:M/stat`, fields 7 and 16), after a sync.
fn counters(at: &Path) -> [u64; 2] {
    nix::unistd::syncfs(File::open(at).unwrap()).unwrap();
    let dev = fs::metadata(at).unwrap().dev();
    let (major, minor) = (nix::sys::stat::major(dev), nix::sys::stat::minor(dev));
    let stat = fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/stat")).unwrap();
    let fields: Vec<u64> = stat.split_whitespace().map(|field| field.parse().unwrap()).collect();
    [fields[6], fields[15]]
}

fn now() -> u64 {
    let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).unwrap();
    (now.tv_sec() * 1_000_000_000 + now.tv_nsec()).cast_unsigned()
}

#[test]
fn what_is_noted_is_what_the_loop_device_counted() {
    let Some((_folder, device)) = device() else { return };
    let mut parts = Vec::new();
    let mut file = File::create(device.at.join("file")).unwrap();
    // Synced in small pieces, and much at once.
    for (piece, times) in [(100, 50), (8 << 20, 4)] {
        let (before, began) = (counters(&device.at), now());
        for time in 0..times {
            file.write_all(&vec![time as u8 + 1; piece]).unwrap();
            file.sync_all().unwrap();
        }
        let (after, ended) = (counters(&device.at), now());
        parts.push((began, ended, after[0] - before[0], after[1] - before[1]));
    }
    drop(file);
    let trace = device.unmount().unwrap();
    for (began, ended, sectors, flushes) in parts {
        let of = |kind| {
            let part = trace.iter().filter(move |access| (began..=ended).contains(&access.ns));
            part.filter(move |access| access.kind == kind)
        };
        let bytes: u64 = of(RequestKind::Write).map(|access| access.length).sum();
        let counted = (bytes, of(RequestKind::Flush).count() as u64);
        assert_eq!(counted, (sectors * 512, flushes));
        assert!(bytes > 50 * 4096 && flushes >= 4, "{counted:?}");
    }
    assert!(trace.iter().map(|access| access.ns).is_sorted());
    assert_eq!((trace.device_bytes, trace.left_out), (2 << 30, 0));
}

#[test]
fn what_was_written_is_in_the_file_and_a_sparse_one_stays_small() {
    let Some((folder, device)) = device() else { return };
    let mut file = File::create(device.at.join("file")).unwrap();
    file.seek(SeekFrom::Start(100 << 20)).unwrap();
    file.write_all(b"there").unwrap();
    drop(file);
    device.unmount().unwrap();
    let image = folder.path().join("image");
    assert!(image.metadata().unwrap().blocks() * 512 < 200 << 20);
    let again = TracedDevice::mount(folder.path(), &image, FileSystem::Ext4).unwrap();
    let text = fs::read(again.at.join("file")).unwrap();
    assert_eq!(&text[100 << 20..], b"there");
    again.unmount().unwrap();
}

#[test]
fn what_is_trimmed_is_noted_and_given_back() {
    let Some((folder, device)) = device() else { return };
    let (file, image) = (device.at.join("file"), folder.path().join("image"));
    fs::write(&file, vec![7; 64 << 20]).unwrap();
    counters(&device.at);
    let full = image.metadata().unwrap().blocks();
    fs::remove_file(&file).unwrap();
    counters(&device.at);
    let trimmed = Command::new("fstrim").arg(&device.at).output();
    let Ok(trimmed) = trimmed else {
        return embermark_skips::skipped("fstrim", "apt install util-linux");
    };
    assert!(trimmed.status.success(), "{trimmed:?}");
    let trace = device.unmount().unwrap();
    let discards = trace.iter().filter(|access| access.kind == RequestKind::Discard);
    assert!(discards.map(|access| access.length).sum::<u64>() >= 64 << 20);
    assert!(image.metadata().unwrap().blocks() + (60 << 11) < full, "it is sparse again");
}
