use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;

use super::*;

/// What a call of that name on a descriptor of this process is counted as.
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
    assert_eq!((calls.of(CallKind::Read), transfer), (1, Some(Transfer::FromFile)));
    count_bytes(&mut calls, Transfer::FromFile, 4096);
    count_bytes(&mut calls, Transfer::FromFile, -4);
    assert_eq!((calls.file_read_bytes, calls.file_written_bytes), (4096, 0));

    let (socket, _other) = UnixStream::pair().unwrap();
    let (calls, transfer) = counted("write", socket.as_raw_fd());
    assert_eq!((calls.of(CallKind::Network), calls.total(), transfer), (1, 1, None));
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
