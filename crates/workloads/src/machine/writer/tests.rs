use std::io;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use embermark_contract::Lifecycle;
use embermark_data::machine::{History, Stamp};
use embermark_model::result::Execution;

use super::super::port::{Channels, Seek, Span, Visit};
use super::super::queue::Sender;
use super::super::written::tests::Held;
use super::*;
use crate::{Companions, NoopObserver};

/// Whose process does nothing.
struct Idle;

impl Companions for Idle {
    fn start(&self, _: &str, _: &str, _: Option<&str>) -> io::Result<Child> {
        Command::new("sleep").arg("60").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
    }
}

/// A store whose tenth commit takes 50 ms.
struct Stalling(Held);

const STALLS: usize = 10;
const STALL: Duration = Duration::from_millis(50);

impl MachineLog for Stalling {
    fn finds(&self) -> Option<Execution> {
        self.0.finds()
    }

    fn clear(&mut self) -> Result<()> {
        self.0.clear()
    }

    fn write(&mut self, samples: &[Sample]) -> Result<()> {
        if self.0.0.len() == STALLS {
            std::thread::sleep(STALL);
        }
        self.0.write(samples)
    }

    fn load(&mut self, history: &History) -> Result<()> {
        self.0.load(history)
    }

    fn visit(&mut self, span: Span, channels: Channels, visit: &mut Visit<'_>) -> Result<()> {
        self.0.visit(span, channels, visit)
    }

    fn newest(&mut self) -> Result<Option<Stamp>> {
        self.0.newest()
    }

    fn seek(&mut self, seek: Seek, at: Stamp) -> Result<Option<Stamp>> {
        self.0.seek(seek, at)
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut self.0
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// Samples of 1 kHz of which the eleventh is due about now, all in the queue.
#[test]
fn a_stall_is_in_the_response_time_of_every_sample_that_was_due_meanwhile() {
    const SAMPLES: u64 = 201;
    let task = Task { rate: 1_000, seed: 1, first: 0, end: SAMPLES };
    let (reader, writer) = io::pipe().unwrap();
    let mut sender = Sender::over(writer).unwrap();
    sender.begin(monotonic_ns().unwrap() - STALLS as u64 * 1_000_000).unwrap();
    for number in 0..SAMPLES {
        assert!(sender.offer(number, &Values::default()).unwrap());
    }
    let account = Account { made: SAMPLES, ..Account::default() };
    assert!(sender.end(&account).unwrap());
    let (sensor, _) = Sensor::start(&Idle, task).unwrap();
    let (mut log, mut observer) = (Stalling(Held(Vec::new())), NoopObserver);
    let writer = Writer {
        log: &mut log,
        layout: Layout::Samples,
        sensor,
        window: Window::new(&mut observer),
        aside: &mut Nothing,
        tally: Tally::new(task),
    };
    let written = writer.run(queue::Receiver::of(reader)).unwrap();
    let Tally { service, response, .. } = &written.tally;
    let (service, response) = (service.latency().unwrap(), response.latency().unwrap());
    assert_eq!((written.measured().ops, service.samples, response.samples), (SAMPLES, 200, 200));
    // One commit took 50 ms; of fifty samples due meanwhile the first was 50 ms late, the next 49.
    assert!(service.max >= 50_000_000);
    assert!(response.p99 >= Some(47_900_000), "{response:?}");
    assert!(response.p95 >= Some(39_900_000), "{response:?}");
    assert!(response.mean >= 50.0 * 51.0 / 2.0 / 200.0 * 1e6, "{response:?}");
}
