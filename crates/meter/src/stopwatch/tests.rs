use std::time::Duration;

use super::*;

#[test]
fn it_times_each_operation_until_it_is_stopped_and_forgets_when_told() {
    let mut watch = Stopwatch::new();
    assert!(watch.latency().is_none());
    assert_eq!(watch.time(|| 7), 7);
    watch.reset();
    watch.time(|| std::thread::sleep(Duration::from_millis(2)));
    watch.record(5_000_000);
    watch.stop();
    watch.record(1);
    let latency = watch.latency().unwrap();
    assert_eq!(latency.samples, 2);
    assert!(latency.min >= 2_000_000 && latency.max >= 5_000_000, "{latency:?}");
}
