//! Classifies system calls.

use std::fs;

use embermark_model::result::{CallKind, SystemCalls};
use syscalls::Sysno;

/// Direction of a counted system call. Its return value gives the number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    /// It reads from a file.
    FromFile,
    /// It writes to a file.
    ToFile,
}

/// Returns the name of a system call on this machine's architecture.
pub(super) fn name(number: u64) -> String {
    let known = usize::try_from(number).ok().and_then(Sysno::new);
    known.map_or_else(|| format!("syscall {number}"), |known| known.name().to_owned())
}

/// Counts a system call that a thread begins.
pub(super) fn count(
    calls: &mut SystemCalls,
    thread: i32,
    name: String,
    arguments: &[u64; 6],
) -> Option<Transfer> {
    let mut kind = kind(&name, arguments);
    let mut transfer = None;
    if matches!(kind, CallKind::Read | CallKind::Write) {
        // The bits above 32 of the first argument are not part of the descriptor.
        let target = fs::read_link(format!("/proc/{thread}/fd/{}", arguments[0] as u32));
        let target = target.map(|target| target.to_string_lossy().into_owned()).unwrap_or_default();
        if target.starts_with("socket:") {
            kind = CallKind::Network;
        } else if target.starts_with('/') && !target.starts_with("/dev/") {
            let reads = kind == CallKind::Read;
            transfer = Some(if reads { Transfer::FromFile } else { Transfer::ToFile });
            calls.synced_writes += u64::from(!reads && is_synced(thread, arguments[0] as u32));
        }
    }
    *calls.by_kind.entry(kind).or_default().entry(name).or_default() += 1;
    transfer
}

/// Counts the bytes of a system call that has ended. Negative if it failed.
pub(super) fn count_bytes(calls: &mut SystemCalls, transfer: Transfer, returned: i64) {
    let bytes = u64::try_from(returned).unwrap_or(0);
    match transfer {
        Transfer::FromFile => calls.file_read_bytes += bytes,
        Transfer::ToFile => calls.file_written_bytes += bytes,
    }
}

fn kind(name: &str, arguments: &[u64; 6]) -> CallKind {
    match name {
        "read" | "pread64" | "readv" | "preadv" | "preadv2" => CallKind::Read,
        "write" | "pwrite64" | "writev" | "pwritev" | "pwritev2" => CallKind::Write,
        // Without MS_SYNC it does nothing, msync(2).
        "msync" if arguments[2] & libc::MS_SYNC as u64 == 0 => CallKind::Memory,
        "fsync" | "fdatasync" | "msync" | "sync_file_range" | "syncfs" | "sync" => CallKind::Flush,
        "mmap" | "munmap" | "mremap" | "mprotect" | "madvise" | "process_madvise" | "brk"
        | "mlock" | "mlock2" | "munlock" | "mlockall" | "munlockall" | "mincore" => {
            CallKind::Memory
        }
        "futex" | "futex_wait" | "futex_wake" | "futex_requeue" | "futex_waitv" | "poll"
        | "ppoll" | "select" | "pselect6" | "epoll_wait" | "epoll_pwait" | "epoll_pwait2"
        | "nanosleep" | "clock_nanosleep" | "sched_yield" | "pause" | "rt_sigsuspend"
        | "rt_sigtimedwait" | "semop" | "semtimedop" | "wait4" | "waitid" | "restart_syscall" => {
            CallKind::Wait
        }
        "sendto" | "sendmsg" | "sendmmsg" | "recvfrom" | "recvmsg" | "recvmmsg" => {
            CallKind::Network
        }
        _ => CallKind::Other,
    }
}

/// Whether a write to a descriptor returns only when the data is on storage: `proc_pid_fdinfo(5)`.
fn is_synced(thread: i32, descriptor: u32) -> bool {
    let info = fs::read_to_string(format!("/proc/{thread}/fdinfo/{descriptor}"));
    let flags = info.ok().and_then(|info| {
        let octal = info.lines().find_map(|line| line.strip_prefix("flags:"))?.trim().to_owned();
        i32::from_str_radix(&octal, 8).ok()
    });
    // O_SYNC includes it.
    flags.is_some_and(|flags| flags & libc::O_DSYNC != 0)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;
    use std::os::unix::net::UnixStream;

    use super::*;

    /// Returns how a call with this name on a descriptor of this process is counted.
    fn counted(call: &str, descriptor: i32) -> (SystemCalls, Option<Transfer>) {
        let mut calls = SystemCalls::default();
        let arguments = [descriptor as u64, 0, 0, 0, 0, 0];
        let own = std::process::id().cast_signed();
        let transfer = count(&mut calls, own, call.to_owned(), &arguments);
        (calls, transfer)
    }

    #[test]
    fn a_read_of_a_file_has_bytes_and_one_of_a_socket_is_of_the_network() {
        let file = File::open("/proc/self/exe").unwrap();
        let (mut calls, transfer) = counted("pread64", file.as_raw_fd());
        assert_eq!((calls.count(CallKind::Read), transfer), (1, Some(Transfer::FromFile)));
        count_bytes(&mut calls, Transfer::FromFile, 4096);
        count_bytes(&mut calls, Transfer::FromFile, -4);
        assert_eq!((calls.file_read_bytes, calls.file_written_bytes), (4096, 0));

        let (socket, _other) = UnixStream::pair().unwrap();
        let (calls, transfer) = counted("write", socket.as_raw_fd());
        assert_eq!((calls.count(CallKind::Network), calls.total(), transfer), (1, 1, None));
        let null = File::open("/dev/null").unwrap();
        assert_eq!(counted("read", null.as_raw_fd()).1, None);
    }

    #[test]
    fn a_write_to_a_synced_descriptor_is_noted() {
        let dir = tempfile::tempdir().unwrap();
        let open = |flags| {
            let mut options = File::options();
            options.write(true).create(true).custom_flags(flags);
            options.open(dir.path().join("file")).unwrap()
        };
        for (flags, synced) in [(0, 0), (libc::O_DSYNC, 1), (libc::O_SYNC, 1)] {
            let file = open(flags);
            assert_eq!(counted("pwrite64", file.as_raw_fd()).0.synced_writes, synced);
        }
    }

    #[test]
    fn an_msync_that_waits_for_nothing_is_no_flush() {
        let with = |flags: i32| kind("msync", &[0, 0, flags as u64, 0, 0, 0]);
        assert_eq!(with(libc::MS_SYNC), CallKind::Flush);
        assert_eq!(with(libc::MS_ASYNC), CallKind::Memory);
    }

    #[test]
    fn a_number_has_its_name() {
        assert_eq!(name(libc::SYS_fdatasync as u64), "fdatasync");
        assert_eq!(name(1_000_000), "syscall 1000000");
    }
}
