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
}

impl Receiver {
    /// Of the pipe that the sender has made the queue.
    pub(super) const fn of(pipe: PipeReader) -> Self {
        Self { pipe, ended: None }
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
mod tests {
    use std::collections::VecDeque;
    use std::process::{Command, Stdio};
    use std::thread;

    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;

    /// Samples that fit.
    const FIT: usize = 16 * 1024 / 18;

    const LAST: Account = Account { made: 1, lost: 2, missed: 3, latest_ns: u64::MAX };

    fn queue() -> (Sender, Receiver) {
        let (reader, writer) = io::pipe().unwrap();
        (Sender::over(writer).unwrap(), Receiver::of(reader))
    }

    const fn values(number: u64) -> Values {
        [number as u16, (number >> 16) as u16, 2, !number as u16, 4_095]
    }

    fn sample(number: u64) -> Received {
        Received::Sample(number, values(number))
    }

    #[test]
    fn it_holds_sixteen_kibibytes_in_order_and_refuses_what_does_not_fit() {
        let (mut sender, mut receiver) = queue();
        let mut fit = 0;
        while sender.offer(fit, &values(fit)).unwrap() {
            fit += 1;
        }
        assert_eq!(fit, 910);
        assert!(!sender.offer(fit, &values(fit)).unwrap() && !sender.end(&LAST).unwrap());
        for number in 0..fit {
            assert_eq!(receiver.receive().unwrap(), sample(number));
        }
        assert!(sender.end(&LAST).unwrap());
        drop(sender);
        for _ in 0..2 {
            assert_eq!(receiver.receive().unwrap(), Received::End(LAST));
            assert_eq!(receiver.rest().unwrap(), LAST, "it ended, and stays ended");
        }
    }

    #[test]
    fn its_bound_is_exact_wherever_in_their_pages_messages_begin_and_end() {
        let (mut sender, mut receiver) = queue();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut held: VecDeque<u64> = VecDeque::new();
        let (mut next, mut refused, mut emptied) = (0, 0, 0);
        for _ in 0..2_000 {
            for _ in 0..random.next_u64() % 1_000 {
                let fits = sender.offer(next, &values(next)).unwrap();
                assert_eq!(fits, held.len() < FIT, "with {} in it", held.len());
                if fits {
                    held.push_back(next);
                }
                refused += u64::from(!fits);
                next += 1;
            }
            for _ in 0..random.next_u64() % 1_000 {
                let Some(number) = held.pop_front() else {
                    emptied += 1;
                    break;
                };
                assert_eq!(receiver.receive().unwrap(), sample(number));
            }
        }
        assert!(refused > 1_000 && emptied > 100, "{refused} and {emptied}");
    }

    #[test]
    fn millions_pass_from_thread_to_thread_whole_and_in_order() {
        const SAMPLES: u64 = 2_000_000;
        let (mut sender, mut receiver) = queue();
        let sent = thread::spawn(move || {
            for number in 0..SAMPLES {
                while !sender.offer(number, &values(number)).unwrap() {
                    thread::yield_now();
                }
            }
            while !sender.end(&LAST).unwrap() {
                thread::yield_now();
            }
        });
        for number in 0..SAMPLES {
            assert_eq!(receiver.receive().unwrap(), sample(number));
        }
        assert_eq!(receiver.rest().unwrap(), LAST);
        sent.join().unwrap();
    }

    #[test]
    fn who_waits_is_woken_by_a_sample_and_by_the_end_of_the_sender() {
        let (mut sender, mut receiver) = queue();
        let waiting = thread::spawn(move || {
            let first = receiver.receive().unwrap();
            (first, receiver.receive(), receiver.rest())
        });
        thread::sleep(std::time::Duration::from_millis(20));
        assert!(!waiting.is_finished());
        assert!(sender.offer(7, &values(7)).unwrap());
        thread::sleep(std::time::Duration::from_millis(20));
        assert!(!waiting.is_finished());
        drop(sender);
        let (first, second, rest) = waiting.join().unwrap();
        assert_eq!(first, sample(7));
        for gone in [second.map(drop), rest.map(drop)] {
            assert_eq!(gone.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        }
    }

    #[test]
    fn what_a_sender_sent_before_it_died_still_comes() {
        let (mut sender, mut receiver) = queue();
        for number in 0..300 {
            assert!(sender.offer(number, &values(number)).unwrap());
        }
        drop(sender);
        for number in 0..300 {
            assert_eq!(receiver.receive().unwrap(), sample(number));
        }
        assert_eq!(receiver.receive().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_sender_without_a_receiver_is_told() {
        let (mut sender, receiver) = queue();
        assert!(sender.offer(0, &values(0)).unwrap());
        drop(receiver);
        let gone = |error: io::Error| error.kind() == io::ErrorKind::BrokenPipe;
        assert!(sender.offer(1, &values(1)).is_err_and(gone));
        assert!(sender.end(&LAST).is_err_and(gone));
    }

    #[test]
    fn a_process_that_is_killed_ends_the_queue_and_other_children_do_not_hold_it() {
        let sleeping = |out: Stdio| Command::new("sleep").arg("60").stdout(out).spawn().unwrap();
        let (reader, writer) = io::pipe().unwrap();
        let (mut sender, mut receiver) =
            (Sender::over(writer.try_clone().unwrap()).unwrap(), Receiver::of(reader));
        // As a server that is started while the sensor runs.
        let mut other = sleeping(Stdio::null());
        let mut sensor = sleeping(Stdio::from(writer));
        assert!(sender.offer(0, &values(0)).unwrap());
        drop(sender);
        assert_eq!(receiver.receive().unwrap(), sample(0));
        let waiting = thread::spawn(move || receiver.receive());
        thread::sleep(std::time::Duration::from_millis(20));
        assert!(!waiting.is_finished(), "the sensor holds it");
        sensor.kill().unwrap();
        let gone = waiting.join().unwrap().unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::UnexpectedEof);
        sensor.wait().unwrap();
        assert_eq!(other.try_wait().unwrap(), None, "it runs, and does not hold the queue");
        other.kill().unwrap();
        other.wait().unwrap();
    }

    #[test]
    fn what_is_no_pipe_is_no_queue() {
        let file = tempfile::tempfile().unwrap();
        let error = Sender::over(PipeWriter::from(std::os::fd::OwnedFd::from(file))).err().unwrap();
        assert!(error.to_string().contains("a pipe of"), "{error}");
    }
}
