//! Times of constructed storages with round figures.

use embermark_blockdev::{Request, RequestKind, Timing as _};
use embermark_model::Storage;

use super::Times;
use crate::DeviceTooLarge;
use crate::file::parse;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const DEVICE: u64 = 64 << 20;

/// 1 ms and 1 MB/s to write, 100 µs and 10 MB/s to read. In a row a tenth of the latency.
const PLAIN: &str = r#"
about = "a plain one"
read = { random-us = 100, sequential-us = 10, mb-per-s = 10 }
write = { random-us = 1000, sequential-us = 100, mb-per-s = 1 }
flush-us = 0
queue-depth = 1
"#;

/// Ten turns per second of 100 ms: at 1 MB/s 100,000 bytes pass in a turn, and there are 1,000
/// tracks.
const DISK: &str = "
[disk]
turns-per-minute = 600
track-seek-us = 1000
full-seek-us = 5000
capacity = 100000000
";

fn storage(text: &str) -> Storage {
    parse("one", text).unwrap()
}

fn times(text: &str) -> Times {
    Times::new(&storage(text), DEVICE).unwrap()
}

const fn read(offset: u64, length: u64) -> Request {
    Request { kind: RequestKind::Read, offset, length }
}

const fn write(offset: u64, length: u64) -> Request {
    Request { kind: RequestKind::Write, offset, length }
}

const FLUSH: Request = Request { kind: RequestKind::Flush, offset: 0, length: 0 };

#[test]
fn a_request_takes_its_latency_and_its_bytes_and_less_where_it_follows_the_last() {
    let mut plain = times(PLAIN);
    assert_eq!(plain.end(read(0, 1_000), 0), 100 * US + 100 * US);
    assert_eq!(plain.end(read(1_000, 1_000), MS), MS + 10 * US + 100 * US);
    assert_eq!(plain.end(read(9_000, 1_000), 2 * MS), 2 * MS + 200 * US);
    assert_eq!(plain.end(write(0, 1_000), 10 * MS), 10 * MS + MS + MS);
    // Reads in between do not break a row of writes.
    plain.end(read(50_000, 1_000), 15 * MS);
    assert_eq!(plain.end(write(1_000, 1_000), 20 * MS), 20 * MS + 100 * US + MS);
    assert_eq!(plain.end(FLUSH, 30 * MS), 30 * MS, "it has nothing to wait for");
}

#[test]
fn with_a_queue_of_one_a_request_waits_for_the_one_before() {
    let mut plain = times(PLAIN);
    assert_eq!(plain.end(write(0, 1_000), 0), 2 * MS);
    assert_eq!(plain.end(read(0, 1_000), 0), 2 * MS + 200 * US);
    // By then there is nothing to wait for.
    assert_eq!(plain.end(read(0, 1_000), 50 * MS), 50 * MS + 200 * US);
}

#[test]
fn in_a_deeper_queue_latencies_pass_side_by_side_and_bytes_do_not() {
    let mut deep = times(&PLAIN.replace("queue-depth = 1", "queue-depth = 2"));
    assert_eq!(deep.end(read(0, 1_000), 0), 200 * US);
    assert_eq!(deep.end(read(9_000, 1_000), 0), 300 * US);
    // The third waits for the first.
    assert_eq!(deep.end(read(20_000, 1_000), 0), 200 * US + 200 * US);
    let now = 10 * MS;
    assert_eq!(deep.end(write(0, 1_000), now), now + 2 * MS);
    assert_eq!(deep.end(write(90_000, 1_000), now), now + 3 * MS);
}

#[test]
fn a_cache_takes_writes_at_the_bus_and_a_flush_waits_for_all_of_them() {
    let cached = format!("{PLAIN}cache = 3000\ncached-write-us = 50\n");
    let mut cached = times(&cached.replace("flush-us = 0", "flush-us = 500"));
    // 50 µs and 1,000 bytes at the 10 MB/s of reads; programming takes 2 ms and begins with the
    // first byte.
    let taken = 150 * US;
    assert_eq!(cached.end(write(0, 1_000), 0), taken);
    assert_eq!(cached.end(write(50_000, 1_000), taken), 2 * taken);
    let medium = 50 * US + 2 * 2 * MS;
    assert_eq!(cached.end(FLUSH, MS), medium + 500 * US);
    // A flush with nothing to do.
    assert_eq!(cached.end(FLUSH, 100 * MS), 100 * MS + 500 * US);
}

#[test]
fn a_cache_that_is_full_takes_writes_as_fast_as_the_medium_does() {
    let mut cached = times(&format!("{PLAIN}cache = 3000\ncached-write-us = 0\n"));
    let mut now = 0;
    let mut took = Vec::new();
    for i in 0..20_u64 {
        let end = cached.end(write(i * 10_000, 1_000), now);
        took.push(end - now);
        now = end;
    }
    assert_eq!(took[..3], [100 * US; 3]);
    assert!(took[10..].iter().all(|took| *took == 2 * MS), "{took:?}");
}

#[test]
fn a_write_larger_than_the_cache_ends_when_the_rest_fits() {
    let mut cached = times(&format!("{PLAIN}cache = 1000\ncached-write-us = 0\n"));
    // 10,000 bytes are transferred in 1 ms and programmed in 11; the cache holds the last 1,000.
    assert_eq!(cached.end(write(0, 10_000), 0), 10 * MS);
    assert_eq!(cached.end(FLUSH, 10 * MS), 11 * MS);
}

#[test]
fn a_disk_writes_what_its_cache_holds_in_the_order_of_its_places() {
    let disk = format!("{PLAIN}cache = 1000000\ncached-write-us = 0\n{DISK}");
    let last = |places: &[u64]| {
        let mut disk = times(&disk);
        for place in places {
            // The cache takes each at once.
            assert_eq!(disk.end(write(*place, 1_000), 0), disk.slots[0]);
        }
        assert!(disk.slots[0] <= places.len() as u64 * 100 * US);
        disk.end(FLUSH, MS)
    };
    // All pass in one turn, in whatever order they came.
    let in_order = last(&[50_000, 60_000, 70_000, 80_000]);
    assert_eq!(in_order, 81 * MS);
    assert_eq!(last(&[50_000, 80_000, 70_000, 60_000]), in_order);
    // An offset that is written again before it left the cache is written once.
    assert_eq!(last(&[50_000, 60_000, 60_000, 60_000, 70_000, 80_000]), in_order);
}

#[test]
fn a_layer_that_cleans_makes_the_write_wait_in_which_it_does() {
    // 17 MB in blocks of 128 KiB, full; 10 ms per erase. The write of a row is 4 KiB in 4.1 ms.
    let flash = r#"
[flash]
kind = "log-blocks"
open-units = 1
capacity = "68 MB"
page = "4 KiB"
erase-block = "128 KiB"
spare-percent = 7
cycles = 1000
filled-percent = 50
erase-us = 10000
"#;
    let mut flash = times(&format!("{PLAIN}{flash}"));
    let page = 4_096 * MS / 1_000;
    assert_eq!(flash.end(write(4_096, 4_096), 0), MS + page);
    // Another block: the first is merged, its 32 pages copied and two blocks erased.
    let begun = 100 * MS;
    let end = flash.end(write(1 << 20, 4_096), begun);
    assert_eq!(end - begun, MS + page + 32 * page + 2 * 10 * MS);
    let done = flash.flash().unwrap();
    assert_eq!((done.programmed_bytes, done.erases), ((2 + 32) * 4_096, 2));
}

#[test]
fn a_disk_waits_for_the_place_to_come_round() {
    let mut disk = times(&format!("{PLAIN}{DISK}"));
    // Half a turn, and its bytes. The medium's own latency is that of the heads.
    assert_eq!(disk.end(write(50_000, 1_000), 0), 50 * MS + MS);
    // What follows directly passes at once. A millisecond later it is missed, and comes round.
    assert_eq!(disk.end(write(51_000, 1_000), 51 * MS), 52 * MS);
    assert_eq!(disk.end(write(52_000, 1_000), 53 * MS), 152 * MS + MS);
    // The next track: a move, and then the offset, at the beginning of a turn.
    assert_eq!(disk.end(read(100_000, 1_000), 153 * MS), 200 * MS + 100 * US);
    // A seek over all of it takes 5 ms: 1 ms, and 4 by the square root of its distance.
    let far = disk.end(read(100_000 + 50_000_000 / 4, 1_000), 300 * MS);
    assert!(far > 301 * MS && far < 400 * MS + MS, "{far}");
}

#[test]
fn a_disk_holds_no_device_that_is_larger() {
    let disk = storage(&format!("{PLAIN}{DISK}"));
    assert!(Times::new(&disk, 100_000_000).is_ok());
    let refused = DeviceTooLarge { device_bytes: 100_000_001, capacity_bytes: 100_000_000 };
    assert_eq!(Times::new(&disk, 100_000_001).err(), Some(refused));
}

#[test]
fn a_full_card_cleans_from_the_first_minute_and_one_with_room_does_not() {
    let erases = |text: &str| {
        let mut times = times(text);
        let (mut now, mut longest) = (0, 0);
        for i in 0..20_000_u64 {
            let end = times.end(write(i * 7_919 % (DEVICE / 4_096) * 4_096, 4_096), now);
            (longest, now) = (longest.max(end - now), end);
        }
        (times.flash().unwrap().erases, longest / MS)
    };
    let (none, usual) = erases("like = \"sd-a1\"");
    assert_eq!((none, usual), (0, 1));
    let (some, stall) = erases("like = \"sd-a1\"\nflash.filled-percent = 100");
    assert!(some > 20 && stall > 5, "{some} erases, {stall} ms");
}

#[test]
fn the_likely_sd_card_of_class_a1_does_what_its_file_says() {
    let storage = crate::built_in("sd-a1").unwrap();
    let mut times = Times::new(&storage, 1 << 30).unwrap();
    let (mut now, count) = (0, 2_000_u64);
    for i in 0..count {
        now = times.end(write(i * 7_919 % (1 << 16) * 4_096, 4_096), now);
    }
    let each_us = now / count / US;
    // 1,220 µs and 4 KiB at 20 MB/s: 700 per second, between its class and a good one.
    assert!((1_420..=1_430).contains(&each_us), "{each_us}");
}
