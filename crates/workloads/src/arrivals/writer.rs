//! The writer: it takes rows from the queue and stores them, in the process that has the database
//! open.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Instant;

use embermark_contract::{EngineError, Result};

use super::clock::monotonic_ns;
use super::process::Sensor;
use super::queue::{self, Account, Received};
use super::sensor::Task;
use super::tally::{Tally, WriteOutcome};
use super::window::Window;

/// Stores rows.
pub(crate) trait Sink {
    /// Data of a row that is kept until the commit.
    type Row;

    /// Name of rows in messages.
    const ROWS: &'static str;

    /// Takes a row that arrived, with its payload.
    fn arrived(&mut self, number: u64, payload: &[u8]) -> Self::Row;

    /// Returns the task with a window for the sink's commits, which can be longer than the given
    /// one.
    ///
    /// # Errors
    /// Impossible where such a window cannot be measured.
    fn planned(&self, task: Task) -> Result<Task> {
        Ok(task)
    }

    /// Prepares rows for the next commit. The time is not measured.
    fn prepare(&mut self, _rows: &[Self::Row]) {}

    /// Stores rows. They are committed when it returns.
    fn commit(&mut self, rows: &[Self::Row]) -> Result<()>;

    /// Notes that rows are stored. The time is not measured.
    fn committed(&mut self, _rows: &[Self::Row]) {}

    /// Makes what was stored visible to every reader.
    fn flush(&mut self) -> Result<()>;

    /// Returns the checkpoints that the engine has begun, if it counts them.
    fn checkpoints(&mut self) -> Result<Option<u64>>;
}

/// Work that the writer's process does between commits.
pub(crate) trait InterleavedTask<S> {
    /// Returns when the work is due next.
    fn due(&self) -> Option<Instant>;

    /// Does the work.
    fn turn(&mut self, sink: &mut S) -> Result<()>;
}

/// No work between commits.
pub(crate) struct NoTask;

impl<S> InterleavedTask<S> for NoTask {
    fn due(&self) -> Option<Instant> {
        None
    }

    fn turn(&mut self, _: &mut S) -> Result<()> {
        Ok(())
    }
}

/// Rows of one commit.
pub(crate) struct Record<R> {
    pub rows: Vec<R>,
    /// Their numbers.
    numbers: Vec<u64>,
    /// When it was due, in ns of the monotonic clock: with its last row, or at the end of its time.
    due_ns: u64,
}

impl<R> Default for Record<R> {
    fn default() -> Self {
        Self { rows: Vec::new(), numbers: Vec::new(), due_ns: 0 }
    }
}

impl<R> Record<R> {
    fn push(&mut self, number: u64, row: R) {
        self.rows.push(row);
        self.numbers.push(number);
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.numbers.clear();
    }
}

/// Sends the sensor's account at the queue's end.
type AccountSender = SyncSender<io::Result<Account>>;

/// A writer at work.
pub(crate) struct Writer<'a, S> {
    pub sink: &'a mut S,
    pub sensor: Sensor,
    pub window: Window<'a>,
    pub interleaved: &'a mut dyn InterleavedTask<S>,
    pub tally: Tally,
}

impl<S: Sink> Writer<'_, S> {
    /// Commits each time this many rows have come until the window is over, and then the rows left
    /// in the queue.
    pub(crate) fn by_count(mut self, queue: queue::Receiver, rows: usize) -> Result<WriteOutcome> {
        self.plan()?;
        let (report, account) = sync_channel(1);
        let written = self.take_by_count(queue, rows, report);
        self.end(written, &account)
    }

    /// Commits the rows of each period until the window is over, and then the rows left in the
    /// queue. During a commit, another thread collects the next rows. `arrived` returns the data
    /// to keep of a row. `parts` returns whether a row begins a new period.
    pub(crate) fn by_time(
        mut self,
        queue: queue::Receiver,
        arrived: impl FnMut(u64, &[u8]) -> S::Row + Send + 'static,
        parts: impl Fn(&S::Row, &S::Row) -> bool + Send + 'static,
    ) -> Result<WriteOutcome>
    where
        S::Row: Send + 'static,
    {
        self.plan()?;
        let (report, account) = sync_channel(1);
        let (give, take) = sync_channel(1);
        let (give_back, empty) = sync_channel(4);
        let (task, record) = (self.tally.task, Record::default());
        let collector = Collector { task, give, empty, record, arrived, parts };
        std::thread::spawn(move || collector.run(queue, report));
        let written = self.take_by_time(&take, &give_back);
        self.end(written, &account)
    }

    /// Adapts the window to the sink's commits, before any row is taken.
    fn plan(&mut self) -> Result<()> {
        self.tally.task = self.sink.planned(self.tally.task)?;
        Ok(())
    }

    /// Closes the window, and takes the sensor's account.
    fn end(
        mut self,
        written: Result<()>,
        account: &Receiver<io::Result<Account>>,
    ) -> Result<WriteOutcome> {
        let flushed = written.and(self.close()).and_then(|()| self.sink.flush());
        match flushed.and_then(|()| self.sensor.account(account)) {
            Ok(account) => {
                let written = WriteOutcome { tally: self.tally, account };
                match written.without_window(S::ROWS) {
                    Some(why) => Err(EngineError::impossible(why)),
                    None => Ok(written),
                }
            }
            Err(error) => Err(self.given_up(error, account)),
        }
    }

    /// Returns the error that ended the writing, with the number of rows that were lost: the sensor
    /// continues, and its rows are no longer stored.
    fn given_up(
        mut self,
        error: EngineError,
        account: &Receiver<io::Result<Account>>,
    ) -> EngineError {
        if error.is_unsupported() {
            return error;
        }
        let stored = self.tally.stored;
        self.sensor.stop();
        let lost = match self.sensor.account(account) {
            Ok(account) => format!("{} more were made and are lost", account.made - stored),
            Err(_) => "the number of rows made after that is unknown".to_owned(),
        };
        let what = format!("{error}; {stored} {} had been stored, {lost}", S::ROWS);
        EngineError::failed("the writer", "continue", what)
    }

    fn commit(&mut self, record: &Record<S::Row>) -> Result<()> {
        let Self { sink, tally, .. } = self;
        sink.prepare(&record.rows);
        tally.service.time(|| sink.commit(&record.rows))?;
        let now = monotonic_ns().map_err(|error| {
            EngineError::failed("the writer", "read the monotonic clock", error)
        })?;
        tally.take(&record.numbers, now.saturating_sub(record.due_ns));
        sink.committed(&record.rows);
        if tally.opens() {
            self.window.open(sink.checkpoints()?);
            tally.open();
        }
        if self.tally.is_over() {
            self.close()?;
            self.sensor.stop();
        }
        Ok(())
    }

    /// Closes the window if it is open.
    fn close(&mut self) -> Result<()> {
        if self.tally.close() { self.window.close(|| self.sink.checkpoints()) } else { Ok(()) }
    }

    fn run_interleaved(&mut self) -> Result<()> {
        if self.interleaved.due().is_some_and(|due| due <= Instant::now()) {
            self.interleaved.turn(self.sink)?;
        }
        Ok(())
    }

    /// Takes rows until the queue has ended or fails.
    fn take_by_count(
        &mut self,
        mut queue: queue::Receiver,
        rows: usize,
        report: AccountSender,
    ) -> Result<()> {
        let mut record = Record::default();
        let mut written = Ok(());
        while written.is_ok()
            && let Ok(Received::Row(number)) = queue.receive()
        {
            record.push(number, self.sink.arrived(number, queue.payload()));
            if record.rows.len() >= rows {
                record.due_ns = queue.began_ns + self.tally.task.due_ns(number);
                written = self.commit(&record).and_then(|()| self.run_interleaved());
                record.clear();
            }
        }
        if let (Ok(()), Some(last)) = (&written, record.numbers.last()) {
            record.due_ns = queue.began_ns + self.tally.task.due_ns(*last);
            written = self.commit(&record);
        }
        // Drains the queue after an error, so that the sensor does not block.
        std::thread::spawn(move || report.send(queue.rest()));
        written
    }

    fn take_by_time(
        &mut self,
        take: &Receiver<Record<S::Row>>,
        give_back: &SyncSender<Record<S::Row>>,
    ) -> Result<()> {
        loop {
            let wait =
                self.interleaved.due().map(|due| due.saturating_duration_since(Instant::now()));
            let record = match wait {
                None => take.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(wait) => take.recv_timeout(wait),
            };
            match record {
                Ok(record) => {
                    self.commit(&record)?;
                    let _ = give_back.try_send(record);
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.run_interleaved()?;
        }
    }
}

/// Passes on the rows of one period after another, until the queue has ended or the writer has.
/// When one period waits and another is complete, it waits too, and the queue fills.
struct Collector<R, F, P> {
    task: Task,
    give: SyncSender<Record<R>>,
    empty: Receiver<Record<R>>,
    /// The period that is being collected.
    record: Record<R>,
    arrived: F,
    parts: P,
}

impl<R, F: FnMut(u64, &[u8]) -> R, P: Fn(&R, &R) -> bool> Collector<R, F, P> {
    fn run(mut self, mut queue: queue::Receiver, report: AccountSender) {
        self.collect(&mut queue);
        drop((self.give, self.empty));
        let _ = report.send(queue.rest());
    }

    fn collect(&mut self, queue: &mut queue::Receiver) {
        while let Ok(received) = queue.receive() {
            let Received::Row(number) = received else {
                if !self.record.rows.is_empty() {
                    let _ = self.give.send(std::mem::take(&mut self.record));
                }
                return;
            };
            let row = (self.arrived)(number, queue.payload());
            let due_ns = queue.began_ns + self.task.due_ns(number);
            if !self.add(number, row, due_ns) {
                return;
            }
        }
    }

    /// Adds a row. If it begins a period, the period before is passed on. Returns whether it was
    /// taken.
    fn add(&mut self, number: u64, row: R, due_ns: u64) -> bool {
        // A period is due with the first row of the next one, and the last period with its own last
        // row.
        self.record.due_ns = due_ns;
        let mut taken = true;
        if self.record.rows.first().is_some_and(|first| (self.parts)(first, &row)) {
            let mut next = self.empty.try_recv().unwrap_or_default();
            next.clear();
            next.due_ns = due_ns;
            taken = self.give.send(std::mem::replace(&mut self.record, next)).is_ok();
        }
        self.record.push(number, row);
        taken
    }
}

#[cfg(test)]
mod tests;
