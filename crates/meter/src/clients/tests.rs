use std::convert::Infallible;
use std::time::Duration;

use super::*;

fn ran(mut meter: Meter, ops: u64, each: Duration) -> Meter {
    meter.start();
    let done = meter.each::<Infallible>(ops, |_| {
        std::thread::sleep(each);
        Ok(())
    });
    meter.stop();
    assert_eq!(done, Ok(ops));
    meter
}

#[test]
fn a_run_of_two_clients_lasts_from_the_first_start_to_the_last_end() {
    let mut whole = Meter::new(None);
    let (ms, (a, b)) = (Duration::from_millis, (whole.for_client(None), whole.for_client(None)));
    let (a, b) = std::thread::scope(|scope| {
        let a = scope.spawn(|| ran(a, 10, ms(2)));
        let b = scope.spawn(|| ran(b, 5, ms(10)));
        (a.join().unwrap(), b.join().unwrap())
    });
    whole.gather(&[a, b]);
    let measured = whole.measured();
    assert_eq!((measured.ops, measured.capped), (15, false));
    assert!(measured.elapsed_ns >= 50_000_000, "{measured:?}");
    let [a, b] = whole.clients() else { panic!("two clients") };
    assert_eq!((a.ops, b.ops), (10, 5));
    assert!(a.elapsed_ns >= 20_000_000 && b.elapsed_ns >= 50_000_000, "{a:?} {b:?}");
    assert!(measured.elapsed_ns < a.elapsed_ns + b.elapsed_ns);
    assert_eq!(whole.latency().unwrap().samples, 15);
    assert!(whole.response().is_none() && whole.schedule_kept(1.0).is_none());
}

#[test]
fn clients_of_an_open_loop_are_judged_together() {
    let mut whole = Meter::new(None);
    let client = |schedule| whole.for_client(Some(schedule));
    let (idle, busy) =
        (client(ArrivalSchedule::of(200.0, 2, 0)), client(ArrivalSchedule::of(200.0, 2, 1)));
    // One keeps its 100 a second, the other does 50.
    let (idle, busy) = std::thread::scope(|scope| {
        let idle = scope.spawn(|| ran(idle, 20, Duration::from_millis(1)));
        let busy = scope.spawn(|| ran(busy, 20, Duration::from_millis(20)));
        (idle.join().unwrap(), busy.join().unwrap())
    });
    whole.gather(&[idle, busy]);
    let schedule = whole.schedule_kept(200.0).unwrap();
    assert!(
        !schedule.kept_up() && (100.0..190.0).contains(&schedule.achieved_rate),
        "{schedule:?}"
    );
    assert_eq!(whole.response().unwrap().samples, 40);
}
