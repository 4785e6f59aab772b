use embermark_contract::Lifecycle;
use embermark_data::machine::History;
use embermark_model::result::Execution;

use super::super::cycles::{Moments, read};
use super::super::machine_log::{Channels, MachineLog, Seek, Span, Visit};
use super::*;

const RATE: u64 = 1_000;
const MILLISECOND: i64 = 1_000_000;
const READERS: [ReadMethod; 3] = [ReadMethod::Individual, ReadMethod::Bulk, ReadMethod::BulkAngles];

/// A store of milliseconds that keeps samples in the order in which they arrived.
struct MillisecondLog(Vec<Sample>);

impl MachineLog for MillisecondLog {
    fn unit_ns(&self) -> i64 {
        MILLISECOND
    }

    fn search_execution(&self) -> Option<Execution> {
        Some(Execution::ClientSide)
    }

    fn clear(&mut self) -> Result<()> {
        self.0.clear();
        Ok(())
    }

    fn write(&mut self, samples: &[Sample]) -> Result<()> {
        let kept = samples.iter().map(|one| Sample { at: in_unit(one.at, MILLISECOND), ..*one });
        self.0.extend(kept);
        Ok(())
    }

    fn load(&mut self, history: &History) -> Result<()> {
        history.samples().try_for_each(|sample| self.write(&[sample]))
    }

    fn visit(&mut self, span: Span, channels: Channels, visit: &mut Visit<'_>) -> Result<()> {
        let within = |at: Stamp| span.bounds().is_none_or(|[from, to]| from <= at && at < to);
        self.0.iter().filter(|one| within(one.at)).for_each(|one| visit(channels.select(*one)));
        Ok(())
    }

    fn newest(&mut self) -> Result<Option<Stamp>> {
        Ok(self.0.last().map(|sample| sample.at))
    }

    fn seek(&mut self, seek: Seek, at: Stamp) -> Result<Option<Stamp>> {
        let mut samples = self.0.iter().filter(|one| seek.wants(one.values[0]));
        let found = match seek.forward() {
            true => samples.find(|one| one.at > at),
            false => samples.rev().find(|one| one.at < at),
        };
        Ok(found.map(|one| one.at))
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        self
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

impl Lifecycle for MillisecondLog {
    fn maintain(&mut self) -> Result<()> {
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// Returns six seconds of a writer that lost some samples, was stalled at times, and then stamped
/// the waiting ones one after another, many of them in the same millisecond.
fn written() -> (MillisecondLog, Oracle) {
    let signal = Signal::new(42, RATE);
    let numbers = [(0, 2_150), (2_200, 3_800)];
    let mut log = MillisecondLog(Vec::new());
    for number in numbers.iter().flat_map(|(first, count)| *first..first + count) {
        let due = 5_000_000_000_123_456 + number as i64 * MILLISECOND;
        // The first 40 of every 250 ms are one stall, whose samples follow each other by 10 µs.
        let (stall, part) = (number / 250 * 250, number as i64 % 250);
        let late = if part < 40 {
            5_000_000_000_123_456 + (stall as i64 + 40) * MILLISECOND + part * 10_000
        } else {
            due + 1_000_000
        };
        let sample = Sample { at: Stamp::from_nanoseconds(late), values: signal.values(number) };
        log.write(&[sample]).unwrap();
    }
    let times = log.0.iter().map(|sample| sample.at).collect();
    let oracle = Oracle::written(signal, RATE, MILLISECOND, times, &numbers);
    (log, oracle)
}

/// Returns how many of some moments are answered correctly, and how many have a cycle at all.
fn right(log: &mut MillisecondLog, oracle: &Oracle, reader: ReadMethod) -> (usize, usize) {
    let mut moments = Moments::new(oracle.moments().unwrap(), 7);
    let mut buffer = Vec::new();
    let mut answers = Vec::new();
    for _ in 0..100 {
        let at = moments.next();
        // A refusal of the reader is not a correct answer.
        let Ok(found) = read(log, reader, at, &mut buffer) else { continue };
        answers.push((at.nanoseconds(), found));
    }
    let right =
        answers.iter().filter(|one| oracle.wrong(reader, std::slice::from_ref(one)).is_none());
    (right.count(), answers.iter().filter(|(_, found)| found.is_some()).count())
}

#[test]
fn samples_of_one_millisecond_are_read_as_they_are_stored_by_every_reader() {
    let (mut log, oracle) = written();
    assert!(log.0.is_sorted_by_key(|sample| sample.at), "times never fall");
    let tied = log.0.windows(2).filter(|two| two[0].at == two[1].at).count();
    assert!(tied > 900, "{tied}");
    for reader in READERS {
        let (right, found) = right(&mut log, &oracle, reader);
        assert!(right == 100 && found > 80, "{reader:?}: {right}, {found}");
    }
    let (mut history, loaded) = (MillisecondLog(Vec::new()), History::new(42, 1_700, 7 * 1_700));
    history.load(&loaded).unwrap();
    let oracle = Oracle::history(loaded, 1_700, MILLISECOND);
    for reader in READERS {
        assert_eq!(right(&mut history, &oracle, reader), (100, 100), "{reader:?}");
    }
}

#[test]
fn what_is_lost_changed_or_swapped_within_one_millisecond_is_noticed() {
    type Lie = fn(&mut Vec<Sample>);
    let lies: [Lie; 4] = [
        |samples| {
            for place in 1..samples.len() {
                if samples[place].at == samples[place - 1].at {
                    samples.swap(place, place - 1);
                }
            }
        },
        |samples| samples.dedup_by_key(|sample| sample.at),
        |samples| samples.iter_mut().step_by(50).for_each(|sample| sample.values[4] ^= 1),
        |samples| samples.iter_mut().step_by(7).for_each(|sample| sample.at.ns += 1),
    ];
    for (number, lie) in lies.into_iter().enumerate() {
        let (mut log, oracle) = written();
        lie(&mut log.0);
        for reader in READERS {
            let (right, _) = right(&mut log, &oracle, reader);
            assert!(right < 50, "lie {number}, {reader:?}: {right}");
        }
    }
}
