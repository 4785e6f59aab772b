use super::MemoryLimit;

#[test]
fn a_limit_is_shown_in_the_largest_unit_that_leaves_it_whole() {
    for (bytes, shown) in [
        (256 << 20, "256 MiB"),
        (2 << 30, "2 GiB"),
        (1536 << 20, "1536 MiB"),
        (256_000_000, "256 MB"),
        (20 << 10, "20 KiB"),
        (4_097, "4097 B"),
    ] {
        assert_eq!(MemoryLimit(bytes).to_string(), shown);
    }
}

#[test]
fn the_cache_within_a_limit_is_a_quarter_of_it_at_most() {
    let limit = MemoryLimit(256 << 20);
    assert_eq!(limit.cache(64 << 20), 64 << 20);
    assert_eq!(limit.cache(200 << 20), 64 << 20);
    assert_eq!(MemoryLimit(64 << 20).cache(64 << 20), 16 << 20);
}
