//! Removes shared memory that a killed PostgreSQL leaves. No process uses it, and it would stay
//! until the next boot.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::thread;
use std::time::{Duration, Instant};

/// How deep a server's data directory is in a trial's folder.
const DEEPEST: u32 = 3;

/// `PGShmemHeader` of PostgreSQL's `src/include/storage/pg_shmem.h`: its magic number, its size,
/// and the offsets of the handle of its dynamic shared memory and of the device and inode of its
/// data directory.
const MAGIC: u32 = 679_834_894;
const HEADER: usize = 56;
const HANDLE: usize = 24;
const DEVICE: usize = 40;
const INODE: usize = 48;

/// `dsm_control_header` and `dsm_control_item` of `src/backend/storage/ipc/dsm.c`: a magic number,
/// the number of items, and after 12 bytes the items, each beginning with the handle of a segment.
const CONTROL_MAGIC: u32 = 0x9a50_3d32;
const ITEMS: usize = 16;
const ITEM: usize = 32;

/// Removes the System V segments of servers whose data directories are below `site`, and the POSIX
/// shared memory that they name. Segments with an attached process remain. Returns whether there
/// are any.
pub(super) fn remove_left(site: &Path) -> bool {
    let directories = directories(site, DEEPEST);
    let mut in_use = false;
    for (id, is_attached) in segments() {
        let Some(header) = header(id).filter(|header| directories.contains(&place(header))) else {
            continue;
        };
        in_use |= is_attached;
        if !is_attached {
            // SAFETY: this command reads nothing through its last argument.
            unsafe { libc::shmctl(id, libc::IPC_RMID, ptr::null_mut()) };
            remove_dynamic(u32::from_ne_bytes(word(&header, HANDLE)));
        }
    }
    in_use
}

/// Removes what [`remove_left`] does as soon as no process is attached, for which it waits up to
/// five seconds.
pub(super) fn remove_once_unused(site: &Path) {
    let begun = Instant::now();
    while remove_left(site) && begun.elapsed() < Duration::from_secs(5) {
        thread::sleep(Duration::from_millis(10));
    }
}

/// Removes a server's POSIX shared memory: what its control segment lists, and the control segment.
/// It is already gone if the server ended properly.
fn remove_dynamic(control: u32) {
    let path = |handle: u32| PathBuf::from(format!("/dev/shm/PostgreSQL.{handle}"));
    let listed = fs::read(path(control)).unwrap_or_default();
    for handle in handles(&listed).chain([control]) {
        let _ = fs::remove_file(path(handle));
    }
}

/// Returns the handles in a control segment.
fn handles(control: &[u8]) -> impl Iterator<Item = u32> {
    let number = |at: usize| {
        let bytes = control.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_ne_bytes(bytes))
    };
    let items = number(4).filter(|_| number(0) == Some(CONTROL_MAGIC)).unwrap_or_default();
    (0..items as usize).map_while(move |item| number(ITEMS + item * ITEM))
}

/// Returns device and inode of a folder and every folder below.
fn directories(at: &Path, deepest: u32) -> Vec<(u64, u64)> {
    let Ok(meta) = at.symlink_metadata() else { return Vec::new() };
    if !meta.is_dir() {
        return Vec::new();
    }
    let mut found = vec![(meta.dev(), meta.ino())];
    if deepest > 0 {
        let below = fs::read_dir(at).into_iter().flatten().flatten();
        found.extend(below.flat_map(|entry| directories(&entry.path(), deepest - 1)));
    }
    found
}

/// Returns the segments of the size of a header, with whether a process is attached:
/// proc_sysvipc(5).
fn segments() -> Vec<(i32, bool)> {
    let table = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let row = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        // 1 shmid, 3 size, 6 nattch.
        let [id, size, attached] = [1, 3, 6].map(|place| fields.get(place).copied());
        let is_header = size == Some(&HEADER.to_string());
        Some((id.filter(|_| is_header)?.parse().ok()?, attached != Some("0")))
    };
    table.lines().filter_map(row).collect()
}

/// Returns the content of a segment, if it is PostgreSQL's.
fn header(id: i32) -> Option<[u8; HEADER]> {
    // SAFETY: the kernel chooses a free address, or answers -1.
    let at = unsafe { libc::shmat(id, ptr::null(), libc::SHM_RDONLY) };
    if at.addr() == usize::MAX {
        return None;
    }
    // SAFETY: a segment has at least a page, which is longer than this, and is attached; another
    // process that writes to it meanwhile changes nothing but bytes.
    let header = unsafe { at.cast::<[u8; HEADER]>().read_unaligned() };
    // SAFETY: it was attached above, and is not used again.
    unsafe { libc::shmdt(at) };
    (u32::from_ne_bytes(word(&header, 0)) == MAGIC).then_some(header)
}

fn place(header: &[u8; HEADER]) -> (u64, u64) {
    (u64::from_ne_bytes(word(header, DEVICE)), u64::from_ne_bytes(word(header, INODE)))
}

fn word<const N: usize>(header: &[u8; HEADER], at: usize) -> [u8; N] {
    std::array::from_fn(|byte| header[at + byte])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a segment as a server with this data directory leaves it.
    fn left(directory: &Path) -> i32 {
        let meta = directory.metadata().unwrap();
        // SAFETY: a new segment of this process, which is attached, written within its size, and
        // released.
        unsafe {
            let id = libc::shmget(libc::IPC_PRIVATE, HEADER, libc::IPC_CREAT | 0o600);
            let at = libc::shmat(id, ptr::null(), 0).cast::<u8>();
            at.cast::<u32>().write_unaligned(MAGIC);
            at.add(HANDLE).cast::<u32>().write_unaligned(0);
            at.add(DEVICE).cast::<u64>().write_unaligned(meta.dev());
            at.add(INODE).cast::<u64>().write_unaligned(meta.ino());
            libc::shmdt(at.cast());
            id
        }
    }

    #[test]
    fn what_a_server_below_a_folder_left_is_removed_and_nothing_else() {
        let (ours, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let data = ours.path().join("server/data");
        fs::create_dir_all(&data).unwrap();
        let (left, foreign) = (left(&data), left(other.path()));
        assert!(left >= 0 && foreign >= 0);
        assert!(!remove_left(ours.path()));
        let all = segments();
        assert!(!all.contains(&(left, false)) && all.contains(&(foreign, false)));
        // SAFETY: a segment of this process, which releases it.
        unsafe {
            let at = libc::shmat(foreign, ptr::null(), 0);
            assert!(remove_left(other.path()), "it is in use");
            libc::shmdt(at);
        }
        assert!(segments().contains(&(foreign, false)));
        assert!(!remove_left(other.path()));
        assert!(!segments().contains(&(foreign, false)));
    }

    #[test]
    fn a_control_segment_lists_its_handles_and_a_file_of_anything_else_none() {
        let mut control = vec![0; ITEMS + 3 * ITEM];
        let mut put = |at: usize, number: u32| {
            control[at..at + 4].copy_from_slice(&number.to_ne_bytes());
        };
        put(0, CONTROL_MAGIC);
        put(4, 2);
        put(ITEMS, 7);
        put(ITEMS + ITEM, 8);
        assert_eq!(handles(&control).collect::<Vec<_>>(), [7, 8]);
        assert_eq!(handles(&control[..ITEMS + 8]).collect::<Vec<_>>(), [7], "cut off");
        control[0] ^= 1;
        assert_eq!(handles(&control).count() + handles(&[]).count(), 0);
    }
}
