//! Loop devices with direct I/O: each request reaches the file as a whole and bypasses the page
//! cache.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use nix::errno::Errno;

/// Constants of linux/loop.h.
const LOOP_CTL_GET_FREE: libc::c_ulong = 0x4C82;
const LOOP_CONFIGURE: libc::c_ulong = 0x4C0A;
const LO_FLAGS_AUTOCLEAR: u32 = 4;
const LO_FLAGS_DIRECT_IO: u32 = 16;

/// Number of attempts to get a free device, because another process may take it first.
const TRIES: usize = 16;

/// `struct loop_info64` of linux/loop.h.
#[repr(C)]
struct Info {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// `struct loop_config` of linux/loop.h.
#[repr(C)]
struct Config {
    fd: u32,
    block_size: u32,
    info: Info,
    reserved: [u64; 8],
}

/// A loop device on a file. The kernel removes it once nothing has it open or mounted, even after a
/// kill (`LO_FLAGS_AUTOCLEAR`, loop(4)).
#[derive(Debug)]
pub(crate) struct LoopDevice {
    /// Path in `/dev`.
    pub path: PathBuf,
    _open: File,
}

impl LoopDevice {
    /// Attaches a free loop device to a file, with this sector size in bytes.
    ///
    /// # Errors
    /// If no loop device is free, or the kernel refuses the file.
    pub fn attach(file: &Path, sector: u32) -> io::Result<Self> {
        let backing = OpenOptions::new().read(true).write(true).open(file)?;
        let control = OpenOptions::new().read(true).write(true).open("/dev/loop-control")?;
        for _ in 0..TRIES {
            // SAFETY: the descriptor is open, and the request takes no argument.
            let free = unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE) };
            let path = PathBuf::from(format!("/dev/loop{}", Errno::result(free)?));
            let open = OpenOptions::new().read(true).write(true).open(&path)?;
            // SAFETY: the struct has only integers, for which zero is valid.
            let mut config: Config = unsafe { std::mem::zeroed() };
            config.fd = backing.as_raw_fd().cast_unsigned();
            config.block_size = sector;
            config.info.flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO;
            // SAFETY: the descriptor is open, and the request reads a `struct loop_config`.
            let done = unsafe { libc::ioctl(open.as_raw_fd(), LOOP_CONFIGURE, &raw const config) };
            match Errno::result(done) {
                Ok(_) => return Ok(Self { path, _open: open }),
                Err(Errno::EBUSY) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Err(Errno::EBUSY.into())
    }
}
