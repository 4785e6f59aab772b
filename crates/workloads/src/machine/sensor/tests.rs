use super::*;

fn sensor(rate: u64) -> Sensor {
    Sensor::new(Task { rate, seed: 1, first: 0, end: u64::MAX }, 5 * SECOND)
}

#[test]
fn a_sample_each_period_and_none_before_its_time() {
    let mut sensor = sensor(1_000);
    let mut numbers = Vec::new();
    let mut offer = |number, values: &_| {
        assert_eq!(*values, MachineSignal::new(1, 1_000).values(number));
        numbers.push(number);
        Ok(true)
    };
    for _ in 0..10 {
        let due = sensor.due();
        sensor.emit(due - 1, &mut offer).unwrap();
        sensor.emit(due, &mut offer).unwrap();
    }
    assert_eq!(sensor.due(), 5 * SECOND + 10_000_000);
    assert_eq!((numbers.len(), sensor.account.missed), (10, 0));
    assert!(numbers.is_sorted());
}

#[test]
fn what_came_too_late_is_made_up_for_and_counted() {
    let mut sensor = sensor(1_000);
    sensor.emit(5 * SECOND + 3_500_000, |number, _| Ok(number != 2)).unwrap();
    let account = Account { made: 4, lost: 1, missed: 3, latest_ns: 3_500_000 };
    assert_eq!(sensor.account, account, "all but the last, which is half a period late");
}

#[test]
fn fast_samples_come_in_bursts_of_a_millisecond() {
    let mut sensor = sensor(200_000);
    let mut made = 0;
    for _ in 0..1_000 {
        let due = sensor.due();
        sensor
            .emit(due, |_, _| {
                made += 1;
                Ok(true)
            })
            .unwrap();
    }
    assert!((199_700..=200_001).contains(&made), "{made}");
    assert_eq!(sensor.account.missed, 0);
}

#[test]
fn a_sample_is_due_when_it_was_taken_and_in_a_burst_with_the_burst() {
    let due = |rate, number| sensor(rate).task.due_ns(number);
    assert_eq!([0, 1, 2_500].map(|number| due(1_000, number)), [0, 1_000_000, 2_500_000_000]);
    assert_eq!(
        [0, 1, 20, 21].map(|number| due(20_000, number)),
        [0, 1_000_000, 1_000_000, 2_000_000]
    );
}
