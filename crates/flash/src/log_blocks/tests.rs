use super::*;

const PAGES: u32 = 256;

/// A card with 20 blocks of 256 pages.
fn card(open: u32) -> LogBlocks {
    LogBlocks::new(16 << 10, PAGES, 20 * PAGES, open)
}

#[test]
fn a_block_written_in_order_takes_the_place_of_the_old_one() {
    let mut card = card(1);
    for _ in 0..3 {
        (0..20 * PAGES).for_each(|page| card.program(&[page]));
    }
    // The last one is open still.
    assert_eq!(card.done(), Done { pages: 60 * u64::from(PAGES), erases: 59 });
}

#[test]
fn what_a_block_lacks_that_was_begun_in_order_is_copied() {
    let mut card = card(1);
    card.program(&[0, 1, 2]);
    card.program(&[PAGES]);
    // Three pages and the 253 others; then the page that had it merged.
    assert_eq!(card.done(), Done { pages: 256 + 1, erases: 1 });
}

#[test]
fn a_write_outside_the_open_ones_merges_the_one_that_was_left_alone_the_longest() {
    let mut card = card(2);
    // Two blocks by turns, in the middle: both stay open.
    for _ in 0..10 {
        card.program(&[7, PAGES + 7]);
    }
    assert_eq!(card.done(), Done { pages: 20, erases: 0 });
    // A third one merges the first: 256 pages into a third block, and two erased.
    card.program(&[2 * PAGES]);
    assert_eq!(card.done(), Done { pages: 21 + 256, erases: 2 });
    // The second is open still.
    card.program(&[PAGES + 8]);
    assert_eq!(card.done().erases, 2);
}

#[test]
fn a_log_block_that_is_full_is_merged() {
    let mut card = card(4);
    (0..PAGES).for_each(|_| card.program(&[5]));
    assert_eq!(card.done(), Done { pages: 256, erases: 0 });
    card.program(&[5]);
    assert_eq!(card.done(), Done { pages: 257 + 256, erases: 2 });
}

#[test]
fn with_more_blocks_open_less_is_merged() {
    let programmed = |open| {
        let mut card = card(open);
        for step in 0..1_000_u32 {
            card.program(&[step % 4 * PAGES + step % 13]);
        }
        card.done().pages
    };
    assert!(programmed(1) > 100 * 1_000, "each write merges a block");
    assert!(programmed(3) > programmed(4));
    assert!(programmed(4) < 4 * 1_000);
}

#[test]
fn a_merge_is_charged_to_those_who_wrote_what_is_merged() {
    let mut card = card(1);
    card.charge_to(0);
    card.program(&[7, 9, 11]);
    card.charge_to(1);
    card.program(&[8]);
    card.charge_to(2);
    // It merges what the others wrote, and pays for its own page alone.
    card.program(&[PAGES]);
    let costs = card.costs();
    assert_eq!(costs[0], Cost { pages: 3.0 + 192.0, erases: 1.5 });
    assert_eq!(costs[1], Cost { pages: 1.0 + 64.0, erases: 0.5 });
    assert_eq!(costs[2], Cost { pages: 1.0, erases: 0.0 });
}

#[test]
fn what_is_discarded_is_not_copied() {
    let mut card = card(1);
    (10..PAGES).for_each(|page| card.discard(page));
    card.program(&[3]);
    card.program(&[PAGES]);
    assert_eq!(card.done(), Done { pages: 1 + 10 + 1, erases: 2 });
}
