use std::io;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::super::queue::{Sender, Shape};
use super::*;
use crate::{Companions, NoopObserver};

/// A sensor whose process does nothing.
struct Idle;

impl Companions for Idle {
    fn start(&self, _: &str, _: &str, _: Option<&str>) -> io::Result<Child> {
        Command::new("sleep").arg("60").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
    }
}

const SHAPE: Shape = Shape { payload: 4, bytes: 16 * 1024 };

/// Keeps commits; one of them takes 50 ms.
#[derive(Default)]
struct Stalling {
    commits: Vec<Vec<(u64, u32)>>,
    stalls: Option<usize>,
    /// End of the window that it needs. `None`: that of the task.
    end: Option<u64>,
}

/// Latest end of a window that it can have.
const LATEST: u64 = 1_000;

const STALL: Duration = Duration::from_millis(50);

/// Returns what is kept of a row.
fn kept(number: u64, payload: &[u8]) -> (u64, u32) {
    (number, u32::from_le_bytes(payload.try_into().unwrap()))
}

impl Sink for Stalling {
    type Row = (u64, u32);

    const ROWS: &'static str = "rows";

    fn planned(&self, task: Task) -> Result<Task> {
        match self.end.unwrap_or(task.end) {
            end if end > LATEST => Err(EngineError::impossible("the window is too long")),
            end => Ok(Task { end, ..task }),
        }
    }

    fn arrived(&mut self, number: u64, payload: &[u8]) -> (u64, u32) {
        kept(number, payload)
    }

    fn commit(&mut self, rows: &[(u64, u32)]) -> Result<()> {
        if Some(self.commits.len()) == self.stalls {
            std::thread::sleep(STALL);
        }
        self.commits.push(rows.to_vec());
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    fn checkpoints(&mut self) -> Result<Option<u64>> {
        Ok(None)
    }
}

/// Returns a full queue of these rows at 1 kHz, of which the eleventh is due about now, and its
/// end.
fn queue(numbers: impl IntoIterator<Item = u64>) -> queue::Receiver {
    let (reader, writer) = io::pipe().unwrap();
    let mut sender = Sender::over(writer, SHAPE).unwrap();
    sender.begin(monotonic_ns().unwrap() - 10_000_000).unwrap();
    let mut made = 0;
    for number in numbers {
        assert!(sender.offer(number, &(number as u32 * 3).to_le_bytes()).unwrap());
        made = number + 1;
    }
    assert!(sender.end(&Account { made, ..Account::default() }).unwrap());
    queue::Receiver::new(reader, SHAPE)
}

/// Lets a writer take rows.
fn write(
    sink: &mut Stalling,
    rows: u64,
    run: impl FnOnce(Writer<'_, Stalling>) -> Result<WriteOutcome>,
) -> WriteOutcome {
    attempt(sink, rows, run).unwrap()
}

/// Lets a writer take rows. Returns the error that ends its work.
fn attempt(
    sink: &mut Stalling,
    rows: u64,
    run: impl FnOnce(Writer<'_, Stalling>) -> Result<WriteOutcome>,
) -> Result<WriteOutcome> {
    let (sensor, _) = Sensor::start(&Idle, "", SHAPE).unwrap();
    let (mut observer, task) = (NoopObserver, Task { rate: 1_000, first: 0, end: rows });
    let (window, tally) = (Window::new(&mut observer), Tally::new(task));
    run(Writer { sink, sensor, window, interleaved: &mut NoTask, tally })
}

#[test]
fn a_stall_is_in_the_response_time_of_every_row_that_was_due_meanwhile() {
    const ROWS: u64 = 201;
    let mut sink = Stalling { stalls: Some(10), ..Stalling::default() };
    let written = write(&mut sink, ROWS, |writer| writer.by_count(queue(0..ROWS), 1));
    let Tally { service, response, .. } = &written.tally;
    let (service, response) = (service.latency().unwrap(), response.latency().unwrap());
    assert_eq!((written.measured().ops, service.samples, response.samples), (ROWS, 200, 200));
    // One commit took 50 ms; of the fifty rows due meanwhile, the first was 50 ms late, the next
    // 49.
    assert!(service.max >= 50_000_000);
    assert!(response.p99 >= Some(47_900_000), "{response:?}");
    assert!(response.p95 >= Some(39_900_000), "{response:?}");
    assert!(response.mean >= 50.0 * 51.0 / 2.0 / 200.0 * 1e6, "{response:?}");
}

#[test]
fn a_commit_has_so_many_rows_and_the_last_one_what_is_left() {
    let mut sink = Stalling::default();
    let written = write(&mut sink, 25, |writer| writer.by_count(queue(0..25), 10));
    let sizes: Vec<usize> = sink.commits.iter().map(Vec::len).collect();
    assert_eq!((sizes, written.tally.stored, written.lost()), (vec![10, 10, 5], 25, 0));
    let all: Vec<(u64, u32)> = sink.commits.concat();
    assert!(all.iter().zip(0..).all(|(row, number)| *row == (number, number as u32 * 3)));
}

#[test]
fn a_commit_has_the_rows_of_a_stretch_of_time_that_came() {
    let mut sink = Stalling::default();
    let came = (0..100).chain(120..250);
    let written = write(&mut sink, 250, |writer| {
        writer.by_time(queue(came), kept, |first, next| first.0 / 100 != next.0 / 100)
    });
    let sizes: Vec<usize> = sink.commits.iter().map(Vec::len).collect();
    assert_eq!((sizes, written.tally.stored), (vec![100, 80, 50], 230));
    assert_eq!((written.lost(), &written.tally.runs[..]), (20, &[(0, 100), (120, 130)][..]));
}

/// Takes rows by their number and by their time.
type Taking = fn(Writer<'_, Stalling>, queue::Receiver) -> Result<WriteOutcome>;

/// Each takes a hundred rows per commit.
const BY_HUNDREDS: [Taking; 2] = [
    |writer, queue| writer.by_count(queue, 100),
    |writer, queue| writer.by_time(queue, kept, |first, next| first.0 / 100 != next.0 / 100),
];

#[test]
fn a_window_is_as_long_as_the_commits_need_and_one_that_cannot_be_is_refused_before_any_commit() {
    for take in BY_HUNDREDS {
        let mut sink = Stalling { end: Some(250), ..Stalling::default() };
        let written = write(&mut sink, 50, |writer| take(writer, queue(0..300)));
        assert_eq!((written.tally.task.end, written.measured().ops), (250, 250));
        assert_eq!(written.tally.response.latency().unwrap().samples, 2, "after the opening one");

        let mut sink = Stalling { end: Some(LATEST + 1), ..Stalling::default() };
        let refused = attempt(&mut sink, 50, |writer| take(writer, queue(0..300))).err().unwrap();
        assert!(refused.is_unsupported(), "{refused}");
        assert!(refused.to_string().contains("the window is too long"), "{refused}");
        assert!(sink.commits.is_empty());
    }
}

#[test]
fn one_commit_with_every_row_of_the_window_is_no_measurement() {
    for take in BY_HUNDREDS {
        let mut sink = Stalling::default();
        let refused = attempt(&mut sink, 25, |writer| take(writer, queue(0..100))).err().unwrap();
        assert!(refused.is_unsupported(), "{refused}");
        assert!(refused.to_string().contains("one commit stored all 25 rows"), "{refused}");
        assert_eq!(sink.commits.len(), 1);
    }
}
