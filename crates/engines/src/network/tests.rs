use super::*;

#[test]
fn what_was_transmitted_over_the_loopback_device_is_found_among_devices() {
    let text = "Inter-|   Receive       |  Transmit\n \
                face |bytes packets errs drop fifo frame compressed multicast|bytes packets\n \
                eth0: 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9\n    \
                lo:1000 10 0 0 0 0 0 0 1001 11 0 0 0 0 0 0\n";
    let found = transmitted(text).unwrap();
    assert_eq!(found, Counters { bytes: 1001, packets: 11 });
    assert_eq!(named(text).map(|(name, _)| name).collect::<Vec<_>>(), ["eth0", "lo"]);
    assert!(transmitted(&text.replace("lo:", "lo0:")).is_err());
}

#[test]
fn a_process_of_several_threads_enters_none() {
    // A test has a thread of its own beside that of its program.
    std::thread::spawn(|| {
        let error = enter().unwrap_err().to_string();
        assert!(error.contains("one thread"), "{error}");
    })
    .join()
    .unwrap();
}
