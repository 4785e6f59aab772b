use std::fs;
use std::thread;

use embermark_skips::skipped;

use super::*;
use crate::own_mounts;

#[test]
fn it_is_as_large_as_asked_is_full_by_what_is_written_and_its_copy_has_that() {
    if !nix::unistd::geteuid().is_root() {
        skipped("root", "a file system is mounted, which is for root alone");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    thread::scope(|scope| {
        scope.spawn(|| {
            own_mounts().unwrap();
            FileSystem::Ext4.make(&path("image"), 32 << 20).unwrap();
            let disk = Disk::mount(&path("image"), &path("at"), FileSystem::Ext4).unwrap();
            let free = disk.free().unwrap();
            assert!(free > 20 << 20 && free < 32 << 20, "{free}");
            let full = fs::write(disk.at.join("file"), vec![7; 40 << 20]).unwrap_err();
            assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
            disk.sync().unwrap();
            // ext4 keeps a little for its own; what it keeps for root, if not told otherwise, is a twentieth.
            let left = disk.free().unwrap();
            assert!(left < (32 << 20) / 50, "nothing is kept for root: {left}");
            disk.copy(&path("copy")).unwrap();
            fs::remove_file(disk.at.join("file")).unwrap();
            disk.sync().unwrap();
            assert_eq!(disk.free().unwrap(), free);
            disk.unmount().unwrap();
            let copy = Disk::mount(&path("copy"), &path("at"), FileSystem::Ext4).unwrap();
            let there = fs::read(copy.at.join("file")).unwrap();
            assert!(there.len() > 20 << 20 && there.iter().all(|byte| *byte == 7));
        });
    });
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains(&*path("at").to_string_lossy()));
}
