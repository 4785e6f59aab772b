//! The writer: takes samples from the queue, stamps them and stores them, in the process that has the
//! database open.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Instant;

use embermark_contract::{EngineError, Result};
use embermark_data::machine::{Sample, Values};

use super::checkpoints::Window;
use super::clock::{Stamper, monotonic_ns};
use super::companions::Sensor;
use super::port::{Layout, MachineLog};
use super::queue::{self, Received};
use super::sensor::{Account, Task};
use super::written::{Tally, Written};

/// What happens beside the writing, in its process.
pub(super) trait Aside {
    /// When it wants to be called next.
    fn due(&self) -> Option<Instant>;

    /// Does it.
    fn turn(&mut self, log: &mut dyn MachineLog, now: &Stamper) -> Result<()>;
}

/// Nothing beside the writing.
pub(super) struct Nothing;

impl Aside for Nothing {
    fn due(&self) -> Option<Instant> {
        None
    }

    fn turn(&mut self, _: &mut dyn MachineLog, _: &Stamper) -> Result<()> {
        Ok(())
    }
}

/// What is stored by one commit.
#[derive(Default)]
struct Record {
    samples: Vec<Sample>,
    /// Their numbers.
    numbers: Vec<u64>,
    /// When it was due, in ns of the monotonic clock: with its sample, or when its second was over.
    due_ns: u64,
}

impl Record {
    fn push(&mut self, number: u64, sample: Sample) {
        self.samples.push(sample);
        self.numbers.push(number);
    }

    fn clear(&mut self) {
        self.samples.clear();
        self.numbers.clear();
    }
}

/// A writer at work.
pub(super) struct Writer<'a> {
    pub log: &'a mut dyn MachineLog,
    pub layout: Layout,
    pub sensor: Sensor,
    pub window: Window<'a>,
    pub aside: &'a mut dyn Aside,
    pub tally: Tally,
}

impl Writer<'_> {
    /// Writes until the window is over, then what is still in the queue.
    pub(super) fn run(mut self, queue: queue::Receiver) -> Result<Written> {
        let (tell, told) = sync_channel(1);
        let written = match self.layout {
            Layout::Samples => self.singly(queue, tell),
            Layout::Seconds => self.by_seconds(queue, tell),
        };
        let flushed = written.and(self.close()).and_then(|()| self.log.flush());
        match flushed.and_then(|()| self.sensor.account(&told)) {
            Ok(account) => Ok(Written { tally: self.tally, account }),
            Err(error) => Err(self.given_up(error, &told)),
        }
    }

    /// An error that ended the writing, with what is lost by it: the sensor goes on, and nobody
    /// stores what it makes.
    fn given_up(mut self, error: EngineError, told: &Receiver<io::Result<Account>>) -> EngineError {
        if error.is_unsupported() {
            return error;
        }
        let stored = self.tally.stored;
        self.sensor.stop();
        let lost = match self.sensor.account(told) {
            Ok(account) => format!("{} more were made and are lost", account.made - stored),
            Err(_) => "how many more were made is not known".to_owned(),
        };
        let what = format!("{error}; {stored} samples had been stored, {lost}");
        EngineError::failed("the writer", "go on", what)
    }

    fn commit(&mut self, record: &Record) -> Result<()> {
        let Self { log, tally, .. } = self;
        tally.service.time(|| log.write(&record.samples))?;
        let now = monotonic_ns().map_err(|error| {
            EngineError::failed("the writer", "read the monotonic clock", error)
        })?;
        tally.take(&record.numbers, &record.samples, now.saturating_sub(record.due_ns));
        if tally.opens() {
            self.window.open(*log)?;
            tally.open();
        }
        if self.tally.is_over() {
            self.close()?;
            self.sensor.stop();
        }
        Ok(())
    }

    /// Closes the window where it is open.
    fn close(&mut self) -> Result<()> {
        if self.tally.close() { self.window.close(self.log) } else { Ok(()) }
    }

    fn aside(&mut self, stamper: &Stamper) -> Result<()> {
        if self.aside.due().is_some_and(|due| due <= Instant::now()) {
            self.aside.turn(self.log, stamper)?;
        }
        Ok(())
    }

    /// One commit a sample, until the queue has ended in one way or the other.
    fn singly(
        &mut self,
        mut queue: queue::Receiver,
        tell: SyncSender<io::Result<Account>>,
    ) -> Result<()> {
        let (mut stamper, mut record) = (Stamper::new(), Record::default());
        let mut written = Ok(());
        while written.is_ok()
            && let Ok(Received::Sample(number, values)) = queue.receive()
        {
            record.clear();
            record.push(number, Sample { at: stamper.stamp(), values });
            record.due_ns = queue.began_ns + self.tally.task.due_ns(number);
            written = self.commit(&record).and_then(|()| self.aside(&stamper));
        }
        // What is left of the queue after an error is in nobody's way then.
        std::thread::spawn(move || tell.send(queue.rest()));
        written
    }

    /// One commit a second. Another thread collects the samples of the next one meanwhile; when it
    /// has one waiting and another full it waits too, and the queue fills.
    fn by_seconds(
        &mut self,
        mut queue: queue::Receiver,
        tell: SyncSender<io::Result<Account>>,
    ) -> Result<()> {
        let (give, take) = sync_channel::<Record>(1);
        let (give_back, empty) = sync_channel::<Record>(4);
        let task = self.tally.task;
        std::thread::spawn(move || {
            Collector { task, give, empty, second: Record::default() }.run(&mut queue);
            tell.send(queue.rest())
        });
        let stamper = Stamper::new();
        loop {
            let wait = self.aside.due().map(|due| due.saturating_duration_since(Instant::now()));
            let second = match wait {
                None => take.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(wait) => take.recv_timeout(wait),
            };
            match second {
                Ok(second) => {
                    self.commit(&second)?;
                    let _ = give_back.try_send(second);
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.aside(&stamper)?;
        }
    }
}

/// Gives second after second, until the queue has ended or nobody takes them.
struct Collector {
    task: Task,
    give: SyncSender<Record>,
    empty: Receiver<Record>,
    /// The one under way.
    second: Record,
}

impl Collector {
    fn run(mut self, queue: &mut queue::Receiver) {
        let mut stamper = Stamper::new();
        while let Ok(received) = queue.receive() {
            let Received::Sample(number, values) = received else {
                if !self.second.samples.is_empty() {
                    let _ = self.give.send(self.second);
                }
                return;
            };
            let due_ns = queue.began_ns + self.task.due_ns(number);
            if !self.add(number, &mut stamper, values, due_ns) {
                return;
            }
        }
    }

    /// Adds a sample, and gives the second before it where it begins one; whether that was taken.
    fn add(&mut self, number: u64, stamper: &mut Stamper, values: Values, due_ns: u64) -> bool {
        let at = stamper.stamp();
        // Over with the first sample of the next, or, the last of all, with its own last.
        self.second.due_ns = due_ns;
        let mut taken = true;
        if self.second.samples.first().is_some_and(|first| first.at.s != at.s) {
            let mut next = self.empty.try_recv().unwrap_or_default();
            next.clear();
            next.due_ns = due_ns;
            taken = self.give.send(std::mem::replace(&mut self.second, next)).is_ok();
        }
        self.second.push(number, Sample { at, values });
        taken
    }
}

#[cfg(test)]
mod tests;
