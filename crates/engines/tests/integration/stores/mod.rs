//! Stores of every key-value engine, and rows for them.

#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::BTreeMap;
use std::path::Path;

use embermark_engines::kv::{KvStore, Table, TableDef};
use embermark_engines::{DataModel, Engine, OpenOptions, Store, Tier};
use embermark_model::Durability;
use embermark_skips::{is_here, sampled};

use crate::outside::engines;
use crate::scopes::Listed;

pub type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// An engine, a tier that it offers, and what the tier keeps.
pub type Offer = (&'static dyn Engine, Durability, Durability);

/// Returns engines that can run here, each with a tier: three, as [`sampled`], or all.
pub fn offers() -> Vec<Offer> {
    let offers = some_offers(3, |_| true);
    assert!(!offers.is_empty(), "no key-value engine in this build");
    offers
}

/// Returns at most so many of the offers that fit, as [`sampled`], or all of them.
pub fn some_offers(most: usize, fits: impl Fn(&Offer) -> bool) -> Vec<Offer> {
    let mut offers = Vec::new();
    for &engine in engines() {
        let info = engine.info();
        if info.family != DataModel::KeyValue || info.id == "null" {
            continue;
        }
        if !is_here(engine) {
            continue;
        }
        let of_tier = |tier| match engine.tier(tier) {
            Tier::Offered { effective_durability, .. } => {
                Some((engine, tier, effective_durability))
            }
            Tier::Unsupported { .. } => None,
        };
        let tiers = Durability::ALL.into_iter().filter_map(of_tier).filter(|offer| fits(offer));
        offers.extend(sampled(tiers, 1));
    }
    sampled(offers, most)
}

pub fn open(engine: &dyn Engine, tier: Durability, dir: &Path) -> Box<dyn KvStore> {
    let options = OpenOptions::new(dir, tier, 64 << 20);
    match engine.open(&options).unwrap().store {
        Store::Kv(store) => store,
        _ => panic!("{} is no key-value store", engine.info().id),
    }
}

pub fn bulk(store: &mut dyn KvStore, table: Table, model: &Model) -> u64 {
    assert!(store.bulk_sorted() || !model.is_empty());
    store.bulk(table, &mut Listed::of(model)).unwrap()
}

pub fn numbered(rows: u64, value_size: usize) -> Model {
    let row = |n: u64| ((n * 10).to_be_bytes().to_vec(), vec![n as u8; value_size]);
    (0..rows).map(row).collect()
}

/// Makes three tables: of pairs put singly, put together in a transaction, and loaded.
pub fn victims(store: &mut dyn KvStore) -> [Table; 3] {
    ["alone", "together", "loaded"].map(|name| store.table(&TableDef::named(name)).unwrap())
}
