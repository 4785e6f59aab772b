use embermark_contract::Lifecycle;
use embermark_data::machine::{History, Stamp};
use embermark_model::result::Execution;

use super::super::port::{Seek, Visit};
use super::*;

const RATE: u64 = 1_000;

/// A store that holds what it is given.
pub(in super::super) struct Held(pub Vec<Sample>);

impl MachineLog for Held {
    fn finds(&self) -> Option<Execution> {
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

/// Takes a sample as the writer does.
pub(in super::super) fn taken(tally: &mut Tally, number: u64, sample: Sample, response: u64) {
    tally.take(&[number], &[sample], response);
    if tally.opens() {
        tally.open();
    }
    if tally.is_over() {
        tally.close();
    }
}

/// Samples 0 to 99 and 120 to 199, as a writer took them that lost twenty.
fn written() -> (Written, Vec<Sample>) {
    let history = History::new(3, RATE, 200);
    let numbers: Vec<u64> = (0..100).chain(120..200).collect();
    let samples: Vec<Sample> = numbers.iter().map(|number| history.sample(*number)).collect();
    let mut tally = Tally::new(Task { rate: RATE, seed: 3, first: 0, end: 200 });
    for (number, sample) in numbers.iter().zip(&samples) {
        taken(&mut tally, *number, *sample, 5_000_000);
    }
    let written = Written { tally, account: Account { made: 200, lost: 20, ..Account::default() } };
    assert_eq!((written.lost(), written.lost_ever()), (20, 20));
    assert_eq!(written.tally.runs, [(0, 100), (120, 80)]);
    (written, samples)
}

#[test]
fn what_is_stored_is_compared_with_what_the_sensor_made_and_the_writer_stamped() {
    let (written, samples) = written();
    let signal = Signal::new(3, RATE);
    let verdict = |change: fn(&mut Vec<Sample>)| {
        let mut held = Held(samples.clone());
        change(&mut held.0);
        written.check(&mut held, &signal, &mut |_| ()).unwrap()
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

#[test]
fn who_waits_longer_and_longer_has_fallen_behind_and_who_is_held_up_once_has_not() {
    let behind = |response_ms: fn(u64) -> u64| {
        let mut tally = Tally::new(Task { rate: RATE, seed: 3, first: 100, end: 300 });
        for number in 0..300 {
            taken(&mut tally, number, Sample::default(), response_ms(number) * 1_000_000);
        }
        let written = Written { tally, account: Account { made: 300, ..Account::default() } };
        assert_eq!((written.measured().ops, written.tally.stored, written.lost()), (200, 300, 0));
        written.achieved_rate()
    };
    assert_eq!(behind(|_| 5), 1_000.0);
    assert_eq!(written().0.achieved_rate(), 900.0, "what was lost is left out");
    assert_eq!(behind(|number| if number > 290 { 100 } else { 5 }), 1_000.0);
    // From 101 to 299 it is later by 1 ms each; the last 21 wait for 178 ms more than the first.
    assert_eq!(behind(|number| number).round(), (1_000.0_f64 * 200.0 / 378.0).round());
}
