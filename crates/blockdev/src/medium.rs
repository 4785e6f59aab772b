//! Media of devices, and the FUSE file system that serves a medium as its only file.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};

use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty, ReplyEntry, ReplyOpen,
    ReplyWrite, Request, WriteFlags,
};

use nix::fcntl::{FallocateFlags, fallocate};
use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};

use crate::image::Image;
use crate::log::{Log, Record};

/// Name of the file system's only file.
pub(crate) const FILE: &str = "image";

/// Time for which the kernel may cache attributes. Nothing changes them from outside.
const ATTRIBUTE_TTL: Duration = Duration::from_secs(u32::MAX as u64);

const ROOT: INodeNo = INodeNo::ROOT;
const IMAGE: INodeNo = INodeNo(2);

/// Content of a device, and the log of the requests that have reached it.
#[derive(Debug)]
pub(crate) struct Recording {
    pub image: Image,
    pub log: Log,
    pub begun: Instant,
}

/// Content of a device, with the operations that reach it.
pub(crate) trait Medium: Send + Sync + 'static {
    /// Whether each request bypasses the kernel's page cache and reaches the medium unchanged.
    const DIRECT: bool = false;

    /// Returns the number of requests that the medium handles at the same time.
    fn parallel_requests(&self) -> usize {
        1
    }

    /// Returns the size of the file in bytes.
    fn bytes(&self) -> u64;

    /// Reads from an offset. The range is within the medium.
    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()>;

    /// Writes bytes at an offset.
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()>;

    /// Discards a range, which is 0 from then on.
    fn discard(&self, offset: u64, length: u64) -> io::Result<()>;

    /// Makes earlier writes durable.
    fn flush(&self);
}

/// FUSE file system with a medium as its only file.
pub(crate) struct MediumFileSystem<M>(pub M);

/// A medium in memory that records every request. The code that mounted it shares it.
#[derive(Clone, Debug)]
pub(crate) struct InMemoryMedium(pub Arc<Mutex<Recording>>);

impl InMemoryMedium {
    /// Records a request and applies it.
    fn record(&self, record: Record) {
        let mut recorded = lock(&self.0);
        record.apply(&mut recorded.image);
        let time = recorded.begun.elapsed();
        recorded.log.records.push(record);
        recorded.log.times.push(time);
    }
}

impl Medium for InMemoryMedium {
    fn bytes(&self) -> u64 {
        lock(&self.0).image.bytes()
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        lock(&self.0).image.read(offset, into);
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.record(Record::Write { offset, data: data.into() });
        Ok(())
    }

    fn discard(&self, offset: u64, length: u64) -> io::Result<()> {
        self.record(Record::Discard { offset, length });
        Ok(())
    }

    fn flush(&self) {
        self.record(Record::Flush);
    }
}

/// Returns nanoseconds of the monotonic clock, which all processes share.
pub(crate) fn monotonic_ns() -> u64 {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |now| now.num_nanoseconds()).unsigned_abs()
}

/// Discards a range of a medium's file, which reads as 0 from then on.
pub(crate) fn punch(file: &File, offset: u64, length: u64) -> io::Result<()> {
    let hole = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
    Ok(fallocate(file, hole, offset.cast_signed(), length.cast_signed())?)
}

/// Locks a recording. It is consistent even if a thread panicked while holding it, because each
/// change is one call.
pub(crate) fn lock<T>(recorded: &Mutex<T>) -> MutexGuard<'_, T> {
    recorded.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<M: Medium> MediumFileSystem<M> {
    fn attributes(&self, node: INodeNo) -> Option<FileAttr> {
        let (kind, perm, size) = match node {
            ROOT => (FileType::Directory, 0o700, 0),
            IMAGE => (FileType::RegularFile, 0o600, self.0.bytes()),
            _ => return None,
        };
        Some(FileAttr {
            ino: node,
            size,
            blocks: size / 512,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: crate::BLOCK as u32,
            flags: 0,
        })
    }

    fn reply_attributes(&self, node: INodeNo, reply: ReplyAttr) {
        match self.attributes(node) {
            Some(attributes) => reply.attr(&ATTRIBUTE_TTL, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }
}

impl<M: Medium> Filesystem for MediumFileSystem<M> {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        if M::DIRECT {
            // Requests of a loop device do not wait for each other. An older kernel makes them
            // wait.
            let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
            let _ = config.set_max_background(64);
        }
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let found = (parent == ROOT && name == FILE).then(|| self.attributes(IMAGE)).flatten();
        match found {
            Some(attributes) => reply.entry(&ATTRIBUTE_TTL, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, node: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        self.reply_attributes(node, reply);
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let direct = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        let direct = if M::DIRECT { direct } else { FopenFlags::empty() };
        reply.opened(FileHandle(0), direct);
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let left = self.0.bytes().saturating_sub(offset);
        let mut data = vec![0; u64::from(size).min(left) as usize];
        match self.0.read(offset, &mut data) {
            Ok(()) => reply.data(&data),
            Err(error) => reply.error(error.into()),
        }
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.0.write(offset, data) {
            Ok(()) => reply.written(data.len() as u32),
            Err(error) => reply.error(error.into()),
        }
    }

    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let zeros = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_ZERO_RANGE;
        // A loop device discards and writes zeros this way.
        match FallocateFlags::from_bits_truncate(mode).intersects(zeros) {
            true => match self.0.discard(offset, length) {
                Ok(()) => reply.ok(),
                Err(error) => reply.error(error.into()),
            },
            false => reply.error(Errno::EOPNOTSUPP),
        }
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.0.flush();
        reply.ok();
    }

    /// Called when a file is closed. It has no meaning for durability.
    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn setattr(
        &self,
        _: &Request,
        node: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u64>,
        _: Option<fuser::TimeOrNow>,
        _: Option<fuser::TimeOrNow>,
        _: Option<std::time::SystemTime>,
        _: Option<FileHandle>,
        _: Option<std::time::SystemTime>,
        _: Option<std::time::SystemTime>,
        _: Option<std::time::SystemTime>,
        _: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        // Nothing uses the times of the file, which would be set here.
        self.reply_attributes(node, reply);
    }
}
