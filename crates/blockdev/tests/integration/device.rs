//! Real file systems on recorded devices. Requires root, FUSE and a loop device.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use embermark_blockdev::{Device, DeviceError, FileSystem, Image, Record, enter_mount_namespace};
use tempfile::TempDir;

/// Size of a device in bytes: each file system has a minimum.
const fn bytes(file_system: FileSystem) -> u64 {
    match file_system {
        FileSystem::Ext4 => 64 << 20,
        FileSystem::Xfs | FileSystem::Btrfs | FileSystem::F2fs => 512 << 20,
    }
}

/// Mounts a new device. `None` if this user may not, or the file system is not available.
fn device(file_system: FileSystem) -> Option<(TempDir, Device)> {
    if !nix::unistd::geteuid().is_root() {
        embermark_skips::skipped("root", "only root can mount a recorded device");
        return None;
    }
    if let Err(error) = file_system.check_available() {
        // ext4 is in every distribution. The others are the user's choice.
        let what = if file_system == FileSystem::Ext4 { "ext4" } else { "file system" };
        embermark_skips::skipped(what, error);
        return None;
    }
    enter_mount_namespace().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("base");
    file_system.make(&base, bytes(file_system)).unwrap();
    let device =
        Device::mount(folder.path(), Image::from_file(&base).unwrap(), file_system).unwrap();
    Some((folder, device))
}

fn append(file: &mut File, text: &str) {
    file.write_all(text.as_bytes()).unwrap();
}

/// Returns the text of a file on a device with that content. `None` if the file does not exist.
fn found(folder: &Path, content: Image, name: &str) -> Option<String> {
    let device = Device::mount(folder, content, FileSystem::Ext4).unwrap();
    let text = fs::read_to_string(device.at.join(name)).ok();
    device.unmount().unwrap();
    text
}

/// Checks that synced data is in every state, and that other data is missing in some.
fn what_was_synced_stays(file_system: FileSystem) {
    let Some((folder, device)) = device(file_system) else { return };
    let mut file = File::create(device.at.join("synced")).unwrap();
    append(&mut file, "kept");
    file.sync_all().unwrap();
    File::open(&device.at).unwrap().sync_all().unwrap();
    let acknowledged = device.position();
    append(&mut file, " lost");
    drop(file);
    let log = device.unmount().unwrap();
    assert!(log.totals(0..acknowledged).flushes > 0);

    let states = log.states(acknowledged, 40, 1);
    let look = folder.path().join("look");
    let mut texts = Vec::new();
    for state in states {
        match Device::mount(&look, state.image, file_system) {
            Ok(device) => {
                let text = fs::read_to_string(device.at.join("synced"));
                texts.push(text.unwrap_or_else(|error| panic!("{:?}: {error}", state.cut)));
                device.unmount().unwrap();
            }
            // ext4 writes its superblock, two sectors, in place.
            Err(error @ DeviceError::NotMounted { .. }) => {
                assert!(state.cut.torn.is_some(), "{:?}: {error}", state.cut);
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(texts.len() > 3 && texts.iter().all(|text| text.starts_with("kept")), "{texts:?}");
    for text in ["kept", "kept lost"] {
        assert!(texts.iter().any(|found| found == text), "{text} in {texts:?}");
    }
}

#[test]
fn on_ext4_what_was_synced_is_in_every_state_and_what_was_not_is_missing_in_some() {
    what_was_synced_stays(FileSystem::Ext4);
}

#[test]
fn on_xfs_what_was_synced_is_in_every_state_and_what_was_not_is_missing_in_some() {
    what_was_synced_stays(FileSystem::Xfs);
}

#[test]
fn on_btrfs_what_was_synced_is_in_every_state_and_what_was_not_is_missing_in_some() {
    what_was_synced_stays(FileSystem::Btrfs);
}

#[test]
fn on_f2fs_what_was_synced_is_in_every_state_and_what_was_not_is_missing_in_some() {
    what_was_synced_stays(FileSystem::F2fs);
}

#[test]
fn several_states_of_a_file_system_are_mounted_at_once() {
    for file_system in FileSystem::ALL {
        let Some((folder, device)) = device(file_system) else { continue };
        fs::write(device.at.join("one"), "1").unwrap();
        let log = device.unmount().unwrap();
        let mounted: Vec<Device> = ["a", "b"]
            .map(|name| {
                let content = log.prefix(log.records.len());
                Device::mount(&folder.path().join(name), content, file_system).unwrap()
            })
            .into();
        fs::write(mounted[0].at.join("two"), "2").unwrap();
        assert_eq!(fs::read_to_string(mounted[1].at.join("one")).unwrap(), "1");
        assert!(!mounted[1].at.join("two").exists(), "{file_system:?}");
        for device in mounted {
            device.unmount().unwrap();
        }
    }
}

#[test]
fn writes_arrive_by_system_calls_and_by_mappings_and_a_sync_is_a_flush() {
    let Some((_folder, device)) = device(FileSystem::Ext4) else { return };
    let path = device.at.join("file");
    let mut file = File::options().create_new(true).read(true).write(true).open(&path).unwrap();
    append(&mut file, &"x".repeat(8192));
    let arrived = |sync: &dyn Fn()| {
        let before = device.position();
        sync();
        before..device.position()
    };
    let called = arrived(&|| file.sync_data().unwrap());
    // SAFETY: nothing else has the file.
    let mut map = unsafe { memmap2::MmapMut::map_mut(&file) }.unwrap();
    map[5000] = b'y';
    let quiet = arrived(&|| ());
    let mapped = arrived(&|| map.flush().unwrap());
    drop((map, file));
    let log = device.unmount().unwrap();
    for (how, range) in [("fdatasync", called), ("msync", mapped)] {
        let counted = log.totals(range);
        assert!(counted.bytes > 0 && counted.flushes > 0, "{how}: {counted:?}");
    }
    assert!(log.records[quiet].is_empty());
    let holds = |byte| move |record: &Record| matches!(record, Record::Write { data, .. } if data.contains(&byte) && data.contains(&b'x'));
    assert!(log.records.iter().any(holds(b'y')), "the change of the mapping");
}

#[test]
fn a_state_can_be_recorded_again_and_saved() {
    let Some((folder, device)) = device(FileSystem::Ext4) else { return };
    fs::write(device.at.join("one"), "1").unwrap();
    let log = device.unmount().unwrap();
    let content = log.prefix(log.records.len());
    let saved = folder.path().join("saved.img");
    content.save(&saved).unwrap();

    let again = Device::mount(folder.path(), content, FileSystem::Ext4).unwrap();
    fs::write(again.at.join("two"), "2").unwrap();
    let log = again.unmount().unwrap();
    assert!(log.records.iter().any(|record| matches!(record, Record::Write { .. })));
    let last = log.prefix(log.records.len());
    let look = folder.path().join("look");
    assert_eq!(found(&look, last.clone(), "one").as_deref(), Some("1"));
    assert_eq!(found(&look, last, "two").as_deref(), Some("2"));
    assert_eq!(found(&look, Image::from_file(&saved).unwrap(), "two"), None);
}
