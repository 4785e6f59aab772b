use super::*;

#[test]
fn sectors_are_bytes_by_512_and_old_kernels_that_count_no_flushes_are_not_measured() {
    let stat = "  113 1 4212 10 23 19 10306 36 0 40 78 0 0 0 0 17 31\n";
    let expected = DeviceIo { read_bytes: 4212 * 512, written_bytes: 10306 * 512, flushes: 17 };
    assert_eq!(counted(stat), Some(expected));
    assert_eq!(counted("113 1 4212 10 23 19 10306 36 0 40 78"), None);
    assert_eq!(counted("113 1 4212 10 23 19 18446744073709551615 36 0 40 78 0 0 0 0 17 31"), None);
    assert_eq!(counted(""), None);
}

#[test]
fn what_lies_on_no_block_device_is_not_measured() {
    for place in ["/proc", "/nowhere"] {
        assert!(Before::at(Path::new(place)).is_none(), "{place}");
    }
}
