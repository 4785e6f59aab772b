//! The sensor process: it makes one row each period by absolute time, offers it to the queue, and
//! forgets it.

use std::error::Error;
use std::fs::File;
use std::io::{self, PipeWriter, Read};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_nanosleep};
use serde::{Deserialize, Serialize};

use super::clock::monotonic_ns;
use super::queue::{Account, Sender, Shape};

/// Above this rate, in rows per second, the sensor does not sleep for each row: each wake-up makes
/// all rows that are due. Lateness up to its period is then no missed deadline.
const SLEEPS: u64 = 1_000;

const SECOND: u64 = 1_000_000_000;

/// Task of a sensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Task {
    /// Rows per second.
    pub rate: u64,
    /// The first row that counts. Rows before it are the warm-up.
    pub first: u64,
    /// The first row after the last that counts.
    pub end: u64,
}

impl Task {
    /// Returns when a row is made, in ns after the sensor began.
    const fn made_ns(&self, number: u64) -> u64 {
        let (s, part) = (number / self.rate, number % self.rate);
        s * SECOND + part * SECOND / self.rate
    }

    /// Returns when a row is due in the queue, in ns after the sensor began: when it is made, or
    /// with its burst.
    pub const fn due_ns(&self, number: u64) -> u64 {
        let made = self.made_ns(number);
        if self.rate <= SLEEPS { made } else { made.next_multiple_of(SECOND / SLEEPS) }
    }

    /// Returns the number of rows that count.
    pub const fn rows(&self) -> u64 {
        self.end - self.first
    }

    /// Creates a task with this warm-up and window, each rounded to whole rows. The window has at
    /// least one.
    pub(crate) fn new(rate: u64, warm_up: Duration, window: Duration) -> Self {
        let first = rows_in(rate, warm_up);
        Self { rate, first, end: first + rows_in(rate, window).max(1) }
    }

    /// Returns the task with at least two commits of this many rows after the one that opens its
    /// window. A shorter window is lengthened up to `longest`. `None` if that is too short.
    pub(crate) fn with_commits(self, rows: u64, longest: Duration) -> Option<Self> {
        // The window opens with the commit of its first row, and closes with that of its last.
        let second = (self.first / rows.max(1)).saturating_add(2).saturating_mul(rows.max(1));
        let end = self.end.max(second.saturating_add(1));
        let fits = end == self.end || end - self.first <= rows_in(self.rate, longest);
        fits.then_some(Self { end, ..self })
    }
}

/// Returns the rows of a time at a rate, rounded up.
fn rows_in(rate: u64, time: Duration) -> u64 {
    (time.as_nanos() * u128::from(rate)).div_ceil(u128::from(SECOND)) as u64
}

/// Sends rows into the queue `out` until the parent closes standard input. `make` returns what is
/// sent with the row of a number.
pub(crate) fn run(
    task: Task,
    shape: Shape,
    make: impl Fn(u64, &mut [u8]),
    out: File,
) -> Result<(), Box<dyn Error>> {
    let mut queue = Sender::over(PipeWriter::from(OwnedFd::from(out)), shape)?;
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    std::thread::spawn(move || {
        // An error ends the input too.
        let _ = io::stdin().lock().read_to_end(&mut Vec::new());
        stopped.store(true, Ordering::Release);
    });
    // Sleeps should be exact to well below a millisecond. The kernel's default slack is 50 µs.
    let _ = nix::sys::prctl::set_timerslack(1);
    let mut sensor = Sensor::new(task, monotonic_ns()?);
    queue.begin(sensor.began)?;
    while !stop.load(Ordering::Acquire) {
        sleep_until(sensor.due())?;
        sensor.emit(monotonic_ns()?, |number| {
            let mut payload = [0; 16];
            let payload = &mut payload[..shape.payload];
            make(number, payload);
            queue.offer(number, payload)
        })?;
    }
    // The last message must get through. The writer makes room.
    while !queue.end(&sensor.account)? {
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// The sensor without its clock and its queue.
struct Sensor {
    task: Task,
    began: u64,
    account: Account,
}

impl Sensor {
    const fn new(task: Task, began: u64) -> Self {
        let account = Account { made: 0, missed: 0, latest_ns: 0 };
        Self { task, began, account }
    }

    /// Returns when to wake up next.
    const fn due(&self) -> u64 {
        self.began + self.task.due_ns(self.account.made)
    }

    /// Makes every row that is due.
    fn emit(&mut self, now: u64, mut offer: impl FnMut(u64) -> io::Result<bool>) -> io::Result<()> {
        let allowed =
            if self.task.rate <= SLEEPS { SECOND / self.task.rate } else { SECOND / SLEEPS };
        loop {
            let number = self.account.made;
            let made = self.began + self.task.made_ns(number);
            if made > now {
                return Ok(());
            }
            offer(number)?;
            self.account.made += 1;
            if (self.task.first..self.task.end).contains(&number) {
                let late = now - made;
                self.account.missed += u64::from(late > allowed);
                self.account.latest_ns = self.account.latest_ns.max(late);
            }
        }
    }
}

/// Sleeps until a time of the monotonic clock. The error of one sleep does not add to the next, and
/// changes of the wall clock have no effect (`clock_nanosleep(2)`).
fn sleep_until(time: u64) -> io::Result<()> {
    let until = TimeSpec::new((time / SECOND) as i64, (time % SECOND) as i64);
    let flags = ClockNanosleepFlags::TIMER_ABSTIME;
    match clock_nanosleep(ClockId::CLOCK_MONOTONIC, flags, &until) {
        Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sensor(rate: u64) -> Sensor {
        Sensor::new(Task { rate, first: 0, end: u64::MAX }, 5 * SECOND)
    }

    #[test]
    fn a_sample_each_period_and_none_before_its_time() {
        let mut sensor = sensor(1_000);
        let mut numbers = Vec::new();
        let mut offer = |number| {
            numbers.push(number);
            Ok(true)
        };
        for _ in 0..10 {
            let due = sensor.due();
            sensor.emit(due - 1, &mut offer).unwrap();
            sensor.emit(due, &mut offer).unwrap();
        }
        assert_eq!(sensor.due(), 5 * SECOND + 10_000_000);
        assert_eq!((numbers.len(), sensor.account.missed), (10, 0));
        assert!(numbers.is_sorted());
    }

    #[test]
    fn what_came_too_late_is_made_up_for_and_counted() {
        let mut sensor = sensor(1_000);
        sensor.emit(5 * SECOND + 3_500_000, |number| Ok(number != 2)).unwrap();
        let account = Account { made: 4, missed: 3, latest_ns: 3_500_000 };
        assert_eq!(sensor.account, account, "all but the last, which is half a period late");
    }

    #[test]
    fn fast_samples_come_in_bursts_of_a_millisecond() {
        let mut sensor = sensor(200_000);
        let mut made = 0;
        for _ in 0..1_000 {
            let due = sensor.due();
            sensor
                .emit(due, |_| {
                    made += 1;
                    Ok(true)
                })
                .unwrap();
        }
        assert!((199_700..=200_001).contains(&made), "{made}");
        assert_eq!(sensor.account.missed, 0);
    }

    #[test]
    fn a_window_has_two_commits_after_the_one_that_opens_it_or_is_refused() {
        let ms = Duration::from_millis;
        // Rows per second, rows per commit, and the windows in ms before and after. At most 2 s.
        for (rate, rows, window, lengthened) in [
            (1_000, 1, 3, Some(3)),
            (1_000, 1, 2, Some(3)),
            (1_000, 1, 1, Some(3)),
            (1_000, 40, 250, Some(250)),
            // The warm-up has 10 rows. Row 80 begins the second commit after the first one.
            (1_000, 40, 50, Some(71)),
            (1_000, 1_000, 500, Some(1_991)),
            (1_000, 1_010, 500, None),
            (1_000, 50_000, 2_000, None),
            (1_000, u64::MAX, 2_000, None),
        ] {
            let task = Task::new(rate, ms(10), ms(window));
            let wanted = lengthened.map(|window| Task::new(rate, ms(10), ms(window)));
            assert_eq!(task.with_commits(rows, ms(2_000)), wanted, "{rows} rows, {window} ms");
        }
    }

    #[test]
    fn a_sample_is_due_when_it_was_taken_and_in_a_burst_with_the_burst() {
        let due = |rate, number| sensor(rate).task.due_ns(number);
        assert_eq!([0, 1, 2_500].map(|number| due(1_000, number)), [0, 1_000_000, 2_500_000_000]);
        assert_eq!(
            [0, 1, 20, 21].map(|number| due(20_000, number)),
            [0, 1_000_000, 1_000_000, 2_000_000]
        );
    }
}
