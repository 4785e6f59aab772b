use super::*;

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn the_next_scale_is_expected_to_grow_as_the_last_one_did() {
    assert_eq!(expected(&[]), None);
    assert_eq!(expected(&[seconds(2)]), Some(seconds(20)));
    assert_eq!(expected(&[seconds(2), seconds(8)]), Some(seconds(32)));
    // Stopped at the longest run time, it takes no longer.
    assert_eq!(expected(&[seconds(9), seconds(8)]), Some(seconds(8)));
    assert_eq!(expected(&[seconds(1), seconds(50)]), Some(seconds(500)));
}
