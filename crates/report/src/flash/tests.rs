use embermark_model::card::{Mapping, Spread};
use embermark_model::result::{FlashCost, FlashWork, Loaded, PhaseResult, Trial};

use super::*;

/// A card of 1,000 blocks of 1 MiB and 100 more that are spare, each erased 1,000 times.
fn card() -> Card {
    Card {
        name: "one".to_owned(),
        mapping: Mapping::LogBlocks { open_units: Spread::of(4) },
        capacity_bytes: 1_000 << 20,
        page_bytes: 16 << 10,
        erase_block_bytes: 1 << 20,
        spare_permille: Spread::of(100),
        cycles: Spread { low: 500, typical: 1_000, high: 2_000 },
        cache_bytes: 0,
        filled_permille: 1_000,
    }
}

/// So many bytes, and a block erased for each megabyte of them; twice of that at the lower end.
fn work(bytes: u64) -> FlashWork {
    let cost = |bytes| FlashCost { programmed_bytes: bytes, erases: bytes as f64 / 1e6 };
    let (typical, low) = (cost(bytes), cost(2 * bytes));
    FlashWork { written_bytes: bytes / 4, typical, low, high: typical }
}

/// A cell with a load of 10,000 rows, which is maintained, and a read of 500.
fn cell() -> Cell {
    let loaded = Some(Loaded { user_bytes: 330_000, device_io: None, maintenance: None });
    let run = |ops, loaded| Run { elapsed_ns: 1, ops, loaded, ..Run::default() };
    let phase = |name: &str, run| PhaseResult {
        phase: name.to_owned(),
        runs: vec![run],
        ..PhaseResult::default()
    };
    let of = |name: &str, bytes, after: Option<u64>| FlashOfPhase {
        phase: name.to_owned(),
        run: work(bytes),
        maintenance: after.map(work),
    };
    let phases = vec![of("load", 3_000_000, Some(1_000_000)), of("read", 0, None)];
    let counting = Trial {
        phases: vec![phase("load", run(10_000, loaded)), phase("read", run(500, None))],
        flash: vec![FlashModel { card: "one".to_owned(), phases, ..FlashModel::default() }],
        ..Trial::default()
    };
    let id = "{\"workload\":\"w\",\"scale\":\"10k\",\"durability\":\"process\",\"variant\":\"v\",\"engine\":\"e\"}";
    Cell {
        id: serde_json::from_str(id).unwrap(),
        status: embermark_model::Status::Ok,
        reason: None,
        effective_durability: None,
        own_durability: None,
        reference: false,
        unpublishable: false,
        trials: Vec::new(),
        counting: Some(Box::new(counting)),
        explaining: None,
    }
}

#[test]
fn a_million_rows_are_the_run_and_its_maintenance_over_its_rows() {
    let (cell, card) = (cell(), card());
    let load = Wear::of(&cell, &card, "load").unwrap();
    assert_eq!((load.programmed(), load.per_million()), (4e6, Some(4e8)));
    assert_eq!(load.per_million_ends(), Some([4e8, 8e8]));
    let read = Wear::of(&cell, &card, "read").unwrap();
    assert_eq!((read.programmed(), read.per_million(), read.loads), (0.0, Some(0.0), false));
}

#[test]
fn years_are_a_range_from_one_end_of_the_parameters_to_the_other() {
    let (cell, card) = (cell(), card());
    let load = Wear::of(&cell, &card, "load").unwrap();
    // At 10,000 rows a day: 8 blocks a day at the lower end, of 1,100 blocks 500 times each; 4 blocks at
    // the upper one, 2,000 times each.
    let [low, high] = load.years(10_000.0).unwrap();
    assert!((low - 1_100.0 * 500.0 / 8.0 / 365.25).abs() < 1e-9, "{low}");
    assert!((high - 1_100.0 * 2_000.0 / 4.0 / 365.25).abs() < 1e-9, "{high}");
    assert_eq!(load.years(20_000.0).unwrap().map(|half| 2.0 * half), [low, high]);
    assert_eq!(Wear::of(&cell, &card, "read").unwrap().years(1.0), None, "it puts no rows in");
}

#[test]
fn a_card_that_was_not_modelled_has_nothing() {
    let cell = cell();
    let other = Card { name: "other".to_owned(), ..card() };
    assert!(Wear::of(&cell, &other, "load").is_none());
    assert!(Wear::of(&cell, &card(), "update").is_none());
}
