use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::*;
use crate::Spread;

const MIB: u64 = 1 << 20;
const DEVICE: u64 = 64 * MIB;

fn page_mapped(map_bytes: u64, cleaning: Cleaning) -> Card {
    Card {
        name: "test".to_owned(),
        mapping: Mapping::PageMapped { map_bytes, cleaning },
        capacity_bytes: 256 * MIB,
        page_bytes: 16 << 10,
        erase_block_bytes: MIB,
        spare_permille: Spread { low: 20, typical: 70, high: 100 },
        cycles: Spread::exact(1_000),
        cache_bytes: 0,
        filled_permille: 1_000,
    }
}

fn log_blocks(open: u32) -> Card {
    let mapping = Mapping::LogBlocks { open_units: Spread::exact(open) };
    Card { mapping, ..page_mapped(16 << 10, Cleaning::Greedy) }
}

fn write(ns: u64, offset: u64, length: u64) -> Access {
    Access { ns, kind: RequestKind::Write, offset, length }
}

fn flush(ns: u64) -> Access {
    Access { ns, kind: RequestKind::Flush, offset: 0, length: 0 }
}

fn replayed(card: &Card, end: End, events: &[Access], windows: &[Window]) -> Replayed {
    let mut model = model_of(card, end, DEVICE).unwrap();
    replay(&mut *model, card.cache_bytes, DEVICE, &events.iter().copied(), windows)
}

/// Bytes programmed per byte written.
fn amplification(card: &Card, events: &[Access]) -> f64 {
    let Replayed { all, steady, .. } = replayed(card, End::Typical, events, &[]);
    assert!(steady);
    all.programmed_bytes / all.written_bytes
}

/// The first bytes of the device in requests of this size, in order.
fn in_order(bytes: u64, request: u64, flushed: bool) -> Vec<Access> {
    let writes = (0..bytes / request).map(|number| write(number, number * request, request));
    writes.flat_map(|one| [Some(one), flushed.then(|| flush(one.ns))]).flatten().collect()
}

#[test]
fn writing_in_order_programs_each_byte_once_on_every_kind_of_card() {
    for card in [
        page_mapped(16 << 10, Cleaning::Fifo),
        page_mapped(16 << 10, Cleaning::Greedy),
        page_mapped(4 << 10, Cleaning::Greedy),
        log_blocks(1),
        log_blocks(5),
    ] {
        // Whole pages, and consecutive parts of pages.
        for request in [128 << 10, 16 << 10, 4 << 10] {
            let came_to = amplification(&card, &in_order(DEVICE, request, false));
            let copied =
                matches!(card.mapping, Mapping::PageMapped { cleaning: Cleaning::Fifo, .. });
            // By age, data that never change are copied whenever their turn comes.
            if copied {
                assert!(came_to > 1.5, "{card:?}: {came_to}");
            } else {
                assert!((came_to - 1.0).abs() < 1e-9, "{card:?} {request}: {came_to}");
            }
        }
    }
}

#[test]
fn a_write_of_a_part_of_a_page_that_is_flushed_costs_a_page() {
    for card in [page_mapped(16 << 10, Cleaning::Greedy), page_mapped(4 << 10, Cleaning::Greedy)] {
        let came_to = amplification(&card, &in_order(2 * MIB, 4 << 10, true));
        assert!((came_to - 4.0).abs() < 1e-9, "{card:?}: {came_to}");
        let came_to = amplification(&card, &in_order(MIB / 4, 512, true));
        assert!((came_to - 32.0).abs() < 1e-9, "{card:?}: {came_to}");
    }
    // The log block is then full after a quarter of the block, and is merged with it.
    let came_to = amplification(&log_blocks(5), &in_order(2 * MIB, 4 << 10, true));
    assert!((7.5..=8.5).contains(&came_to), "{came_to}");
}

#[test]
fn scattered_writes_without_a_flush_share_a_page_where_the_table_has_a_place_for_each() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let places = DEVICE / 4096 / 8;
    let events: Vec<Access> =
        (0..20_000).map(|at| write(at, random.random_range(0..places) * 8 * 4096, 4096)).collect();
    let whole = amplification(&page_mapped(16 << 10, Cleaning::Greedy), &events);
    let parts = amplification(&page_mapped(4 << 10, Cleaning::Greedy), &events);
    assert!(whole >= 4.0 && parts < 2.0, "{whole} and {parts}");
    let few = amplification(&log_blocks(2), &events);
    assert!(few > 50.0, "{few}");
}

#[test]
fn a_cache_absorbs_what_is_written_over_before_a_flush() {
    let events: Vec<Access> =
        (0..100).map(|at| write(at, at % 10 * (16 << 10), 16 << 10)).collect();
    let plain = page_mapped(16 << 10, Cleaning::Greedy);
    let cached = Card { cache_bytes: 256 << 10, ..plain.clone() };
    assert!((amplification(&plain, &events) - 1.0).abs() < 1e-9);
    assert!((amplification(&cached, &events) - 0.1).abs() < 1e-9);
    let flushed: Vec<Access> = events.iter().flat_map(|one| [*one, flush(one.ns)]).collect();
    assert!((amplification(&cached, &flushed) - 1.0).abs() < 1e-9, "a flush is kept");
}

#[test]
fn discards_lower_what_is_programmed() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let pages = DEVICE >> 14;
    let writes: Vec<Access> =
        (0..8_000).map(|at| write(at, random.random_range(0..pages) << 14, 16 << 10)).collect();
    let given_up =
        Access { ns: 0, kind: RequestKind::Discard, offset: DEVICE / 2, length: DEVICE / 2 };
    let with: Vec<Access> = [given_up].into_iter().chain(writes.clone()).collect();
    for card in [page_mapped(16 << 10, Cleaning::Greedy), log_blocks(3)] {
        let [without, with] = [&writes, &with].map(|events| amplification(&card, events));
        assert!(with < without, "{card:?}: {with} and {without}");
    }
}

#[test]
fn what_happens_in_a_window_is_told_apart() {
    let card = page_mapped(16 << 10, Cleaning::Greedy);
    let events = [
        write(1, 0, 16 << 10),
        flush(2),
        write(10, 16 << 10, 32 << 10),
        flush(11),
        write(20, 0, 4 << 10),
        flush(20),
    ];
    let windows = [Window { began: 9, ended: 11 }, Window { began: 15, ended: 20 }];
    let Replayed { windows, all, steady } = replayed(&card, End::Typical, &events, &windows);
    let bytes = |work: &Work| (work.written_bytes / 1024.0, work.programmed_bytes / 1024.0);
    assert_eq!(windows.iter().map(bytes).collect::<Vec<_>>(), [(32.0, 32.0), (4.0, 16.0)]);
    assert_eq!(bytes(&all), (52.0, 64.0));
    assert!(steady);
    // In a steady state a block is erased for each block that is programmed.
    assert!((all.erases * MIB as f64 / all.programmed_bytes - 1.0).abs() < 0.1, "{all:?}");
}

#[test]
fn all_that_is_done_is_charged_to_somebody() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
    let pages = DEVICE >> 14;
    let events: Vec<Access> =
        (0..20_000).map(|at| write(at, random.random_range(0..pages) << 14, 16 << 10)).collect();
    let windows = [Window { began: 0, ended: 4_999 }, Window { began: 5_000, ended: 20_000 }];
    for card in [page_mapped(16 << 10, Cleaning::Greedy), log_blocks(3)] {
        let Replayed { windows, all, .. } = replayed(&card, End::Typical, &events, &windows);
        let sum = |of: fn(&Work) -> f64| windows.iter().map(of).sum::<f64>();
        for (charged, counted) in [
            (sum(|work| work.written_bytes), all.written_bytes),
            (sum(|work| work.programmed_bytes), all.programmed_bytes),
            (sum(|work| work.erases), all.erases),
        ] {
            assert!((charged / counted - 1.0).abs() < 0.01, "{card:?}: {charged} of {counted}");
        }
        // A quarter of the writes, at random places like the others.
        let share = windows[0].programmed_bytes / all.programmed_bytes;
        assert!((share - 0.25).abs() < 0.01, "{card:?}: {share}");
    }
}

#[test]
fn the_less_is_spare_the_more_is_programmed() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let pages = DEVICE >> 14;
    let events: Vec<Access> =
        (0..20_000).map(|at| write(at, random.random_range(0..pages) << 14, 16 << 10)).collect();
    let card = page_mapped(16 << 10, Cleaning::Greedy);
    let programmed = End::ALL.map(|end| replayed(&card, end, &events, &[]).all.programmed_bytes);
    assert!(programmed[0] > programmed[1] && programmed[1] > programmed[2], "{programmed:?}");
    let empty = Card { filled_permille: 0, ..card };
    let there = replayed(&empty, End::Typical, &events, &[]).all.programmed_bytes;
    assert!(there < programmed[2], "what nobody filled is spare too: {there}");
}

#[test]
fn greedy_cleaning_never_touches_what_never_changes() {
    // The whole card in the table, beside the card without those blocks: the same pages.
    let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
    let pages = DEVICE >> 14;
    let events: Vec<Access> =
        (0..20_000).map(|at| write(at, random.random_range(0..pages) << 14, 16 << 10)).collect();
    let card = page_mapped(16 << 10, Cleaning::Greedy);
    let without = replayed(&card, End::Typical, &events, &[]).all;
    let all = card.capacity_bytes >> 14;
    let geometry = Geometry {
        unit_bytes: 16 << 10,
        page_units: 1,
        block_units: 64,
        units: all as u32,
        blocks: card.blocks(End::Typical) as u32,
    };
    let mut whole = PageMapped::new(geometry, Cleaning::Greedy).filled(all as u32);
    let whole = replay(&mut whole, 0, DEVICE, &events.iter().copied(), &[]).all;
    let off = whole.programmed_bytes / without.programmed_bytes - 1.0;
    assert!(off.abs() < 0.03, "{whole:?} and {without:?}");
}

#[test]
fn a_recording_without_writes_comes_to_nothing() {
    let came_to = replayed(&log_blocks(5), End::Typical, &[flush(1)], &[]);
    assert_eq!((came_to.all, came_to.steady), (Work::default(), true));
}

#[test]
fn a_device_larger_than_the_card_is_refused() {
    let refused = model_of(&log_blocks(5), End::Typical, 257 * MIB).err().unwrap();
    assert!(refused.to_string().contains("268435456"), "{refused}");
}
