use std::time::Duration;

use super::*;

/// The transactions of `n` operations: their scope, the first operation, and how many were done.
fn transactions(by: Strategy, n: usize, meter: &mut Meter) -> Vec<(Scope, usize, u64)> {
    let mut all = Vec::new();
    meter.start();
    let done = by.each(n, meter, |scope, part| {
        let mut first = None;
        let done = part.each(|i| {
            first.get_or_insert(i);
            Ok(())
        });
        all.push((scope, first.unwrap_or_default(), *done.as_ref().unwrap()));
        done
    });
    meter.stop();
    assert_eq!(done.unwrap(), meter.measured().ops);
    all
}

#[test]
fn operations_from_100_000_on_are_committed_by_10_000() {
    let mut meter = Meter::new(None);
    for by in [Strategy::Single, Strategy::Bulk] {
        assert_eq!(transactions(by, 99_999, &mut meter), [(Scope::Batch, 0, 99_999)]);
        let long = transactions(by, 100_001, &mut meter);
        let full = (0..10).map(|batch| (Scope::Batch, batch * 10_000, 10_000));
        assert_eq!(long, full.chain([(Scope::Batch, 100_000, 1)]).collect::<Vec<_>>());
        assert_eq!(meter.measured().ops, 100_001);
    }
    assert_eq!(
        transactions(Strategy::OneTransaction, 100_001, &mut meter),
        [(Scope::Batch, 0, 100_001)]
    );
    assert_eq!(
        transactions(Strategy::CommitEach, 100_001, &mut meter),
        [(Scope::PerOperation, 0, 100_001)]
    );
    assert_eq!(transactions(Strategy::Single, 0, &mut meter), [(Scope::Batch, 0, 0)]);
}

#[test]
fn the_cap_ends_a_batch_between_two_operations_and_none_follows() {
    let mut meter = Meter::new(Some(Duration::from_nanos(1)));
    let all = transactions(Strategy::Single, 200_000, &mut meter);
    assert!(meter.measured().capped && all == [(Scope::Batch, 0, 1)], "{all:?}");
}

#[test]
fn a_cap_that_passes_in_a_commit_ends_the_phase_after_it() {
    let mut meter = Meter::new(Some(Duration::from_millis(200)));
    meter.start();
    let done = Strategy::Single.each(200_000, &mut meter, |_, part| {
        let done = part.each(|_| Ok(()));
        std::thread::sleep(Duration::from_millis(201));
        done
    });
    meter.stop();
    assert_eq!((done.unwrap(), meter.measured().capped), (10_000, true));
}

#[test]
fn an_error_ends_the_phase_with_what_was_done_before_it() {
    let mut meter = Meter::new(None);
    meter.start();
    let refused = || embermark_contract::EngineError::failed("a store", "put", "it is full");
    let done = Strategy::Single.each(200_000, &mut meter, |_, part| {
        part.each(|i| if i == 12_345 { Err(refused()) } else { Ok(()) })
    });
    meter.stop();
    assert!(done.unwrap_err().to_string().contains("it is full"));
    assert_eq!(meter.measured().ops, 12_345);
}
