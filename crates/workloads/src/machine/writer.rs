//! The writer: takes samples from the queue, stamps them and stores them, in the process that has the
//! database open.

use std::io::{self, PipeReader};
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use embermark_contract::{EngineError, Result};
use embermark_data::machine::{Sample, Signal};
use embermark_meter::Stopwatch;
use embermark_model::fingerprint::Fingerprint;

use super::checkpoints::Checkpoints;
use super::clock::Stamper;
use super::cycles::with;
use super::port::{Layout, MachineLog};
use super::queue::{self, Received};
use super::sensor::{Account, Task};
use crate::{Companions, PhaseObserver};

/// How long a sensor may take to say its last word.
const LAST_WORD: Duration = Duration::from_secs(15);

/// A sensor process. It is over when this is dropped.
pub(super) struct Sensor(Child);

fn failed(doing: &'static str) -> impl FnOnce(io::Error) -> EngineError {
    move |error| EngineError::failed("the sensor", doing, error)
}

impl Sensor {
    /// Starts one, and gives the queue that it fills: its standard output.
    pub(super) fn start(
        companions: &dyn Companions,
        task: Task,
    ) -> Result<(Self, queue::Receiver)> {
        let mut child = serde_json::to_string(&task)
            .map_err(io::Error::other)
            .and_then(|task| companions.start("sensor", &task, None))
            .map_err(failed("start"))?;
        let out = child.stdout.take();
        let sensor = Self(child);
        let out = out.ok_or_else(|| failed("start")(io::Error::other("it has no output")))?;
        Ok((sensor, queue::Receiver::of(PipeReader::from(OwnedFd::from(out)))))
    }

    pub(super) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Has it stop; what it sent is still in the queue, and its end behind it.
    pub(super) fn stop(&mut self) {
        self.0.stdin = None;
    }

    /// What it tells of itself at the queue's end, or why it tells nothing.
    fn account(&mut self, told: &Receiver<io::Result<Account>>) -> Result<Account> {
        let died = failed("run to its end");
        match told.recv_timeout(LAST_WORD) {
            Ok(Ok(account)) => Ok(account),
            Ok(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(died(match self.0.wait() {
                    Ok(status) => io::Error::other(format!("it ended with {status}")),
                    Err(error) => error,
                }))
            }
            Ok(Err(error)) => Err(failed("receive a sample")(error)),
            Err(_) => Err(died(io::Error::other("it does not end"))),
        }
    }
}

impl Drop for Sensor {
    fn drop(&mut self) {
        // It has said all that it will be asked; one that has ended is not hit.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a writer has done.
pub(super) struct Written {
    /// Samples stored, from the first to the last.
    pub stored: u64,
    /// Samples of the window that were taken from the queue.
    pub samples: u64,
    /// Samples of the window that never came.
    pub lost: u64,
    /// Samples that never came, of all that the sensor made.
    pub lost_ever: u64,
    /// How long the window was, from its first sample to its last.
    pub window: Duration,
    /// Of everything stored, in its order.
    pub fingerprint: Fingerprint,
    /// Numbers of the samples that came: the first and how many, gap by gap.
    pub runs: Vec<(u64, u64)>,
    /// What the sensor tells.
    pub account: Account,
}

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

/// A writer at work.
pub(super) struct Writer<'a> {
    pub log: &'a mut dyn MachineLog,
    pub layout: Layout,
    pub sensor: Sensor,
    pub task: Task,
    /// Times the commits of the window.
    pub commits: &'a mut Stopwatch,
    pub observer: &'a mut dyn PhaseObserver,
    pub aside: &'a mut dyn Aside,
}

/// Counts samples and gaps, and knows where the window is.
struct Tally {
    first: u64,
    end: u64,
    samples: u64,
    stored: u64,
    next: u64,
    fingerprint: Fingerprint,
    runs: Vec<(u64, u64)>,
    checkpoints: Option<Checkpoints>,
    opened: Option<Instant>,
    closed: Option<Duration>,
}

impl Tally {
    fn take(&mut self, number: u64, sample: &Sample) {
        self.fingerprint = with(self.fingerprint, sample);
        self.stored += 1;
        self.samples += u64::from((self.first..self.end).contains(&number));
        match self.runs.last_mut() {
            Some((_, run)) if number == self.next => *run += 1,
            _ => self.runs.push((number, 1)),
        }
        self.next = number + 1;
    }
}

impl Writer<'_> {
    /// Writes until the window is over, then what is still in the queue.
    pub(super) fn run(mut self, queue: queue::Receiver) -> Result<Written> {
        let mut tally = Tally {
            first: self.task.first,
            end: self.task.end,
            samples: 0,
            stored: 0,
            next: 0,
            fingerprint: Fingerprint::default(),
            runs: Vec::new(),
            checkpoints: None,
            opened: None,
            closed: None,
        };
        let (tell, told) = sync_channel(1);
        let written = match self.layout {
            Layout::Samples => self.singly(queue, tell, &mut tally),
            Layout::Seconds => self.by_seconds(queue, tell, &mut tally),
        };
        let written = written.and(self.close(&mut tally));
        let flushed = written.and_then(|()| self.log.flush());
        let account = match flushed.and_then(|()| self.sensor.account(&told)) {
            Ok(account) => account,
            Err(error) => return Err(self.given_up(error, &told, &tally)),
        };
        let Tally { first, end, samples, stored, fingerprint, runs, closed, .. } = tally;
        Ok(Written {
            stored,
            samples,
            lost: end.min(account.made).saturating_sub(first).saturating_sub(samples),
            lost_ever: account.made.saturating_sub(stored),
            window: closed.unwrap_or_default(),
            fingerprint,
            runs,
            account,
        })
    }

    /// Opens and closes the window by the number of the sample that came last.
    fn look(&mut self, number: u64, tally: &mut Tally) -> Result<()> {
        if tally.opened.is_none() && number >= tally.first {
            tally.checkpoints = Some(Checkpoints::before(self.log)?);
            self.commits.reset();
            self.observer.open();
            tally.opened = Some(Instant::now());
        }
        if number + 1 >= tally.end {
            self.close(tally)?;
            self.sensor.stop();
        }
        Ok(())
    }

    /// An error that ended the writing, with what is lost by it: the sensor goes on, and nobody
    /// stores what it makes.
    fn given_up(
        mut self,
        error: EngineError,
        told: &Receiver<io::Result<Account>>,
        tally: &Tally,
    ) -> EngineError {
        if error.is_unsupported() {
            return error;
        }
        let stored = tally.stored;
        self.sensor.stop();
        let lost = match self.sensor.account(told) {
            Ok(account) => format!("{} more were made and are lost", account.made - stored),
            Err(_) => "how many more were made is not known".to_owned(),
        };
        let what = format!("{error}; {stored} samples had been stored, {lost}");
        EngineError::failed("the writer", "go on", what)
    }

    fn close(&mut self, tally: &mut Tally) -> Result<()> {
        if let (Some(opened), None) = (tally.opened, tally.closed) {
            tally.closed = Some(opened.elapsed());
            self.observer.close();
            self.commits.stop();
            if let Some(checkpoints) = tally.checkpoints.take() {
                checkpoints.tell(self.log, self.observer)?;
            }
        }
        Ok(())
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
        tally: &mut Tally,
    ) -> Result<()> {
        let written = self.each(&mut queue, tally);
        // What is left of the queue after an error is in nobody's way then.
        std::thread::spawn(move || tell.send(queue.rest()));
        written
    }

    fn each(&mut self, queue: &mut queue::Receiver, tally: &mut Tally) -> Result<()> {
        let mut stamper = Stamper::new();
        while let Ok(Received::Sample(number, values)) = queue.receive() {
            let sample = Sample { at: stamper.stamp(), values };
            let Self { log, commits, .. } = self;
            commits.time(|| log.write(&sample))?;
            tally.take(number, &sample);
            self.look(number, tally)?;
            self.aside(&stamper)?;
        }
        Ok(())
    }

    /// One commit a second. Another thread collects the samples of the next one meanwhile; when it
    /// has one waiting and another full it waits too, and the queue fills.
    fn by_seconds(
        &mut self,
        mut queue: queue::Receiver,
        tell: SyncSender<io::Result<Account>>,
        tally: &mut Tally,
    ) -> Result<()> {
        let (give, take) = sync_channel::<Second>(1);
        let (give_back, empty) = sync_channel::<Second>(4);
        std::thread::spawn(move || {
            collect(&mut queue, give, &empty);
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
                    let Self { log, commits, .. } = self;
                    commits.time(|| log.write_second(&second.samples))?;
                    for (number, sample) in second.numbers.iter().zip(&second.samples) {
                        tally.take(*number, sample);
                    }
                    if let Some(last) = second.numbers.last() {
                        self.look(*last, tally)?;
                    }
                    let _ = give_back.try_send(second);
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.aside(&stamper)?;
        }
    }
}

/// The samples of one second, and their numbers.
#[derive(Default)]
struct Second {
    samples: Vec<Sample>,
    numbers: Vec<u64>,
}

/// Gives second after second, until the queue has ended or nobody takes them.
fn collect(queue: &mut queue::Receiver, give: SyncSender<Second>, empty: &Receiver<Second>) {
    let mut stamper = Stamper::new();
    let mut second = Second::default();
    while let Ok(received) = queue.receive() {
        let Received::Sample(number, values) = received else {
            if !second.samples.is_empty() {
                let _ = give.send(second);
            }
            return;
        };
        let at = stamper.stamp();
        if second.samples.first().is_some_and(|first| first.at.s != at.s) {
            let mut next = empty.try_recv().unwrap_or_default();
            next.samples.clear();
            next.numbers.clear();
            if give.send(std::mem::replace(&mut second, next)).is_err() {
                return;
            }
        }
        second.samples.push(Sample { at, values });
        second.numbers.push(number);
    }
}

impl Written {
    /// Whether everything stored is what the sensor made and the writer stamped: visits the store
    /// in the order of time.
    pub(super) fn check(
        &self,
        log: &mut dyn MachineLog,
        signal: &Signal,
    ) -> Result<Option<String>> {
        let mut runs = self.runs.iter().flat_map(|(first, run)| *first..*first + *run);
        let (mut seen, mut fingerprint, mut wrong) = (0_u64, Fingerprint::default(), None);
        log.contents(&mut |sample| {
            seen += 1;
            fingerprint = with(fingerprint, &sample);
            let expected = runs.next().map(|number| (number, signal.values(number)));
            if wrong.is_none() && expected.map(|(_, values)| values) != Some(sample.values) {
                wrong = Some(format!(
                    "sample {seen} of the store is {sample:?}, expected number and values {expected:?}"
                ));
            }
            std::ops::ControlFlow::Continue(())
        })?;
        Ok(match wrong {
            Some(wrong) => Some(wrong),
            None if seen != self.stored => {
                Some(format!("{seen} samples in the store, expected {}", self.stored))
            }
            None if fingerprint != self.fingerprint => Some(
                "the times of the samples in the store are not those they were given".to_owned(),
            ),
            None => None,
        })
    }
}

#[cfg(test)]
mod tests;
