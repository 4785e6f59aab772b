use embermark_data::events;

use super::super::testing::Fake;
use super::*;

fn records(rows: u64) -> Vec<Record> {
    events::generate(rows, 7).into_iter().map(Record::of).collect()
}

/// Runs it, and gives the ids in the order in which they were committed with what came of it.
fn run(rows: u64, cap: Option<Duration>, pause: Duration) -> (Vec<i64>, Committed, Meter) {
    let (records, mut ids, mut meter) = (records(rows), Vec::new(), Meter::new(cap));
    let buffer = Buffer::new(records.len());
    meter.start();
    let done = buffer.insert(
        &records,
        &mut Fake(|batch: &[Record]| {
            thread::sleep(pause);
            ids.extend(batch.iter().map(|record| record.event.id));
            Ok(batch.len() as u64)
        }),
        &mut meter,
    );
    meter.stop();
    (ids, done.unwrap(), meter)
}

#[test]
fn every_row_is_committed_once_in_its_order_and_none_sooner_than_it_is_offered() {
    let (ids, done, meter) = run(3_000, None, Duration::ZERO);
    assert_eq!(ids, (1..=3_000).collect::<Vec<_>>());
    assert_eq!((done.stored, meter.measured().ops), (3_000, 3_000));
    let lost = done.write_behind.unwrap();
    assert!(lost.accepted_rate > 0.0 && lost.accepted_rate <= lost.target_rate, "{lost:?}");
    assert!(lost.committed_rate <= lost.accepted_rate, "{lost:?}");
    // The last of 3,000 is due after 30 ms.
    assert!(meter.measured().elapsed_ns >= 30_000_000);
}

#[test]
fn what_waits_while_a_commit_lasts_is_what_a_crash_would_lose() {
    let (_, done, _) = run(2_000, None, Duration::from_millis(15));
    let lost = done.write_behind.unwrap();
    assert!(lost.loss_ns >= 15_000_000, "{lost:?}");
    let most = 2_000_u64.div_ceil(lost.commits);
    assert!((most..=2_000).contains(&lost.loss_rows), "{lost:?}");
}

#[test]
fn it_ends_at_its_cap_and_without_rows() {
    let (ids, done, meter) = run(30_000, Some(Duration::from_millis(1)), Duration::from_millis(2));
    assert!(meter.measured().capped && !ids.is_empty() && ids.len() < 30_000);
    assert_eq!(done.stored, ids.len() as u64);
    let (ids, done, _) = run(0, None, Duration::ZERO);
    assert!(ids.is_empty() && done.write_behind.is_none());
}

#[test]
fn an_error_of_the_store_ends_it() {
    let (records, mut meter) = (records(1_000), Meter::new(None));
    let refuse = |_: &[Record]| Err(EngineError::read_only("a store"));
    let done = Buffer::new(1_000).insert(&records, &mut Fake(refuse), &mut meter);
    assert!(done.is_err_and(|error| error.to_string().contains("a store")));
}
