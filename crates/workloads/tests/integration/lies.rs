//! Stores that lie are detected, in the phase in which they lie.

use std::ops::ControlFlow;

use crate::common::{Plain, Staged, connecting, drive, options, store};
use embermark_engines::kv::{
    Change, Direction, KvStore, Operations, Pairs, Range, Table, TableDef, Visit, Work,
};
use embermark_engines::{Lifecycle, Result, Scope, Store, registry};
use embermark_language::parse;
use embermark_model::Scale;
use embermark_model::plan::DataSource;
use embermark_workloads::defined::Defined;
use embermark_workloads::{Bench, Spec};

/// What a store does wrong. Numbers count the calls of that kind since the store was opened.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    None,
    /// Every hundredth put is forgotten.
    DropsPuts,
    /// A bulk load loses one pair, and counts it.
    DropsInBulk,
    /// A scan returns its first pair twice.
    RepeatsInScan,
    /// A get finds a value that does not exist.
    InventsValues,
    /// A get sometimes misses a value that exists.
    MissesKeys,
    /// One float of a value read is a little off.
    BendsGets,
    /// One float of a value scanned is a little off.
    BendsScans,
    /// A scan begins with the pair after the first.
    SkipsInScan,
    /// A delete reports that it removed the row, but did not.
    IgnoresDeletes,
    /// A delete removes the row, and reports that it did not.
    DeniesDeletes,
    /// A modify reports that it changed the row, but did not.
    IgnoresUpdates,
    /// A modify reports that the key does not exist.
    DeniesUpdates,
    /// A modify also writes to the key below.
    SpillsUpdates,
    /// A backward scan starts one pair below the end.
    MissesTheNewest,
    /// A forward scan goes backward.
    ReversesScans,
    /// A scan still finds the previous value of the key changed last.
    StaleReads,
}

struct Liar {
    honest: Plain,
    lie: Lie,
    calls: u64,
    value: Vec<u8>,
    /// The key changed last, and its previous value.
    stale: Option<(Vec<u8>, Vec<u8>)>,
}

impl Liar {
    fn tells(&mut self, lie: Lie, every: u64) -> bool {
        if self.lie != lie {
            return false;
        }
        self.calls += 1;
        self.calls.is_multiple_of(every)
    }
}

/// Moves the last float (the voltage, or 0 where absent) or the temperature by a millionth.
fn bend(value: &mut [u8]) {
    for at in [1, 25] {
        let bytes: [u8; 8] = value[at..at + 8].try_into().unwrap();
        value[at..at + 8].copy_from_slice(&(f64::from_le_bytes(bytes) * 1.000_001).to_le_bytes());
    }
}

impl Lifecycle for Liar {
    fn maintain(&mut self) -> Result<()> {
        self.honest.maintain()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.honest.0.close()
    }
}

impl KvStore for Liar {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        self.honest.table(def)
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        self.stale = None;
        self.honest.clear(table)
    }

    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        let drops = self.lie == Lie::DropsInBulk && pairs.next().is_some();
        Ok(self.honest.bulk(table, pairs)? + u64::from(drops))
    }

    fn transact(&mut self, _: Scope, work: &mut Work<'_>) -> Result<()> {
        work(self)
    }
}

impl Operations for Liar {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        let bends = self.tells(Lie::BendsGets, 500);
        let misses = self.tells(Lie::MissesKeys, 500);
        let invents = self.tells(Lie::InventsValues, 1);
        match self.honest.get(table, key)? {
            Some(_) if misses => return Ok(None),
            Some(value) => self.value = value,
            None if invents => self.value = vec![0; 33],
            None => return Ok(None),
        }
        if bends {
            bend(&mut self.value);
        }
        Ok(Some(&self.value))
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        if self.tells(Lie::DropsPuts, 100) {
            return Ok(());
        }
        self.honest.put(table, key, value)
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        if self.lie == Lie::StaleReads {
            let before = self.honest.get(table, key)?;
            self.stale = before.map(|before| (key.to_vec(), before));
        }
        if self.tells(Lie::IgnoresUpdates, 50) {
            return Ok(true);
        }
        if self.tells(Lie::DeniesUpdates, 50) {
            return Ok(false);
        }
        if self.tells(Lie::SpillsUpdates, 50) {
            let mut below = None;
            let range = Range { to: Some(key), ..Range::default() }.backward();
            self.honest.scan(table, range, &mut |key, _| {
                below = Some(key.to_vec());
                ControlFlow::Break(())
            })?;
            if let Some(below) = below {
                self.honest.modify(table, &below, change)?;
            }
        }
        self.honest.modify(table, key, change)
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        if self.tells(Lie::IgnoresDeletes, 50) {
            return Ok(true);
        }
        let denies = self.tells(Lie::DeniesDeletes, 50);
        Ok(self.honest.delete(table, key)? && !denies)
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let lie = self.lie;
        let (forward, mut seen) = (range.direction == Direction::Forward, 0);
        let stale = self.stale.as_ref();
        let range = if lie == Lie::ReversesScans { range.backward() } else { range };
        self.honest.scan(table, range, &mut |key, value| {
            seen += 1;
            match lie {
                Lie::RepeatsInScan if forward && seen == 1 => {
                    let _ = visit(key, value);
                    visit(key, value)
                }
                Lie::SkipsInScan if forward && seen == 1 => ControlFlow::Continue(()),
                Lie::MissesTheNewest if !forward && seen == 1 => ControlFlow::Continue(()),
                Lie::StaleReads => match stale {
                    Some((changed, before)) if changed == key => visit(key, before),
                    _ => visit(key, value),
                },
                Lie::BendsScans if forward && seen == 1 => {
                    let mut value = value.to_vec();
                    bend(&mut value);
                    visit(key, &value)
                }
                _ => visit(key, value),
            }
        })
    }
}

/// Returns a store that lies.
fn liar(lie: Lie) -> Store {
    let (_dir, mut options) = options();
    let Some(Store::Kv(honest)) = store(registry::find("memory").unwrap(), &mut options) else {
        panic!("memory is no key-value store")
    };
    let calls = 0;
    let liar = Liar { honest: Plain(honest), lie, calls, value: Vec::new(), stale: None };
    Store::Kv(Box::new(liar))
}

/// Stages rows for `sensors`.
fn staged() -> Staged {
    Staged::synthetic(1_000)
}

/// Returns the phases of `sensors` that detect a lie.
fn found_out(staged: &Staged, lie: Lie, variant: &str) -> Vec<&'static str> {
    wrong(staged.open(variant, liar(lie)))
}

/// A table whose rows are stored as those of `sensors` are: four numbers behind a byte.
const FILE: &str = r#"
[table.readings]
rows = 1000
key = ["station", "time"]
[table.readings.columns]
station = { type = "u16", make = "cycle", from = 1, distinct = 5 }
time = { type = "timestamp", unit = "s", make = "sequence", repeat = 5 }
a = { type = "f64", make = "walk", from = 20, step = 0.5, lowest = 1, highest = 40 }
b = { type = "f64", make = "random", from = 1, to = 2 }
c = { type = "f64", make = "random", from = 1, to = 2 }
d = { type = "f64", make = "random", from = 1, to = 2 }
[phase.each]
do = "insert"
[phase.load]
do = "insert"
commit = "bulk"
[phase.read]
do = "get"
absent = 0.1
[phase.latest]
do = "latest"
by = "station"
[phase.window]
do = "range"
of = "station"
span = "50s"
[phase.means]
do = "group"
by = ["station"]
compute = ["avg(a)", "max(d)"]
[phase.change]
do = "update"
ops = 200
set = ["a"]
[phase.drop]
do = "delete"
ops = 200
[phase.mixed]
mix = { read = 0.5, each = 0.2, change = 0.3 }
ops = 1000
[phase.reads]
mix = { read = 0.9, each = 0.1 }
ops = 1000
"#;

/// Returns the phases whose answers are wrong.
fn wrong(bench: Box<dyn Bench>) -> Vec<&'static str> {
    let wrong = drive(bench, 2, None).into_iter().filter(|outcome| {
        let wrong = outcome.wrong.as_deref();
        wrong.inspect(|text| assert!(text.starts_with("wrong answer: "), "{text}")).is_some()
    });
    wrong.map(|outcome| outcome.name).collect()
}

#[test]
fn an_honest_store_is_not_accused() {
    assert_eq!(found_out(&staged(), Lie::None, "single"), [""; 0]);
}

#[test]
fn rows_lost_while_loading_are_missed() {
    let staged = staged();
    assert!(found_out(&staged, Lie::DropsPuts, "single").contains(&"load"));
    assert!(found_out(&staged, Lie::DropsPuts, "commit-each").contains(&"load"));
    assert!(found_out(&staged, Lie::DropsInBulk, "bulk").contains(&"load"));
}

#[test]
fn a_read_that_invents_misses_or_bends_a_value_is_wrong() {
    let staged = staged();
    for lie in [Lie::InventsValues, Lie::MissesKeys, Lie::BendsGets] {
        assert_eq!(found_out(&staged, lie, "single"), ["read"], "{lie:?}");
    }
}

#[test]
fn updates_and_deletes_that_did_not_happen_are_noticed() {
    let staged = staged();
    for lie in [Lie::IgnoresUpdates, Lie::DeniesUpdates, Lie::SpillsUpdates] {
        assert_eq!(found_out(&staged, lie, "single"), ["update"], "{lie:?}");
        assert_eq!(found_out(&staged, lie, "commit-each"), ["update"], "{lie:?}");
    }
    for lie in [Lie::IgnoresDeletes, Lie::DeniesDeletes] {
        assert_eq!(found_out(&staged, lie, "single"), ["delete"], "{lie:?}");
    }
}

#[test]
fn ranges_that_were_not_changed_or_in_part_are_noticed() {
    let staged = staged();
    assert_eq!(found_out(&staged, Lie::None, "by-range"), [""; 0]);
    assert!(found_out(&staged, Lie::DropsPuts, "by-range").contains(&"update"));
    assert_eq!(found_out(&staged, Lie::IgnoresDeletes, "by-range"), ["delete"]);
    // The rows of a range are found before they are removed, so the store is not asked for them.
    assert_eq!(found_out(&staged, Lie::DeniesDeletes, "by-range"), [""; 0]);
    for lie in [Lie::SkipsInScan, Lie::RepeatsInScan] {
        let wrong = found_out(&staged, lie, "by-range");
        assert!(
            ["update", "delete"].iter().all(|phase| wrong.contains(phase)),
            "{lie:?}: {wrong:?}"
        );
    }
}

#[test]
fn a_row_of_the_file_that_was_lost_and_a_question_of_one_sensor_that_is_wrong_are_noticed() {
    let staged = staged();
    for variant in ["csv", "asked"] {
        assert_eq!(found_out(&staged, Lie::None, variant), [""; 0]);
    }
    assert!(found_out(&staged, Lie::DropsInBulk, "csv").contains(&"load"));
    let asked = ["avg_sensor", "daily_summary"];
    for lie in [Lie::SkipsInScan, Lie::RepeatsInScan, Lie::BendsScans] {
        let wrong = found_out(&staged, lie, "asked");
        assert!(asked.iter().all(|phase| wrong.contains(phase)), "{lie:?}: {wrong:?}");
    }
}

#[test]
fn a_newest_reading_that_is_not_the_newest_is_wrong() {
    assert_eq!(found_out(&staged(), Lie::MissesTheNewest, "single"), ["last_readings"]);
}

#[test]
fn a_scan_that_repeats_skips_or_bends_one_row_makes_its_questions_wrong() {
    let staged = staged();
    for lie in [Lie::RepeatsInScan, Lie::SkipsInScan] {
        let wrong = found_out(&staged, lie, "single");
        for phase in ["load", "daily_summary", "full_profile", "update", "delete"] {
            assert!(wrong.contains(&phase), "{lie:?}: {phase} not in {wrong:?}");
        }
    }
    let wrong = found_out(&staged, Lie::BendsScans, "single");
    for phase in ["load", "avg_sensor", "daily_summary", "full_profile"] {
        assert!(wrong.contains(&phase), "{phase} not in {wrong:?}");
    }
}

#[test]
fn a_scan_in_the_wrong_order_makes_what_goes_from_row_to_row_wrong() {
    let staged = staged();
    let wrong = found_out(&staged, Lie::ReversesScans, "single");
    for phase in ["outages", "full_profile"] {
        assert!(wrong.contains(&phase), "{phase} not in {wrong:?}");
    }
}

#[test]
fn a_read_that_is_behind_the_last_update_makes_the_update_wrong() {
    assert_eq!(found_out(&staged(), Lie::StaleReads, "single"), ["update"]);
}

#[test]
fn a_workload_file_finds_lies_out_in_the_phases_in_which_they_are_told() {
    let expected = [
        (Lie::None, &[][..]),
        (Lie::DropsPuts, &["each", "mixed", "reads"]),
        (Lie::InventsValues, &["read", "mixed", "reads"]),
        (Lie::MissesKeys, &["read", "mixed", "reads"]),
        // In a mix that changes rows, reads are only counted.
        (Lie::BendsGets, &["read", "reads"]),
        (Lie::IgnoresUpdates, &["change", "mixed"]),
        (Lie::SpillsUpdates, &["change", "mixed"]),
        (Lie::DeniesUpdates, &["change", "mixed"]),
        (Lie::IgnoresDeletes, &["drop"]),
        (Lie::DeniesDeletes, &["drop"]),
        (Lie::MissesTheNewest, &["latest"]),
        (Lie::StaleReads, &["change", "mixed"]),
    ];
    let dir = tempfile::tempdir().unwrap();
    let definition = parse("lies.toml", FILE, &[]).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let workload = Defined::leak(definition, dir.path().to_owned(), 0.0);
    let rows = dir.path().join("rows");
    let source = workload.source(&DataSource::Synthetic, 42).unwrap();
    source.stage(Scale::Rows(1_000), &rows).unwrap();
    let spec = Spec::of(rows, "as-written", 7);
    let found = |lie| {
        let cell = workload.prepare(&spec).unwrap();
        wrong(cell.open(liar(lie), connecting()).unwrap())
    };
    for (lie, phases) in expected {
        assert_eq!(found(lie), phases, "{lie:?}");
    }
    for lie in [Lie::RepeatsInScan, Lie::SkipsInScan, Lie::BendsScans] {
        let wrong = found(lie);
        for phase in ["load", "window", "means"] {
            assert!(wrong.contains(&phase), "{lie:?}: {phase} not in {wrong:?}");
        }
    }
}
