//! The queue between sensor and writer: a pipe (`pipe(7)`) that is given so many bytes and no more. What
//! does not fit is lost. The kernel frees it with the last process that has it open, and tells each
//! end when the other is gone.
//!
//! Up to `PIPE_BUF` bytes are written as a whole or not at all: no message is ever torn, whenever
//! its sender dies.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::{SysconfVar, sysconf};
use serde::{Deserialize, Serialize};

/// Most bytes of a row that travel with its number.
const MOST: usize = 16;

/// Bytes of a row's number.
const NUMBER: usize = 8;

/// Bytes that follow the first message, and the last one.
const BEGAN: usize = 8;
const ACCOUNT: usize = 4 * 8;

/// Bytes of the longest message.
const LONGEST: usize = NUMBER + MOST + ACCOUNT;

/// In place of a row's number: the last message.
const END: u64 = u64::MAX;

/// In place of a row's number: the first message, which has the time that rows are due from.
const BEGIN: u64 = u64::MAX - 1;

/// What a sensor has to tell at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    /// Rows made.
    pub made: u64,
    /// Rows that did not fit in the queue.
    pub lost: u64,
    /// Rows that count and were offered later than their deadline: when the next was due, or at
    /// more than 1 kHz a millisecond after they were.
    pub missed: u64,
    /// How much later than due the latest of them was offered, in ns.
    pub latest_ns: u64,
}

/// What a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shape {
    /// Bytes of a row that travel with its number, 16 at most.
    pub payload: usize,
    /// Bytes of messages that it holds.
    pub bytes: usize,
}

impl Shape {
    /// Of so many rows, of which the numbers travel alone.
    pub(crate) const fn of_rows(rows: usize) -> Self {
        Self { payload: 0, bytes: rows * NUMBER }
    }

    /// Bytes of a message.
    const fn length(self) -> usize {
        NUMBER + self.payload
    }

    /// Pages of a pipe that is never full: a message lies in one page, so that as many bytes of a page stay empty as the
    /// longest message has, but one; before these pages is one that is not yet read to its end, and behind them one that
    /// is begun.
    const fn pages(self, page: usize) -> usize {
        self.bytes.div_ceil(page + 1 - LONGEST) + 2
    }
}

/// The sensor's end.
pub(super) struct Sender {
    pipe: PipeWriter,
    shape: Shape,
    /// Bytes that are known to be free: more may be, for the receiver goes on.
    free: usize,
}

impl Sender {
    /// Makes a pipe the queue.
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

    /// Says when the sensor begins, in ns of the monotonic clock, while the queue is empty.
    pub(super) fn begin(&mut self, began_ns: u64) -> io::Result<()> {
        self.control(BEGIN, &began_ns.to_le_bytes()).map(drop)
    }

    /// Puts a row in if there is room; whether there was.
    #[inline]
    pub(super) fn offer(&mut self, number: u64, payload: &[u8]) -> io::Result<bool> {
        let mut message = [0; NUMBER + MOST];
        message[..NUMBER].copy_from_slice(&number.to_le_bytes());
        message[NUMBER..][..payload.len()].copy_from_slice(payload);
        self.send(&message[..self.shape.length()])
    }

    /// Says that nothing more comes, and how it went, if there is room for it; whether there was.
    pub(super) fn end(&mut self, account: &Account) -> io::Result<bool> {
        let Account { made, lost, missed, latest_ns } = *account;
        let mut body = [0; ACCOUNT];
        let places = body.as_chunks_mut::<8>().0;
        for (place, count) in places.iter_mut().zip([made, lost, missed, latest_ns]) {
            *place = count.to_le_bytes();
        }
        self.control(END, &body)
    }

    /// A message that is no row: as long as one, and what follows. An empty queue has room for it, however few rows it
    /// holds.
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
    /// A row, by its number; what travelled with it is the queue's [`payload`](Receiver::payload).
    Row(u64),
    /// Nothing more comes.
    End(Account),
}

/// The writer's end.
pub(crate) struct Receiver {
    pipe: PipeReader,
    shape: Shape,
    message: [u8; NUMBER + MOST],
    ended: Option<Account>,
    /// When the sensor began, in ns of the monotonic clock; 0 before its first message.
    pub(super) began_ns: u64,
}

impl Receiver {
    /// Of the pipe that the sender has made the queue.
    pub(super) const fn of(pipe: PipeReader, shape: Shape) -> Self {
        Self { pipe, shape, message: [0; NUMBER + MOST], ended: None, began_ns: 0 }
    }

    /// What travelled with the row that was received last.
    pub(super) fn payload(&self) -> &[u8] {
        &self.message[NUMBER..self.shape.length()]
    }

    /// Waits for what comes next; after the end for nothing. A sender that is gone without having
    /// said so is an [`UnexpectedEof`](io::ErrorKind::UnexpectedEof), after all that it sent.
    #[inline]
    pub(super) fn receive(&mut self) -> io::Result<Received> {
        if let Some(account) = self.ended {
            return Ok(Received::End(account));
        }
        loop {
            self.pipe.read_exact(&mut self.message[..self.shape.length()])?;
            let number = self.message.first_chunk().map_or(END, |bytes| u64::from_le_bytes(*bytes));
            match number {
                BEGIN => [self.began_ns] = self.numbers::<BEGAN, 1>()?,
                END => {
                    let [made, lost, missed, latest_ns] = self.numbers::<ACCOUNT, 4>()?;
                    let account = Account { made, lost, missed, latest_ns };
                    self.ended = Some(account);
                    return Ok(Received::End(account));
                }
                _ => return Ok(Received::Row(number)),
            }
        }
    }

    /// The numbers that follow a message.
    fn numbers<const BYTES: usize, const COUNT: usize>(&mut self) -> io::Result<[u64; COUNT]> {
        let mut bytes = [0; BYTES];
        self.pipe.read_exact(&mut bytes)?;
        let mut numbers = [0; COUNT];
        for (number, place) in numbers.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *number = u64::from_le_bytes(*place);
        }
        Ok(numbers)
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
pub(crate) mod tests;
