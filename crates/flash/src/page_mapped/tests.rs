use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::*;

const BLOCK: u32 = 64;

/// A card whose flash is `a` times what the user sees, in blocks of 64 pages of one unit each.
fn card(a: f64, blocks: u32, cleaning: Cleaning) -> PageMapped {
    let units = (f64::from(blocks * BLOCK) / a) as u32;
    let geometry = Geometry { unit_bytes: 4096, page_units: 1, block_units: BLOCK, units, blocks };
    PageMapped::new(geometry, cleaning).filled(units)
}

/// Pages programmed per page written at random, after the card has been overwritten five times.
fn amplification(mut card: PageMapped) -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(22);
    let units = card.geometry.units;
    let mut pages = |times: u32| {
        let before = card.done.pages;
        for _ in 0..times * units {
            card.program(&[random.random_range(0..units)]);
        }
        (card.done.pages - before) as f64 / f64::from(times * units)
    };
    pages(5);
    pages(5)
}

/// Lambert's W, the branch through 0, by Newton's method: w e^w = x.
fn lambert(x: f64) -> f64 {
    let step = |w: f64| w - (w * w.exp() - x) / (w.exp() * (w + 1.0));
    (0..100).fold(-0.5, |w, _| step(w))
}

/// Write amplification of uniform random writes on a card that cleans its blocks by age. `a` is
/// flash over what the user sees (Desnoyers, *Analytic modeling of SSD write performance*, SYSTOR
/// 2012).
fn analytic(a: f64) -> f64 {
    a / (a + lambert(-a * (-a).exp()))
}

#[test]
fn the_formula_is_as_published() {
    for (a, expected) in [(1.1, 5.68), (1.2, 3.19), (1.4, 1.96)] {
        assert!((analytic(a) - expected).abs() < 0.01, "{a}: {}", analytic(a));
    }
}

#[test]
fn random_writes_cleaned_by_age_come_to_what_the_formula_says() {
    // The two blocks of 4,000 that are kept free are negligible.
    for a in [1.1, 1.2, 1.4] {
        let simulated = amplification(card(a, 4_000, Cleaning::Fifo));
        let off = simulated / analytic(a) - 1.0;
        assert!(off.abs() < 0.015, "{a}: {simulated} and not {}", analytic(a));
    }
}

#[test]
fn a_small_card_comes_to_what_another_simulation_found() {
    // 400 blocks of 64 pages, by an independent program: by age, and greedy.
    for (a, by_age, greedy) in [(1.1, 5.97, 5.52), (1.2, 3.26, 3.13), (1.4, 1.98, 1.93)] {
        for (cleaning, expected) in [(Cleaning::Fifo, by_age), (Cleaning::Greedy, greedy)] {
            let simulated = amplification(card(a, 400, cleaning));
            let off = simulated / expected - 1.0;
            assert!(off.abs() < 0.03, "{a} {cleaning:?}: {simulated} and not {expected}");
        }
    }
}

#[test]
fn greedy_is_never_above_age() {
    for a in [1.06, 1.1, 1.2, 1.4, 2.0] {
        let [by_age, greedy] =
            [Cleaning::Fifo, Cleaning::Greedy].map(|c| amplification(card(a, 300, c)));
        assert!(greedy <= by_age, "{a}: {greedy} and {by_age}");
        assert!(greedy > 1.0);
    }
}

#[test]
fn writing_over_it_in_order_copies_nothing() {
    for cleaning in [Cleaning::Fifo, Cleaning::Greedy] {
        let mut card = card(1.1, 400, cleaning);
        let units = card.geometry.units;
        for _ in 0..5 {
            (0..units).for_each(|unit| card.program(&[unit]));
        }
        assert_eq!(card.done.pages, 5 * u64::from(units), "{cleaning:?}");
        // Each block that was filled was erased before, except those that were free.
        let filled = 5 * u64::from(units) / u64::from(BLOCK);
        assert!(card.done.erases <= filled && card.done.erases + 60 >= filled, "{cleaning:?}");
    }
}

#[test]
fn what_is_discarded_is_not_copied() {
    for cleaning in [Cleaning::Fifo, Cleaning::Greedy] {
        let whole = card(1.1, 400, cleaning);
        let mut half = whole.clone();
        let units = whole.geometry.units;
        (units / 2..units).for_each(|unit| half.discard(unit));
        half.geometry.units = units / 2;
        let (whole, half) = (amplification(whole), amplification(half));
        assert!(half < 1.3 && whole > 5.0, "{cleaning:?}: {half} and {whole}");
    }
}

#[test]
fn every_unit_stays_where_the_table_says_and_counts_once() {
    let mut card = card(1.15, 50, Cleaning::Greedy);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let units = card.geometry.units;
    for step in 0..100_000_u32 {
        let unit = random.random_range(0..units);
        if step % 7 == 0 {
            card.discard(unit)
        } else {
            card.program(&[unit])
        }
        if step % 5 == 0 {
            card.pad();
        }
    }
    let mut valid = vec![0; card.valid.len()];
    for (unit, at) in card.position.iter().enumerate().filter(|(_, at)| **at != NONE) {
        assert_eq!(card.unit_at[*at as usize], unit as u32);
        valid[(at / BLOCK) as usize] += 1;
    }
    assert_eq!(valid, card.valid);
    let held = card.unit_at.iter().filter(|unit| **unit != NONE).count();
    assert_eq!(held as u32, valid.iter().sum::<u32>());
}

#[test]
fn a_flush_programs_a_page_that_is_filled_in_part() {
    let geometry =
        Geometry { unit_bytes: 4096, page_units: 4, block_units: 64, units: 640, blocks: 20 };
    let mut card = PageMapped::new(geometry, Cleaning::Greedy);
    for unit in 0..8 {
        card.program(&[unit]);
        card.pad();
    }
    assert_eq!(card.done.pages, 8);
    card.program(&(8..16).collect::<Vec<u32>>());
    assert_eq!(card.done.pages, 10);
}
