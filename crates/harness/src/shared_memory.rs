//! Shared memory that a killed PostgreSQL leaves: no process holds it, and it would stay until the next boot.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::ptr;

/// How deep a server's data directory lies in a trial's folder.
const DEEPEST: u32 = 3;

/// `PGShmemHeader` of PostgreSQL's `src/include/storage/pg_shmem.h`: its magic number, its size, and where it
/// has the handle of its dynamic shared memory and the device and inode of its data directory.
const MAGIC: u32 = 679_834_894;
const HEADER: usize = 56;
const HANDLE: usize = 24;
const DEVICE: usize = 40;
const INODE: usize = 48;

/// Removes the segments of System V of servers whose data directories lie below `site`, and the POSIX
/// shared memory that they name. Segments that a process is attached to stay.
pub(crate) fn remove_left(site: &Path) {
    let directories = directories(site, DEEPEST);
    for id in unattached() {
        if let Some(header) = header(id)
            && directories.contains(&place(&header))
        {
            // SAFETY: this command reads nothing through its last argument.
            unsafe { libc::shmctl(id, libc::IPC_RMID, ptr::null_mut()) };
            let handle = u32::from_ne_bytes(word(&header, HANDLE));
            // Gone already where the server has ended in good order.
            let _ = fs::remove_file(PathBuf::from(format!("/dev/shm/PostgreSQL.{handle}")));
        }
    }
}

/// Device and inode of every directory below one, itself among them.
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

/// Segments of the size of a header to which nobody is attached: proc_sysvipc(5).
fn unattached() -> Vec<i32> {
    let table = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let row = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        // 1 shmid, 3 size, 6 nattch.
        let [id, size, attached] = [1, 3, 6].map(|place| fields.get(place).copied());
        let is_left = size == Some(&HEADER.to_string()) && attached == Some("0");
        id.filter(|_| is_left)?.parse().ok()
    };
    table.lines().filter_map(row).collect()
}

/// What a segment holds, where it is PostgreSQL's.
fn header(id: i32) -> Option<[u8; HEADER]> {
    // SAFETY: the kernel chooses a free address, or answers -1.
    let at = unsafe { libc::shmat(id, ptr::null(), libc::SHM_RDONLY) };
    if at.addr() == usize::MAX {
        return None;
    }
    // SAFETY: a segment is at least a page, which is longer than this, and is attached; whoever might write
    // to it meanwhile changes bytes alone.
    let header = unsafe { at.cast::<[u8; HEADER]>().read_unaligned() };
    // SAFETY: what was attached above, and is used no more.
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

    /// A segment as a server leaves it whose data directory is this one.
    fn left(directory: &Path) -> i32 {
        let meta = directory.metadata().unwrap();
        // SAFETY: a new segment of this process, which is attached, written within its size, and let go.
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
        remove_left(ours.path());
        let all = unattached();
        assert!(!all.contains(&left) && all.contains(&foreign));
        remove_left(other.path());
        assert!(!unattached().contains(&foreign));
    }
}
