//! The queue between sensor and writer: a pipe (`pipe(7)`) that is given a limited number of bytes.
//! A row that does not fit is lost. The kernel frees the pipe with the last process that has it
//! open, and notifies each end when the other is closed.
//!
//! Up to `PIPE_BUF` bytes are written as a whole or not at all, so no message is ever torn,
//! whenever its sender dies.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::{SysconfVar, sysconf};
use serde::{Deserialize, Serialize};

/// Most bytes of a row that are sent with its number.
const MOST: usize = 16;

/// Bytes of a row's number.
const NUMBER: usize = 8;

/// Bytes after the tag of the last message. There are fewer after that of the first one.
const ACCOUNT: usize = 3 * 8;

/// Bytes of the longest message.
const LONGEST: usize = NUMBER + MOST + ACCOUNT;

/// Tag of the last message, instead of a row's number.
const END: u64 = u64::MAX;

/// Tag of the first message, instead of a row's number. It has the start time, from which rows are
/// due.
const BEGIN: u64 = u64::MAX - 1;

/// Final report of a sensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    /// Rows made.
    pub made: u64,
    /// Rows that count and were offered after their deadline: when the next row was due, or above 1
    /// kHz a millisecond after they were due themselves.
    pub missed: u64,
    /// How late the latest of them was, in ns.
    pub latest_ns: u64,
}

/// Capacity and message size of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shape {
    /// Bytes of a row that are sent with its number, at most 16.
    pub payload: usize,
    /// Bytes of messages that the queue can hold.
    pub bytes: usize,
}

impl Shape {
    /// Creates the shape of a queue of this many rows, of which only the numbers are sent.
    pub(crate) const fn of_rows(rows: usize) -> Self {
        Self { payload: 0, bytes: rows * NUMBER }
    }

    /// Returns the bytes of a message.
    const fn length(self) -> usize {
        NUMBER + self.payload
    }

    /// Returns the pages of a pipe that never fills up before the queue does. A message lies in one
    /// page, so up to the longest message less one byte of each page stays empty. Before these
    /// pages is one that is not completely read, and after them one that is partly written.
    const fn pages(self, page: usize) -> usize {
        self.bytes.div_ceil(page + 1 - LONGEST) + 2
    }
}

/// The sensor's end of the queue.
pub(super) struct Sender {
    pipe: PipeWriter,
    shape: Shape,
    /// Bytes that are known to be free. More can be, because the receiver continues.
    free: usize,
}

impl Sender {
    /// Turns a pipe into the queue.
    pub(super) fn over(pipe: PipeWriter, shape: Shape) -> io::Result<Self> {
        let page = sysconf(SysconfVar::PAGE_SIZE)?.unwrap_or(4_096) as usize;
        let size = (shape.pages(page) * page) as libc::c_int;
        fcntl(&pipe, FcntlArg::F_SETPIPE_SZ(size)).map_err(|errno| {
            let why = io::Error::from(errno);
            let text = format!(
                "a pipe of {size} bytes: {why}; /proc/sys/fs/pipe-user-pages-soft bounds the pipes \
                 of all processes of a user, /proc/sys/fs/pipe-max-size that of one"
            );
            io::Error::new(why.kind(), text)
        })?;
        fcntl(&pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        Ok(Self { pipe, shape, free: 0 })
    }

    /// Sends when the sensor begins, in ns of the monotonic clock, while the queue is empty.
    pub(super) fn begin(&mut self, began_ns: u64) -> io::Result<()> {
        self.control(BEGIN, &began_ns.to_le_bytes()).map(drop)
    }

    /// Puts a row into the queue. Returns whether there was room.
    #[inline]
    pub(super) fn offer(&mut self, number: u64, payload: &[u8]) -> io::Result<bool> {
        let mut message = [0; NUMBER + MOST];
        message[..NUMBER].copy_from_slice(&number.to_le_bytes());
        message[NUMBER..][..payload.len()].copy_from_slice(payload);
        self.send(&message[..self.shape.length()])
    }

    /// Sends the end and the account. Returns whether there was room.
    pub(super) fn end(&mut self, account: &Account) -> io::Result<bool> {
        let Account { made, missed, latest_ns } = *account;
        let counts = [made, missed, latest_ns].map(u64::to_le_bytes);
        self.control(END, counts.as_flattened())
    }

    /// Sends a message other than a row: a tag instead of the number, and what follows. An empty
    /// queue has room for it, however few rows it holds.
    fn control(&mut self, tag: u64, body: &[u8]) -> io::Result<bool> {
        let (mut message, length) = ([0; LONGEST], self.shape.length());
        message[..NUMBER].copy_from_slice(&tag.to_le_bytes());
        message[length..][..body.len()].copy_from_slice(body);
        let message = &message[..length + body.len()];
        let fits = self.unread()? + message.len() <= self.shape.bytes.max(message.len());
        if fits {
            self.pipe.write_all(message)?;
            self.free = 0;
        }
        Ok(fits)
    }

    fn send(&mut self, message: &[u8]) -> io::Result<bool> {
        if self.free < message.len() {
            self.free = self.shape.bytes.saturating_sub(self.unread()?);
        }
        let fits = message.len() <= self.free;
        if fits {
            self.pipe.write_all(message)?;
            self.free -= message.len();
        }
        Ok(fits)
    }

    /// Returns the bytes that the receiver has not taken yet.
    fn unread(&self) -> io::Result<usize> {
        let mut bytes: libc::c_int = 0;
        // SAFETY: the descriptor is open as long as `self` lives, and the request writes an int.
        let done = unsafe { libc::ioctl(self.pipe.as_raw_fd(), libc::FIONREAD, &raw mut bytes) };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(bytes as usize) }
    }
}

/// A message from the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// A row, by its number. The rest of it is the queue's [`payload`](Receiver::payload).
    Row(u64),
    /// The end.
    End(Account),
}

/// The writer's end of the queue.
pub(crate) struct Receiver {
    pipe: PipeReader,
    shape: Shape,
    message: [u8; NUMBER + MOST],
    ended: Option<Account>,
    /// When the sensor began, in ns of the monotonic clock. 0 before its first message.
    pub(super) began_ns: u64,
}

impl Receiver {
    /// Creates the receiver of a pipe that the sender has turned into the queue.
    pub(super) const fn new(pipe: PipeReader, shape: Shape) -> Self {
        Self { pipe, shape, message: [0; NUMBER + MOST], ended: None, began_ns: 0 }
    }

    /// Returns what was sent with the last row received.
    pub(super) fn payload(&self) -> &[u8] {
        &self.message[NUMBER..self.shape.length()]
    }

    /// Waits for the next message. Not to be called after the end. If the sender is gone without an
    /// end, the error is [`UnexpectedEof`](io::ErrorKind::UnexpectedEof), after everything that it
    /// sent.
    #[inline]
    pub(super) fn receive(&mut self) -> io::Result<Received> {
        if let Some(account) = self.ended {
            return Ok(Received::End(account));
        }
        loop {
            self.pipe.read_exact(&mut self.message[..self.shape.length()])?;
            let number = self.message.first_chunk().map_or(END, |bytes| u64::from_le_bytes(*bytes));
            match number {
                BEGIN => [self.began_ns] = self.numbers::<1>()?,
                END => {
                    let [made, missed, latest_ns] = self.numbers::<3>()?;
                    let account = Account { made, missed, latest_ns };
                    self.ended = Some(account);
                    return Ok(Received::End(account));
                }
                _ => return Ok(Received::Row(number)),
            }
        }
    }

    /// Returns the numbers that follow a message.
    fn numbers<const COUNT: usize>(&mut self) -> io::Result<[u64; COUNT]> {
        let mut bytes = [[0_u8; 8]; COUNT];
        self.pipe.read_exact(bytes.as_flattened_mut())?;
        Ok(bytes.map(u64::from_le_bytes))
    }

    /// Drains the queue and returns the account at its end.
    pub(super) fn rest(&mut self) -> io::Result<Account> {
        loop {
            if let Received::End(account) = self.receive()? {
                return Ok(account);
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
