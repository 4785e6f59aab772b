use std::convert::Infallible;

use super::*;

fn run(meter: &mut Meter, n: u64, mut op: impl FnMut(usize)) -> Measured {
    meter.start();
    let done = meter.each::<Infallible>(n, |i| {
        op(i);
        Ok(())
    });
    assert!(done.is_ok());
    meter.stop();
    meter.measured()
}

#[test]
fn every_operation_runs_once_and_in_order() {
    let mut seen = Vec::new();
    let measured = run(&mut Meter::new(None), 10_000, |i| seen.push(i));
    assert_eq!(seen, (0..10_000).collect::<Vec<_>>());
    assert_eq!((measured.ops, measured.capped), (10_000, false));
}

#[test]
fn slow_operations_are_all_timed_and_fast_ones_sampled() {
    let mut slow = Meter::with(Clock::simulated(), None, 20.0);
    let clock = slow.clock.clone();
    run(&mut slow, 100, |_| clock.pass(Duration::from_micros(50)));
    let latency = slow.latency().unwrap();
    assert_eq!((latency.samples, latency.sampled_every), (100, 1));
    assert!(latency.p50.abs_diff(50_000) < 500, "{latency:?}");

    let mut fast = Meter::new(None);
    run(&mut fast, 1_000_000, |i| {
        std::hint::black_box(i);
    });
    let latency = fast.latency().unwrap();
    assert!(latency.sampled_every > 10 && latency.sampled_every % 2 == 1, "{latency:?}");
    assert!(latency.samples < 100_000);
}

#[test]
fn the_cap_stops_the_loop_and_marks_the_run() {
    let cap = Duration::from_millis(20);
    let mut meter = Meter::simulated(Some(cap));
    let clock = meter.clock.clone();
    let measured = run(&mut meter, 1_000, |_| clock.pass(Duration::from_millis(1)));
    assert_eq!(measured, Measured { elapsed_ns: 20_000_000, ops: 20, capped: true });

    let finished = run(&mut meter, 10, |_| ());
    assert_eq!((finished.ops, finished.capped), (10, false));
}

#[test]
fn a_window_lets_the_loop_run_that_long_and_is_no_cap() {
    let window = Duration::from_millis(20);
    let mut meter = Meter::simulated(Some(Duration::from_secs(60)));
    let clock = meter.clock.clone();
    let mut run = |window, time| {
        meter.start();
        let done = meter.for_time::<Infallible>(window, |_| {
            clock.pass(time);
            Ok(())
        });
        meter.stop();
        assert_eq!(done, Ok(meter.measured().ops));
        meter.measured()
    };
    let measured = run(window, Duration::from_millis(1));
    assert_eq!(measured, Measured { elapsed_ns: 20_000_000, ops: 20, capped: false });
    let once = run(Duration::ZERO, Duration::from_micros(10));
    assert_eq!((once.ops, once.capped), (1, false));
}

#[test]
fn the_cap_ends_a_longer_window_and_marks_the_run() {
    let mut meter = Meter::simulated(Some(Duration::from_millis(10)));
    let clock = meter.clock.clone();
    meter.start();
    let done = meter.for_time::<Infallible>(Duration::from_secs(60), |_| {
        clock.pass(Duration::from_millis(1));
        Ok(())
    });
    meter.stop();
    assert!(meter.measured().capped && done == Ok(10));
}

#[test]
fn an_error_ends_the_loop() {
    let mut meter = Meter::new(None);
    meter.start();
    let mut calls = 0;
    let result = meter.each(100, |i| {
        calls += 1;
        if i == 5 { Err("no") } else { Ok(()) }
    });
    assert_eq!((result, calls), (Err("no"), 6));
}

#[test]
fn operations_before_an_error_count_in_a_closed_loop_and_in_an_open_one() {
    for schedule in [None, Some(ArrivalSchedule::new(1_000.0, 1, 0))] {
        let mut meter = Meter::simulated(None);
        meter.set_schedule(schedule);
        meter.start();
        assert_eq!(meter.part(0..10, |_| Ok::<_, &str>(())), Ok(10));
        let ended = meter.part(10..20, |i| if i == 15 { Err("no") } else { Ok(()) });
        meter.stop();
        assert_eq!((ended, meter.measured().ops), (Err("no"), 15), "{schedule:?}");
        assert_eq!(meter.latency().unwrap().samples, 15, "{schedule:?}");
    }
}

#[test]
fn the_operations_that_the_interval_is_learned_from_weigh_no_more_than_later_ones() {
    let mut meter = Meter::with(Clock::simulated(), None, 20.0);
    let clock = meter.clock.clone();
    // The engine is cold for the first ten.
    let time = |i: usize| Duration::from_nanos(if i < 10 { 1_000_000 } else { 100 });
    run(&mut meter, 1_020, |i| clock.pass(time(i)));
    let latency = meter.latency().unwrap();
    assert_eq!((latency.samples, latency.sampled_every), (20, 51), "{latency:?}");
    // One of twenty, and not ten.
    assert_eq!(latency.p50, 100);
    assert!(latency.max.abs_diff(1_000_000) < 1_000, "{latency:?}");
}

#[test]
fn too_few_operations_to_learn_the_interval_from_are_all_timed() {
    let mut meter = Meter::with(Clock::simulated(), None, 20.0);
    let clock = meter.clock.clone();
    for _ in 0..2 {
        run(&mut meter, 63, |_| clock.pass(Duration::from_nanos(100)));
        let latency = meter.latency().unwrap();
        assert_eq!((latency.samples, latency.sampled_every), (63, 1), "{latency:?}");
    }
}

/// A meter that has learned to time every 13th operation.
fn learned(cap: Option<Duration>) -> Meter {
    let mut meter = Meter::new(cap);
    meter.every = Some(13);
    meter
}

#[test]
fn parts_of_a_run_are_numbered_counted_and_sampled_as_one_loop() {
    for part in [1, 7, 13, 100, 999, 1_000] {
        let mut meter = learned(None);
        meter.start();
        let mut seen = Vec::new();
        for start in (0..1_000).step_by(part) {
            let range = start..(start + part as u64).min(1_000);
            let wanted = range.end - range.start;
            let done = meter.part::<Infallible>(range, |i| {
                seen.push(i);
                Ok(())
            });
            assert_eq!(done, Ok(wanted));
        }
        meter.stop();
        assert_eq!(seen, (0..1_000).collect::<Vec<_>>(), "{part}");
        assert_eq!((meter.measured().ops, meter.measured().capped), (1_000, false));
        // Operations 0, 13, … 988, as in a loop over all.
        assert_eq!(meter.latency().unwrap().samples, 77, "{part}");
    }
}

#[test]
fn how_many_to_time_is_learned_over_the_borders_of_parts() {
    let mut meter = Meter::new(None);
    meter.start();
    for start in (0..200).step_by(10) {
        let done = meter.part::<Infallible>(start..start + 10, |i| {
            std::hint::black_box(i);
            Ok(())
        });
        assert_eq!(done, Ok(10));
        assert_eq!(meter.every.is_some(), start + 10 > 64, "{start}");
    }
    meter.stop();
}

#[test]
fn a_part_that_the_cap_ends_marks_the_run() {
    let mut meter = learned(Some(Duration::from_nanos(1)));
    meter.start();
    assert_eq!(meter.part::<Infallible>(0..10, |_| Ok(())), Ok(1));
    assert_eq!((meter.measured().ops, meter.measured().capped), (1, true));
    // The same if the cap has passed between two parts: no later than at the next timed one.
    assert_eq!(meter.part::<Infallible>(1..100, |_| Ok(())), Ok(1));
    meter.stop();
    assert_eq!((meter.measured().ops, meter.measured().capped), (2, true));
}
