//! Advice over many devices. An engine is rated by the device that suits it least.

use embermark_model::{Conditions, Durability};

use super::{AdviceTable, AdviceTables, EngineAdvice};
use crate::text;

/// Advice of many devices as one, built device by device. It takes the worst of each figure and the
/// largest memory. A figure that is unknown on one device is unknown.
#[derive(Clone, Debug, Default)]
pub struct FleetAdvice {
    devices: Vec<String>,
    tables: Vec<AdviceTable>,
    shortfalls: Vec<Shortfall>,
}

/// What an engine failed to do on a device, in words. `None` if there are no figures.
type Shortfall = (EngineKey, Option<String>, String);

/// Rows, conditions and language of a table, and an engine of it in a tier.
type EngineKey = (u64, Conditions, Option<String>, String, Durability);

/// Number of devices that are named for each shortfall.
const NAMED: usize = 3;

impl FleetAdvice {
    /// Adds the tables of a device, in which engines that broke the promise of a tier are marked.
    pub fn add(&mut self, device: &str, AdviceTables { tables: mut own, .. }: AdviceTables) {
        for table in &mut own {
            for at in 0..table.engines.len() {
                let key = key(table, &table.engines[at]);
                let own = table.engines[at].shortfalls.drain(..);
                let own = own.map(|what| (key.clone(), Some(what), device.to_owned()));
                self.shortfalls.extend(own);
            }
        }
        let is = |a: &AdviceTable, b: &AdviceTable| {
            (a.rows, a.conditions, &a.client) == (b.rows, b.conditions, &b.client)
        };
        for known in &mut self.tables {
            let same = own.iter().find(|table| is(table, known));
            for at in 0..known.engines.len() {
                let entry = &mut known.engines[at];
                let found = same.and_then(|of| of.engines.iter().find(|one| is_same(one, entry)));
                if worse(entry, found) {
                    let key = key(known, &known.engines[at]);
                    self.shortfalls.push((key, None, device.to_owned()));
                }
            }
        }
        for mut table in own {
            let place = self.tables.iter().position(|known| is(known, &table));
            let new = |one: &EngineAdvice| {
                place.is_none_or(|at| !self.tables[at].engines.iter().any(|k| is_same(k, one)))
            };
            let mut engines = std::mem::take(&mut table.engines);
            engines.retain(new);
            // The devices before this one have no figures for these engines.
            for device in &self.devices {
                for entry in &mut engines {
                    worse(entry, None);
                    self.shortfalls.push((key(&table, entry), None, device.clone()));
                }
            }
            match place {
                Some(at) => self.tables[at].engines.extend(engines),
                None => self.tables.push(AdviceTable { engines, ..table }),
            }
        }
        self.tables.sort_by_key(|table| (table.client.clone(), table.conditions, table.rows));
        self.devices.push(device.to_owned());
    }

    /// Returns the tables that advice is drawn from. Changes of the order over scales are not
    /// reported for several devices.
    pub fn tables(self) -> AdviceTables {
        let Self { mut tables, shortfalls, .. } = self;
        for table in &mut tables {
            for at in 0..table.engines.len() {
                let of = key(table, &table.engines[at]);
                let own = shortfalls.iter().filter(|(key, ..)| *key == of);
                let own = text::by_key(own.map(|(_, what, device)| (what, device.as_str())));
                let own = own.into_iter().map(|(what, devices)| describe(what.as_ref(), &devices));
                table.engines[at].shortfalls = own.collect();
            }
        }
        AdviceTables { tables, turns: Vec::new() }
    }
}

fn key(table: &AdviceTable, entry: &EngineAdvice) -> EngineKey {
    (table.rows, table.conditions, table.client.clone(), entry.engine.clone(), entry.tier)
}

/// Describes a shortfall, with the names of some of its devices.
fn describe(what: Option<&String>, devices: &[&str]) -> String {
    let on = text::first(devices, NAMED);
    match what {
        Some(what) => format!("{on}: {what}"),
        None => format!("no figures of it on {on}"),
    }
}

fn is_same(one: &EngineAdvice, other: &EngineAdvice) -> bool {
    (&one.engine, one.tier) == (&other.engine, other.tier)
}

/// Keeps the worse of the known figures and those of a device. Returns whether the device has none.
fn worse(known: &mut EngineAdvice, own: Option<&EngineAdvice>) -> bool {
    let Some(own) = own else {
        known.ratios.clear();
        known.intervals.clear();
        known.by_workload.clear();
        return true;
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
    let peaks = known.facts.peak_bytes.zip(own.facts.peak_bytes);
    known.facts.peak_bytes = peaks.map(|(a, b)| a.max(b));
    let effective = |entry: &EngineAdvice| entry.effective_durability.unwrap_or(entry.tier);
    let weaker = effective(known).min(effective(own));
    known.effective_durability = Some(weaker).filter(|tier| *tier != known.tier);
    known.facts.by_url |= own.facts.by_url;
    if known.facts.own_durability.is_none() {
        known.facts.own_durability.clone_from(&own.facts.own_durability);
    }
    known.pace = match (known.pace.take(), &own.pace) {
        (Some(a), Some(b)) if b.rows_per_second < a.rows_per_second => Some(b.clone()),
        (known, own) => known.filter(|_| own.is_some()),
    };
    known.broken = known.broken.take().or_else(|| own.broken.clone());
    known.wrong = known.wrong.take().or_else(|| own.wrong.clone());
    false
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use embermark_model::result::ResultFile;

    use super::*;
    use crate::advise::{Needs, Weight, advise};
    use crate::load;

    fn result() -> ResultFile {
        load(Path::new("tests/fixtures/schema-1.json")).unwrap()
    }

    fn tables(result: &ResultFile) -> AdviceTables {
        crate::advise::tables(&[result], None, &[])
    }

    /// Makes the same result, but with one engine `times` as slow.
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

    const NEEDS: Needs = Needs::only(Durability::Process);

    fn entry<'a>(tables: &'a AdviceTables, engine: &str) -> &'a EngineAdvice {
        let table = tables.tables.last().unwrap();
        let is = |one: &&EngineAdvice| one.engine == engine && one.tier == NEEDS.tier;
        table.engines.iter().find(is).unwrap()
    }

    #[test]
    fn of_one_device_it_is_the_devices_own_and_of_two_alike_the_same() {
        let own = crate::advise::tables(&[&result()], None, &[]);
        for devices in [1, 2] {
            let mut over = FleetAdvice::default();
            (0..devices).for_each(|at| over.add(&format!("d{at}"), tables(&result())));
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
        let mut over = FleetAdvice::default();
        over.add("lab", tables(&result()));
        let before = over.clone().tables();
        over.add("roof", tables(&slower("lmdb", 50)));
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
        // The best engine on one device is not the best on both.
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
            let mut over = FleetAdvice::default();
            let files = [("lab", result()), ("roof", without("lmdb"))];
            let order: Vec<_> =
                if first { files.iter().collect() } else { files.iter().rev().collect() };
            order.iter().for_each(|(device, file)| over.add(device, tables(file)));
            let all = over.tables();
            let lmdb = entry(&all, "lmdb");
            assert!(lmdb.ratios.is_empty());
            assert_eq!(lmdb.shortfalls.last().unwrap(), "no figures of it on roof");
            assert!(!entry(&all, "sqlite").ratios.is_empty());
        }
    }

    #[test]
    fn durability_pace_and_a_broken_promise_are_those_of_the_weakest_device_in_any_order() {
        let weak = || {
            let mut weak = tables(&slower("lmdb", 1_000));
            for entry in weak.tables.iter_mut().flat_map(|table| &mut table.engines) {
                entry.effective_durability = Some(Durability::None);
                entry.broken = Some("broken: 1 of 5 kills".to_owned());
            }
            weak
        };
        let strong = || {
            let mut strong = tables(&result());
            for entry in strong.tables.iter_mut().flat_map(|table| &mut table.engines) {
                entry.effective_durability = Some(Durability::Power);
            }
            strong
        };
        let pace = |tables: &AdviceTables| entry(tables, "lmdb").pace.clone().unwrap();
        for devices in [[weak(), strong()], [strong(), weak()]] {
            let mut over = FleetAdvice::default();
            devices.into_iter().for_each(|tables| over.add("a device", tables));
            let all = over.tables();
            let lmdb = entry(&all, "lmdb");
            assert_eq!(lmdb.effective_durability, Some(Durability::None));
            assert!(lmdb.broken.is_some());
            assert_eq!(pace(&all), pace(&weak()));
        }
        assert!(pace(&weak()).rows_per_second < pace(&strong()).rows_per_second);
    }

    #[test]
    fn of_many_devices_some_are_named_and_the_others_counted() {
        let mut without = result();
        without.cells.retain(|cell| cell.id.engine != "lmdb");
        let mut over = FleetAdvice::default();
        over.add("lab", tables(&result()));
        (0..50).for_each(|at| over.add(&format!("d{at}"), tables(&without)));
        let all = over.tables();
        let says = &entry(&all, "lmdb").shortfalls;
        assert_eq!(says[..], ["no figures of it on d0, d1, d2 and 47 more"]);
    }
}
