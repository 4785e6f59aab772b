//! Advice over many devices: an engine is as good as it is on the device that suits it least.

use embermark_model::result::ResultFile;

use super::{AdviceTable, AdviceTables, EngineAdvice};

/// The advice of many devices as one, built up device by device: of each figure the worst one, of memory the
/// most. What is not known of an engine on one of them is not known of it.
#[derive(Clone, Debug, Default)]
pub struct OverDevices {
    devices: Vec<String>,
    tables: Vec<AdviceTable>,
}

impl OverDevices {
    /// Adds a device's result.
    pub fn add(&mut self, device: &str, result: &ResultFile) {
        let own = super::tables(&[result], None, &[]).tables;
        let is =
            |a: &AdviceTable, b: &AdviceTable| (a.rows, a.memory_limit) == (b.rows, b.memory_limit);
        for known in &mut self.tables {
            let same = own.iter().find(|table| is(table, known));
            for entry in &mut known.engines {
                let found =
                    same.and_then(|table| table.engines.iter().find(|one| is_same(one, entry)));
                worse(entry, found, device);
            }
        }
        for table in own {
            let Some(at) = self.tables.iter().position(|known| is(known, &table)) else {
                self.tables
                    .push(AdviceTable { engines: self.nowhere_else(table.engines), ..table });
                continue;
            };
            let known = &self.tables[at].engines;
            let new =
                table.engines.into_iter().filter(|one| !known.iter().any(|k| is_same(k, one)));
            let new = self.nowhere_else(new.collect());
            self.tables[at].engines.extend(new);
        }
        self.tables.sort_by_key(|table| (table.memory_limit, table.rows));
        self.devices.push(device.to_owned());
    }

    /// What advice is drawn from. The order of two engines over scales is not told of several devices.
    pub fn tables(self) -> AdviceTables {
        AdviceTables { tables: self.tables, turns: Vec::new() }
    }

    /// Engines that the devices before this one have no figures of.
    fn nowhere_else(&self, mut engines: Vec<EngineAdvice>) -> Vec<EngineAdvice> {
        for device in &self.devices {
            engines.iter_mut().for_each(|entry| worse(entry, None, device));
        }
        engines
    }
}

fn is_same(one: &EngineAdvice, other: &EngineAdvice) -> bool {
    (&one.engine, one.tier) == (&other.engine, other.tier)
}

/// Takes the worse of what is known and of what a device has.
fn worse(known: &mut EngineAdvice, own: Option<&EngineAdvice>, device: &str) {
    let Some(own) = own else {
        if !known.ratios.is_empty() || known.shortfalls.is_empty() {
            known.shortfalls.push(format!("no figures of it on {device}"));
        }
        known.ratios.clear();
        known.intervals.clear();
        return;
    };
    known.ratios.retain(|criterion, _| own.ratios.contains_key(criterion));
    for (criterion, ratio) in &mut known.ratios {
        let of_device = own.ratios[criterion];
        if of_device > *ratio {
            *ratio = of_device;
            match own.intervals.get(criterion) {
                Some(interval) => known.intervals.insert(criterion, *interval),
                None => known.intervals.remove(criterion),
            };
        }
    }
    known.intervals.retain(|criterion, _| known.ratios.contains_key(criterion));
    known.facts.peak_bytes = match (known.facts.peak_bytes, own.facts.peak_bytes) {
        (Some(a), Some(b)) => Some(a.max(b)),
        _ => None,
    };
    if known.effective_durability.is_none() {
        known.effective_durability = own.effective_durability;
    }
    known.broken = known.broken.take().or_else(|| own.broken.clone());
    known.shortfalls.extend(own.shortfalls.iter().map(|short| format!("{device}: {short}")));
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use embermark_model::Durability;

    use super::*;
    use crate::advise::{Needs, Weight, advise};
    use crate::load;

    fn result() -> ResultFile {
        load(Path::new("tests/fixtures/schema-1.json")).unwrap()
    }

    /// The same where one engine takes so many times as long.
    fn slower(engine: &str, times: u64) -> ResultFile {
        let mut file = result();
        let cells = file.cells.iter_mut().filter(|cell| cell.id.engine == engine);
        for run in cells
            .flat_map(|cell| &mut cell.trials)
            .flat_map(|trial| &mut trial.phases)
            .flat_map(|phase| &mut phase.runs)
        {
            run.elapsed_ns *= times;
        }
        file
    }

    const NEEDS: Needs = Needs {
        tier: Durability::Process,
        sql: false,
        embedded: false,
        memory_bytes: None,
        licence: None,
    };

    fn entry<'a>(tables: &'a AdviceTables, engine: &str) -> &'a EngineAdvice {
        let table = tables.tables.last().unwrap();
        let is = |one: &&EngineAdvice| one.engine == engine && one.tier == NEEDS.tier;
        table.engines.iter().find(is).unwrap()
    }

    #[test]
    fn of_one_device_it_is_the_devices_own_and_of_two_alike_the_same() {
        let own = crate::advise::tables(&[&result()], None, &[]);
        for devices in [1, 2] {
            let mut over = OverDevices::default();
            (0..devices).for_each(|at| over.add(&format!("d{at}"), &result()));
            let over = over.tables();
            assert_eq!(over.tables.len(), own.tables.len());
            for (a, b) in over.tables.iter().zip(&own.tables) {
                assert_eq!(a.at, b.at);
                for (a, b) in a.engines.iter().zip(&b.engines) {
                    assert_eq!((&a.engine, &a.ratios), (&b.engine, &b.ratios));
                }
            }
        }
    }

    #[test]
    fn an_engine_is_as_good_as_on_the_device_that_suits_it_least() {
        let mut over = OverDevices::default();
        over.add("lab", &result());
        let before = over.clone().tables();
        over.add("roof", &slower("lmdb", 50));
        let after = over.tables();
        let (was, is) = (entry(&before, "lmdb"), entry(&after, "lmdb"));
        let read = was
            .ratios
            .keys()
            .find(|criterion| is.ratios[*criterion] > 2.0 * was.ratios[*criterion]);
        assert!(read.is_some(), "{was:?} {is:?}");
        for (criterion, ratio) in &is.ratios {
            assert!(*ratio >= was.ratios[criterion], "{criterion}");
        }
        // Who was best on one device is not on both.
        let weights: Vec<Weight> = is
            .ratios
            .keys()
            .take(1)
            .map(|criterion| Weight { criterion: (*criterion).to_owned(), weight: 1.0 })
            .collect();
        let ranked = advise(after.tables.last().unwrap(), NEEDS, &weights).unwrap().ranked;
        assert!(ranked.iter().all(|place| place.score >= 1.0) && !ranked.is_empty());
    }

    #[test]
    fn what_one_device_has_no_figures_of_is_not_ranked() {
        let without = |engine: &str| {
            let mut file = result();
            file.cells.retain(|cell| cell.id.engine != engine);
            file
        };
        for first in [true, false] {
            let mut over = OverDevices::default();
            let files = [("lab", result()), ("roof", without("lmdb"))];
            let order: Vec<_> =
                if first { files.iter().collect() } else { files.iter().rev().collect() };
            order.iter().for_each(|(device, file)| over.add(device, file));
            let tables = over.tables();
            let lmdb = entry(&tables, "lmdb");
            assert!(lmdb.ratios.is_empty());
            assert_eq!(lmdb.shortfalls.last().unwrap(), "no figures of it on roof");
            assert!(!entry(&tables, "sqlite").ratios.is_empty());
        }
    }
}
