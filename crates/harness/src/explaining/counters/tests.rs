use perf_event::events::Software;

use super::*;

#[test]
fn a_counter_of_a_process_counts_what_threads_do_that_it_starts_afterwards() {
    // Of the kernel's own counters, which are there where those of the hardware are not.
    let mut counters = match count(Software::PAGE_FAULTS, &[std::process::id()]) {
        Ok(counters) => counters,
        Err(why) => {
            embermark_skips::skipped("perf_event_open", why.to_string());
            return;
        }
    };
    let fresh = || std::hint::black_box(vec![1_u8; 1 << 24]).len();
    assert_eq!(std::thread::spawn(fresh).join().unwrap(), 1 << 24);
    let faults = sum(&mut counters).unwrap();
    // 16 MiB of 4 KiB pages, unless the kernel gives huge ones.
    assert!(faults >= 8, "{faults}");
}

#[test]
fn what_the_kernel_does_not_count_has_a_reason() {
    let (counts, why) = Counters::begin(&[std::process::id()]).end();
    let absent = counts.iter().filter(|count| count.is_none()).count();
    assert_eq!(why.len(), absent, "{counts:?} {why:?}");
    assert!(why.iter().all(|why| why.contains("were not counted")), "{why:?}");
}
