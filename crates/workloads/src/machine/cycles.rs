//! Reads working cycles, and summarizes them for the check.

use std::ops::Range;

use embermark_contract::{EngineError, Result};
use embermark_data::draw::Draw;
use embermark_data::machine::{CHANNELS, Sample, Stamp, cycle};
use embermark_model::fingerprint::Fingerprint;
use serde::{Deserialize, Serialize};

use super::machine_log::{Channels, MachineLog, Seek, Span, Sums, add, one_value};

/// How a cycle is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ReadMethod {
    /// Single queries find its ends, its samples, and its sums.
    Individual,
    /// Two seconds around the moment are read and searched in memory.
    Bulk,
    /// The angles of two seconds are read and searched in memory, then the other channels of the
    /// cycle are read.
    BulkAngles,
}

/// Summary of a cycle that was read, for the comparison after the clock has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct QueryResults {
    samples: usize,
    first_ns: i64,
    last_ns: i64,
    sums: Sums,
    /// Bits of its fingerprint.
    fingerprint: u64,
}

impl QueryResults {
    pub(super) fn from_samples(samples: &[Sample], sums: Sums) -> Option<Self> {
        let mut fingerprint = Fingerprint::default();
        for sample in samples {
            fingerprint = with(fingerprint, sample);
        }
        Some(Self {
            samples: samples.len(),
            first_ns: samples.first()?.at.nanoseconds(),
            last_ns: samples.last()?.at.nanoseconds(),
            sums,
            fingerprint: fingerprint.bits(),
        })
    }
}

/// Returns a fingerprint with one more sample.
pub(super) const fn with(fingerprint: Fingerprint, sample: &Sample) -> Fingerprint {
    let [a, b, c, d, e] = sample.values;
    let low = a as i64 | (b as i64) << 16 | (c as i64) << 32 | (d as i64) << 48;
    fingerprint.int(sample.at.nanoseconds()).int(low).int(e as i64)
}

pub(super) fn sums_of(samples: &[Sample]) -> Sums {
    let mut sums = [0; CHANNELS];
    for sample in samples {
        add(&mut sums, sample);
    }
    sums
}

/// Moments whose cycles are read. They are the same for all engines that store the same samples.
pub(super) struct Moments {
    among_ns: Range<i64>,
    draw: Draw,
}

impl Moments {
    /// Creates random moments of a time range, in ns.
    pub(super) fn new(among_ns: Range<i64>, seed: u64) -> Self {
        Self { among_ns, draw: Draw::new(seed, 5) }
    }

    /// Returns the next moment.
    pub(super) fn next(&mut self) -> Stamp {
        let span = usize::try_from(self.among_ns.end - self.among_ns.start).unwrap_or(0);
        Stamp::from_nanoseconds(self.among_ns.start + self.draw.below(span) as i64)
    }
}

/// Finds the cycle around a moment among the samples read. Returns its samples and their position.
fn search(samples: &[Sample], at: Stamp) -> Option<(&[Sample], Range<usize>)> {
    let from = samples.partition_point(|sample| sample.at <= at);
    let range = cycle(samples.len(), |i| samples[i].at, |i| samples[i].values[0], from)?;
    Some((&samples[range.clone()], range))
}

/// Returns the two seconds to read for a moment: its own and the nearer neighbour.
pub(super) const fn window(at: Stamp) -> (i64, i64) {
    if at.ns < 500_000_000 { (at.s - 1, at.s) } else { (at.s, at.s + 1) }
}

/// Reads the cycle around a moment. `None` if the store has none there. The buffer is reused.
pub(super) fn read(
    log: &mut dyn MachineLog,
    reader: ReadMethod,
    at: Stamp,
    buffer: &mut Vec<Sample>,
) -> Result<Option<QueryResults>> {
    if reader != ReadMethod::Bulk && log.search_execution().is_none() {
        return Err(one_value());
    }
    buffer.clear();
    let (first, last) = window(at);
    let seconds = Span::Seconds(first, last);
    match reader {
        ReadMethod::Individual => {
            let Some([begin, end]) = ends(log, at)? else { return Ok(None) };
            log.visit(Span::Between(begin, end), Channels::All, &mut |one| buffer.push(one))?;
            let sums = log.sums(begin, end)?;
            Ok(QueryResults::from_samples(buffer, sums))
        }
        ReadMethod::Bulk => {
            log.visit(seconds, Channels::All, &mut |one| buffer.push(one))?;
            let Some((samples, _)) = search(buffer, at) else { return Ok(None) };
            Ok(QueryResults::from_samples(samples, sums_of(samples)))
        }
        ReadMethod::BulkAngles => {
            log.visit(seconds, Channels::Angle, &mut |one| buffer.push(one))?;
            let Some((_, range)) = search(buffer, at) else { return Ok(None) };
            let (begin, end) = (buffer[range.start].at, buffer[range.end].at);
            let fetched = buffer.len();
            let others = Span::Between(begin, end);
            log.visit(others, Channels::Others, &mut |one| buffer.push(one))?;
            let (angles, others) = buffer.split_at_mut(fetched);
            let angles = &mut angles[range];
            let same = angles.len() == others.len()
                && angles.iter().zip(&*others).all(|(angle, other)| angle.at == other.at);
            if !same {
                let what = "the times of a cycle's other channels differ from those of its angles";
                return Err(EngineError::failed("the store", "read a cycle", what));
            }
            for (angle, other) in angles.iter_mut().zip(&*others) {
                angle.values[1..].copy_from_slice(&other.values[1..]);
            }
            let sums = sums_of(angles);
            Ok(QueryResults::from_samples(angles, sums))
        }
    }
}

/// Finds the first sample of the cycle around a moment, and the first sample after it, by single
/// queries.
fn ends(log: &mut dyn MachineLog, at: Stamp) -> Result<Option<[Stamp; 2]>> {
    let Some(t1) = log.seek(Seek::FirstAbove, at)? else { return Ok(None) };
    let Some(t2) = log.seek(Seek::LastBelow, t1)? else { return Ok(None) };
    let Some(t3) = log.seek(Seek::LastAbove, t2)? else { return Ok(None) };
    let Some(t4) = log.lowest(t3, t2)? else { return Ok(None) };
    let Some(t5) = log.seek(Seek::FirstBelow, t1)? else { return Ok(None) };
    Ok(Some([t4, t5]))
}

#[cfg(test)]
mod tests {
    use embermark_contract::{OpenOptions, Store};
    use embermark_data::machine::History;
    use embermark_engines::registry;
    use embermark_model::Durability;

    use super::super::encoding;
    use super::super::kv::KvLog;
    use super::super::machine_log::Layout;
    use super::super::oracle::Oracle;
    use super::*;

    const RATE: u64 = 1_000;

    const READERS: [ReadMethod; 3] =
        [ReadMethod::Individual, ReadMethod::Bulk, ReadMethod::BulkAngles];

    fn history() -> History {
        History::new(42, RATE, 6 * RATE)
    }

    /// A log of the history in memory, after `change` has had its way with the samples.
    fn log(layout: Layout, change: impl Fn(&mut Vec<Sample>)) -> Box<dyn MachineLog> {
        let options = OpenOptions::new(std::env::temp_dir(), Durability::None, 1 << 20);
        let memory = registry::ENGINES.iter().find(|engine| engine.info().id == "memory").unwrap();
        let Store::Kv(store) = memory.open(&options).unwrap().store else { panic!("its family") };
        let mut log: Box<dyn MachineLog> = Box::new(KvLog::new(store, layout).unwrap());
        let mut samples: Vec<Sample> = history().samples().collect();
        change(&mut samples);
        match layout {
            Layout::Samples => samples.chunks(1).for_each(|sample| log.write(sample).unwrap()),
            Layout::Seconds => samples
                .chunk_by(|a, b| a.at.s == b.at.s)
                .for_each(|second| log.write(second).unwrap()),
        }
        log
    }

    /// How many of some moments are answered as the simulator has it.
    fn right(log: &mut dyn MachineLog, reader: ReadMethod) -> usize {
        let oracle = Oracle::history(history(), RATE, 1);
        let mut moments = Moments::new(oracle.moments().unwrap(), 7);
        let mut buffer = Vec::new();
        (0..60)
            .filter(|_| {
                let at = moments.next();
                let expected = oracle.expected(reader, at);
                assert!(expected.is_some(), "a cycle lies around every moment drawn: {at:?}");
                read(log, reader, at, &mut buffer).is_ok_and(|found| found == expected)
            })
            .count()
    }

    #[test]
    fn every_way_of_reading_finds_the_cycle_of_every_moment() {
        for reader in READERS {
            assert_eq!(right(log(Layout::Samples, |_| ()).as_mut(), reader), 60, "{reader:?}");
        }
        assert_eq!(right(log(Layout::Seconds, |_| ()).as_mut(), ReadMethod::Bulk), 60);
        let mut seconds = log(Layout::Seconds, |_| ());
        let refused =
            read(seconds.as_mut(), ReadMethod::Individual, history().at(3_000), &mut vec![]);
        assert!(refused.unwrap_err().is_unsupported());
    }

    #[test]
    fn what_a_store_loses_or_changes_is_noticed_by_every_reader() {
        let lies: [fn(&mut Vec<Sample>); 4] = [
            |samples| samples.retain(|sample| sample.at.ns != 500_000_000),
            |samples| samples.iter_mut().step_by(50).for_each(|sample| sample.values[4] ^= 1),
            |samples| samples.iter_mut().step_by(50).for_each(|sample| sample.at.ns += 1),
            |samples| samples.truncate(3_000),
        ];
        for (number, lie) in lies.into_iter().enumerate() {
            for reader in READERS {
                let right = right(log(Layout::Samples, lie).as_mut(), reader);
                assert!(right < 60, "lie {number}, {reader:?}");
            }
            assert!(
                right(log(Layout::Seconds, lie).as_mut(), ReadMethod::Bulk) < 60,
                "lie {number}"
            );
        }
    }

    #[test]
    fn a_moment_needs_a_history_of_three_seconds_fast_enough_to_tell_cycles_apart() {
        let moments = |rate, len| Oracle::history(History::new(1, rate, len), rate, 1).moments();
        assert!(moments(RATE, 3 * RATE - 1).unwrap_err().is_unsupported());
        assert!(moments(29, 29 * 10).is_err() && moments(RATE, 0).is_err());
        assert!(moments(30, 30 * 4).is_ok() && moments(RATE, 3 * RATE).is_ok());
    }

    #[test]
    fn the_newest_sample_is_the_last_one_in_either_layout() {
        let last = history().at(history().len - 1);
        for layout in [Layout::Samples, Layout::Seconds] {
            assert_eq!(log(layout, |_| ()).newest().unwrap(), Some(last));
            assert_eq!(log(layout, Vec::clear).newest().unwrap(), None);
        }
        assert_eq!(encoding::stamp(&encoding::stamp_key(last)).unwrap(), last);
    }
}
