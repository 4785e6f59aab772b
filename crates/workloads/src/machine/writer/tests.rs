use std::ops::ControlFlow;

use embermark_data::machine::{History, Stamp};
use embermark_model::result::Execution;

use super::super::port::{Seek, Sums, Visit};
use super::*;

const RATE: u64 = 1_000;

/// A store that holds what it is given.
struct Held(Vec<Sample>);

impl MachineLog for Held {
    fn finds(&self) -> Execution {
        Execution::ClientSide
    }

    fn clear(&mut self) -> Result<()> {
        Ok(())
    }

    fn open(&mut self) -> Result<()> {
        Ok(())
    }

    fn write(&mut self, sample: &Sample) -> Result<()> {
        self.0.push(*sample);
        Ok(())
    }

    fn write_second(&mut self, samples: &[Sample]) -> Result<()> {
        self.0.extend_from_slice(samples);
        Ok(())
    }

    fn load(&mut self, _: &History) -> Result<()> {
        Ok(())
    }

    fn seek(&mut self, _: Seek, _: Stamp) -> Result<Option<Stamp>> {
        Ok(None)
    }

    fn lowest(&mut self, _: Stamp, _: Stamp) -> Result<Option<Stamp>> {
        Ok(None)
    }

    fn samples(&mut self, _: Stamp, _: Stamp, _: &mut Vec<Sample>) -> Result<()> {
        Ok(())
    }

    fn sums(&mut self, _: Stamp, _: Stamp) -> Result<Sums> {
        Ok(Sums::default())
    }

    fn seconds(&mut self, _: i64, _: i64, _: &mut Vec<Sample>) -> Result<()> {
        Ok(())
    }

    fn angles(&mut self, _: i64, _: i64, _: &mut Vec<Sample>) -> Result<()> {
        Ok(())
    }

    fn others(&mut self, _: Stamp, _: Stamp, _: &mut Vec<Sample>) -> Result<()> {
        Ok(())
    }

    fn newest(&mut self) -> Result<Option<Stamp>> {
        Ok(None)
    }

    fn contents(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        for sample in &self.0 {
            if let ControlFlow::Break(()) = visit(*sample) {
                break;
            }
        }
        Ok(())
    }

    fn maintain(&mut self) -> Result<()> {
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// Samples 0 to 99 and 120 to 199, as a writer took them that lost twenty.
fn written() -> (Written, Vec<Sample>) {
    let history = History::new(3, RATE, 200);
    let numbers: Vec<u64> = (0..100).chain(120..200).collect();
    let samples: Vec<Sample> = numbers.iter().map(|number| history.sample(*number)).collect();
    let fingerprint = samples.iter().fold(Fingerprint::default(), with);
    let written = Written {
        stored: 180,
        samples: 180,
        lost: 20,
        lost_ever: 20,
        window: Duration::from_millis(200),
        fingerprint,
        runs: vec![(0, 100), (120, 80)],
        account: Account::default(),
    };
    (written, samples)
}

#[test]
fn what_is_stored_is_compared_with_what_the_sensor_made_and_the_writer_stamped() {
    let (written, samples) = written();
    let signal = Signal::new(3, RATE);
    let verdict = |change: fn(&mut Vec<Sample>)| {
        let mut held = Held(samples.clone());
        change(&mut held.0);
        written.check(&mut held, &signal).unwrap()
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
