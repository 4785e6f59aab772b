use embermark_contract::Lifecycle;
use embermark_data::machine::{History, Stamp};
use embermark_model::result::Execution;

use super::super::machine_log::{Seek, Visit};
use super::*;
use crate::arrivals::{Task, written};

const RATE: u64 = 1_000;

/// A store that keeps what it gets.
pub(in super::super) struct Held(pub Vec<Sample>);

impl MachineLog for Held {
    fn search_execution(&self) -> Option<Execution> {
        Some(Execution::ClientSide)
    }

    fn clear(&mut self) -> Result<()> {
        Ok(())
    }

    fn write(&mut self, samples: &[Sample]) -> Result<()> {
        self.0.extend_from_slice(samples);
        Ok(())
    }

    fn load(&mut self, _: &History) -> Result<()> {
        Ok(())
    }

    fn visit(&mut self, _: Span, _: Channels, visit: &mut Visit<'_>) -> Result<()> {
        self.0.iter().copied().for_each(visit);
        Ok(())
    }

    fn newest(&mut self) -> Result<Option<Stamp>> {
        Ok(None)
    }

    fn seek(&mut self, _: Seek, _: Stamp) -> Result<Option<Stamp>> {
        Ok(None)
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        self
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

impl Lifecycle for Held {
    fn maintain(&mut self) -> Result<()> {
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// Returns samples 0 to 99 and 120 to 199, as stored by a writer that lost twenty.
fn stored() -> (StoredSamples, Vec<Sample>) {
    let history = History::new(3, RATE, 200);
    let numbers = || (0..100).chain(120..200);
    let samples: Vec<Sample> = numbers().map(|number| history.sample(number)).collect();
    let mut held = Held(Vec::new());
    let mut sink = SampleSink::new(&mut held);
    samples.chunks(7).for_each(|some| sink.committed(some));
    let task = Task { rate: RATE, first: 0, end: 200 };
    (sink.stored(written(task, numbers(), 200)), samples)
}

#[test]
fn channels_travel_whole() {
    let values = [0, 1, 4_095, u16::MAX, 300];
    let payload: [u8; QUEUE.payload] = encoding::values_bytes(&values);
    assert_eq!(stamped(&mut Stamper::new(), &payload).values, values);
}

#[test]
fn what_is_stored_is_compared_with_what_the_sensor_made_and_the_writer_stamped() {
    let (stored, samples) = stored();
    let signal = Signal::new(3, RATE);
    let verdict = |change: fn(&mut Vec<Sample>)| {
        let mut held = Held(samples.clone());
        change(&mut held.0);
        stored.check(&mut held, &signal, &mut |_| ()).unwrap()
    };
    assert_eq!(verdict(|_| ()), None);
    type Lie = fn(&mut Vec<Sample>);
    let lies: [(Lie, &str); 6] = [
        (|samples| samples.truncate(179), "179 samples in the store, expected 180"),
        (|samples| samples.push(samples[179]), "sample 181"),
        (|samples| samples[150].values[2] ^= 1, "sample 151"),
        (|samples| samples.swap(7, 8), "sample 8"),
        (|samples| samples[9].at.ns += 1, "the times of the samples"),
        (Vec::clear, "0 samples in the store"),
    ];
    for (lie, says) in lies {
        let wrong = verdict(lie).unwrap();
        assert!(wrong.contains(says), "{wrong}");
    }
}
