use embermark_contract::{OpenOptions, Store};
use embermark_data::machine::History;
use embermark_engines::registry;
use embermark_model::Durability;

use super::super::kv::KvLog;
use super::super::packed;
use super::super::port::Layout;
use super::super::truth::Truth;
use super::*;

const RATE: u64 = 1_000;

const READERS: [Reader; 3] = [Reader::Individual, Reader::Bulk, Reader::BulkAngles];

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
        Layout::Seconds => {
            samples.chunk_by(|a, b| a.at.s == b.at.s).for_each(|second| log.write(second).unwrap())
        }
    }
    log
}

/// How many of some moments are answered as the simulator has it.
fn right(log: &mut dyn MachineLog, reader: Reader) -> usize {
    let truth = Truth::history(history(), RATE, 1);
    let mut moments = Moments::new(truth.moments().unwrap(), 7);
    let mut buffer = Vec::new();
    (0..60)
        .filter(|_| {
            let at = moments.next();
            let expected = truth.expected(reader, at);
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
    assert_eq!(right(log(Layout::Seconds, |_| ()).as_mut(), Reader::Bulk), 60);
    let mut seconds = log(Layout::Seconds, |_| ());
    let refused = read(seconds.as_mut(), Reader::Individual, history().at(3_000), &mut vec![]);
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
        assert!(right(log(Layout::Seconds, lie).as_mut(), Reader::Bulk) < 60, "lie {number}");
    }
}

#[test]
fn a_moment_needs_a_history_of_three_seconds_fast_enough_to_tell_cycles_apart() {
    let moments = |rate, len| Truth::history(History::new(1, rate, len), rate, 1).moments();
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
    assert_eq!(packed::stamp(&packed::stamp_key(last)).unwrap(), last);
}
