use std::convert::Infallible;

use embermark_model::result::OpenLoopSchedule;

use super::*;
use crate::Meter;

fn scheduled(rate: f64, ops: u64, service: Duration) -> (Meter, OpenLoopSchedule) {
    let mut meter = Meter::new(None);
    meter.set_schedule(Some(ArrivalSchedule::of(rate, 1, 0)));
    meter.start();
    let done = meter.each::<Infallible>(ops, |_| {
        std::thread::sleep(service);
        Ok(())
    });
    meter.stop();
    assert_eq!(done, Ok(ops));
    let schedule = meter.schedule_kept(rate).unwrap();
    (meter, schedule)
}

#[test]
fn a_loop_that_keeps_up_answers_in_its_service_time() {
    let (meter, schedule) = scheduled(100.0, 30, Duration::from_millis(2));
    let (service, response) = (meter.latency().unwrap(), meter.response().unwrap());
    assert!(schedule.kept_up(), "{schedule:?}");
    assert_eq!((service.samples, response.samples, service.sampled_every), (30, 30, 1));
    assert!(service.p50 >= 2_000_000 && response.p50 >= service.p50, "{service:?}");
    assert!(response.p50 < service.p50 + 2_000_000, "{response:?}");
    assert!(meter.measured().elapsed_ns >= 290_000_000);
    assert!(schedule.on_time > 20, "{schedule:?}");
}

#[test]
fn a_loop_below_its_target_rate_falls_behind_and_its_response_times_grow() {
    let (meter, schedule) = scheduled(1_000.0, 50, Duration::from_millis(4));
    let (service, response) = (meter.latency().unwrap(), meter.response().unwrap());
    assert!(!schedule.kept_up() && schedule.achieved_rate < 300.0, "{schedule:?}");
    // The last one was to start after 49 ms, and 49 of 4 ms came before it.
    assert!(response.max >= 49 * 3_000_000 && service.p50 < 20_000_000, "{response:?}");
    assert!(schedule.on_time <= 2, "{schedule:?}");
}

#[test]
fn the_cap_ends_an_open_loop_also_while_it_waits() {
    let mut meter = Meter::new(Some(Duration::from_millis(50)));
    meter.set_schedule(Some(ArrivalSchedule::of(100.0, 1, 0)));
    meter.start();
    let done = meter.each::<Infallible>(1_000, |_| Ok(()));
    meter.stop();
    assert!(done.is_ok_and(|done| (4..=6).contains(&done)), "{done:?}");
    assert!(meter.measured().capped && meter.measured().elapsed_ns < 500_000_000);
}

#[test]
fn clients_take_turns() {
    assert_eq!(
        ArrivalSchedule::of(1_000.0, 4, 0),
        ArrivalSchedule { first_ns: 0.0, every_ns: 4e6 }
    );
    assert_eq!(
        ArrivalSchedule::of(1_000.0, 4, 3),
        ArrivalSchedule { first_ns: 3e6, every_ns: 4e6 }
    );
}

#[test]
fn parts_of_an_open_loop_keep_to_one_schedule() {
    let mut meter = Meter::new(None);
    meter.set_schedule(Some(ArrivalSchedule::of(1_000.0, 1, 0)));
    meter.start();
    for part in [0..10, 10..20, 20..30] {
        assert_eq!(meter.part::<Infallible>(part, |_| Ok(())), Ok(10));
    }
    meter.stop();
    // The last of 30 starts after 29 ms.
    assert!(meter.measured().elapsed_ns >= 29_000_000, "{:?}", meter.measured());
    assert_eq!((meter.measured().ops, meter.response().unwrap().samples), (30, 30));
}
