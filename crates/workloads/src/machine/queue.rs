//! The queue between sensor and writer: a pipe (`pipe(7)`) that is given 16 KiB and no more. What
//! does not fit is lost. The kernel frees it with the last process that has it open, and tells each
//! end when the other is gone.
//!
//! Up to `PIPE_BUF` bytes are written as a whole or not at all: no message is ever torn, whenever
//! its sender dies.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;

use embermark_data::machine::{CHANNELS, Values};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::{SysconfVar, sysconf};

use super::sensor::Account;

/// Bytes of messages that the queue holds.
const CAPACITY: usize = 16 * 1024;

/// Pages of the pipe, which is never full: a message lies in one page, so at most 49 bytes of a
/// page stay empty, and of the smallest pages (4 KiB) 16 KiB of messages fill four, with one begun
/// before them that is not yet read to its end and one begun behind them.
const PAGES: usize = 8;

/// Bytes of a message: the sample's number and its values.
const LENGTH: usize = 8 + 2 * CHANNELS;

/// Bytes of the account that follows the last message.
const ACCOUNT: usize = 4 * 8;

/// In place of a sample's number: the last message.
const END: u64 = u64::MAX;

/// In place of a sample's number: the first message, which has the time that samples are due from.
const BEGIN: u64 = u64::MAX - 1;

/// The sensor's end.
pub(super) struct Sender {
    pipe: PipeWriter,
    /// Bytes that are known to be free: more may be, for the receiver goes on.
    free: usize,
}

impl Sender {
    /// Makes a pipe the queue.
    pub(super) fn over(pipe: PipeWriter) -> io::Result<Self> {
        let page = sysconf(SysconfVar::PAGE_SIZE)?.unwrap_or(4_096) as usize;
        let size = (PAGES * page) as libc::c_int;
        fcntl(&pipe, FcntlArg::F_SETPIPE_SZ(size)).map_err(|errno| {
            let why = io::Error::from(errno);
            let text = format!(
                "a pipe of {size} bytes: {why}; /proc/sys/fs/pipe-user-pages-soft bounds the pipes \
                 of all processes of a user"
            );
            io::Error::new(why.kind(), text)
        })?;
        fcntl(&pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        Ok(Self { pipe, free: 0 })
    }

    /// Says when the sensor begins, in ns of the monotonic clock, while the queue is empty.
    pub(super) fn begin(&mut self, began_ns: u64) -> io::Result<()> {
        let mut message = [0; LENGTH];
        message[..8].copy_from_slice(&BEGIN.to_le_bytes());
        message[8..16].copy_from_slice(&began_ns.to_le_bytes());
        self.send(&message).map(drop)
    }

    /// Puts a sample in if there is room; whether there was.
    pub(super) fn offer(&mut self, number: u64, values: &Values) -> io::Result<bool> {
        let mut message = [0; LENGTH];
        message[..8].copy_from_slice(&number.to_le_bytes());
        for (place, value) in message[8..].as_chunks_mut::<2>().0.iter_mut().zip(values) {
            *place = value.to_le_bytes();
        }
        self.send(&message)
    }

    /// Says that nothing more comes, and how it went, if there is room for it; whether there was.
    pub(super) fn end(&mut self, account: &Account) -> io::Result<bool> {
        let Account { made, lost, missed, latest_ns } = *account;
        let mut message = [0; LENGTH + ACCOUNT];
        message[..8].copy_from_slice(&END.to_le_bytes());
        let places = message[LENGTH..].as_chunks_mut::<8>().0;
        for (place, count) in places.iter_mut().zip([made, lost, missed, latest_ns]) {
            *place = count.to_le_bytes();
        }
        self.send(&message)
    }

    fn send(&mut self, message: &[u8]) -> io::Result<bool> {
        if self.free < message.len() {
            self.free = CAPACITY.saturating_sub(self.unread()?);
        }
        let fits = message.len() <= self.free;
        if fits {
            self.pipe.write_all(message)?;
            self.free -= message.len();
        }
        Ok(fits)
    }

    /// Bytes that the receiver has not taken yet.
    fn unread(&self) -> io::Result<usize> {
        let mut bytes: libc::c_int = 0;
        // SAFETY: the descriptor is open as long as `self`, and the request writes an int.
        let done = unsafe { libc::ioctl(self.pipe.as_raw_fd(), libc::FIONREAD, &raw mut bytes) };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(bytes as usize) }
    }
}

/// What comes out of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// A sample, by its number.
    Sample(u64, Values),
    /// Nothing more comes.
    End(Account),
}

/// The writer's end.
pub(super) struct Receiver {
    pipe: PipeReader,
    ended: Option<Account>,
    /// When the sensor began, in ns of the monotonic clock; 0 before its first message.
    pub(super) began_ns: u64,
}

impl Receiver {
    /// Of the pipe that the sender has made the queue.
    pub(super) const fn of(pipe: PipeReader) -> Self {
        Self { pipe, ended: None, began_ns: 0 }
    }

    /// Waits for what comes next; after the end for nothing. A sender that is gone without having
    /// said so is an [`UnexpectedEof`](io::ErrorKind::UnexpectedEof), after all that it sent.
    pub(super) fn receive(&mut self) -> io::Result<Received> {
        if let Some(account) = self.ended {
            return Ok(Received::End(account));
        }
        let mut message = [0; LENGTH];
        self.pipe.read_exact(&mut message)?;
        let (number, places) = message.split_first_chunk().unwrap_or((&[0; 8], &[]));
        let number = u64::from_le_bytes(*number);
        if number == BEGIN {
            self.began_ns = places.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
            return self.receive();
        }
        if number == END {
            let account = self.account()?;
            self.ended = Some(account);
            return Ok(Received::End(account));
        }
        let mut values = Values::default();
        for (value, place) in values.iter_mut().zip(places.as_chunks::<2>().0) {
            *value = u16::from_le_bytes(*place);
        }
        Ok(Received::Sample(number, values))
    }

    fn account(&mut self) -> io::Result<Account> {
        let mut bytes = [0; ACCOUNT];
        self.pipe.read_exact(&mut bytes)?;
        let mut counts = [0; ACCOUNT / 8];
        for (count, place) in counts.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *count = u64::from_le_bytes(*place);
        }
        let [made, lost, missed, latest_ns] = counts;
        Ok(Account { made, lost, missed, latest_ns })
    }

    /// Takes what is left, and gives the account at its end.
    pub(super) fn rest(&mut self) -> io::Result<Account> {
        loop {
            if let Received::End(account) = self.receive()? {
                return Ok(account);
            }
        }
    }
}

#[cfg(test)]
mod tests;
