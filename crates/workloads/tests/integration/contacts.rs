//! The workload `contacts`: every phase on every engine of this build, and stores that lie.

use std::ops::ControlFlow;
use std::time::Duration;

use crate::common::{
    Outcome, Plain, candidates, connecting, drive, drive_capped, options, some_candidates, spread,
    spread_over, store,
};
use embermark_engines::kv::{
    Change, Indexed, KvStore, Operations, Pairs, Range, Table, TableDef, Visit, Work,
};
use embermark_engines::{Engine, Kind, Lifecycle, Reopener, Result, Scope, Store, registry};
use embermark_model::Scale;
use embermark_model::plan::DataSource;
use embermark_workloads::{Bench, Spec, find};

const PHASES: [&str; 8] = [
    "open_close",
    "insert",
    "select_indexed",
    "select_scan",
    "update_indexed",
    "update_scan",
    "delete_indexed",
    "delete_scan",
];

const VARIANTS: [&str; 5] = ["single", "commit-each", "bulk", "no-read", "row-by-row"];

/// The limit of a run's time where every answer has already been checked without a limit.
const CAP: Duration = Duration::from_millis(200);

/// The same for openings in `make test`, of which a run has 250.
const CAP_OF_OPENINGS: Duration = Duration::from_millis(40);

/// The limit of a run's time, by phase.
type Caps = fn(&str) -> Option<Duration>;

fn capped(phase: &str) -> Option<Duration> {
    Some(if phase == "open_close" && !embermark_skips::is_long() { CAP_OF_OPENINGS } else { CAP })
}

fn uncapped(_: &str) -> Option<Duration> {
    None
}

/// Limits only openings, and not in `make test-long`.
fn uncapped_but_openings(phase: &str) -> Option<Duration> {
    (phase == "open_close" && !embermark_skips::is_long()).then_some(CAP_OF_OPENINGS)
}

fn open(rows: u64, variant: &str, store: Store, reopener: Reopener) -> Box<dyn Bench> {
    let workload = find("contacts").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rows");
    let source = workload.source(&DataSource::Synthetic, 42).unwrap();
    assert_eq!(source.stage(Scale::Rows(rows), &file).unwrap().rows, rows);
    let spec = Spec::of(file, variant, 7);
    workload.prepare(&spec).unwrap().open(store, reopener).unwrap()
}

fn outcomes(
    engine: &'static dyn Engine,
    rows: u64,
    variant: &str,
    cap: impl Fn(&str) -> Option<Duration>,
) -> Option<Vec<Outcome>> {
    let (_dir, mut options) = options();
    let store = store(engine, &mut options)?;
    let reopener = Reopener::for_engine(engine, options);
    Some(drive_capped(open(rows, variant, store, reopener), 2, cap, |_| true))
}

fn every_answer_is_right(engine: &'static dyn Engine, rows: u64, variant: &str, cap: Caps) {
    let Some(outcomes) = outcomes(engine, rows, variant, cap) else { return };
    assert_eq!(outcomes.iter().map(|outcome| outcome.name).collect::<Vec<_>>(), PHASES);
    let (two_fifths, fifth) = ((rows * 2 / 5).max(1), (rows / 5).max(1));
    let ops = [250, rows, two_fifths, fifth, two_fifths, fifth, two_fifths, fifth];
    for (outcome, ops) in outcomes.into_iter().zip(ops) {
        let what = format!("{} {variant}, {rows} rows: {}", engine.info().id, outcome.name);
        assert_eq!(outcome.wrong, None, "{what}");
        assert_eq!(outcome.ops, ops, "{what}");
        for measured in outcome.measured {
            assert_eq!(measured.capped, measured.ops < ops, "{what}");
            let may_end = cap(outcome.name).is_some();
            assert!(measured.ops <= ops && (may_end || !measured.capped), "{what}");
        }
    }
}

#[test]
fn with_cold_reads_every_phase_but_the_load_begins_cold() {
    let workload = find("contacts").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rows");
    workload.source(&DataSource::Synthetic, 42).unwrap().stage(Scale::Rows(10), &file).unwrap();
    let (_dir, mut options) = options();
    let Some(store) = store(registry::find("memory").unwrap(), &mut options) else { return };
    let spec = Spec { cold: true, ..Spec::of(file, "single", 7) };
    let bench = workload.prepare(&spec).unwrap().open(store, connecting()).unwrap();
    let warm = (0..PHASES.len()).filter(|phase| !bench.begins_cold(*phase));
    assert_eq!(warm.map(|phase| PHASES[phase]).collect::<Vec<_>>(), ["insert"]);
    bench.finish().unwrap();
}

#[test]
fn every_engine_answers_every_phase_rightly() {
    // Opening a database 250 times takes some engines long, so in `make test` only this one does.
    every_answer_is_right(registry::find("lmdb").unwrap(), 500, "single", uncapped);
    let few = VARIANTS.map(|variant| (10, variant, capped as Caps));
    let cases = [(500, "single", uncapped_but_openings as Caps)].into_iter().chain(few);
    for (engine, (rows, variant, cap)) in spread(cases) {
        every_answer_is_right(engine, rows, variant, cap);
    }
}

#[test]
fn every_way_of_inserting_leaves_the_same_rows() {
    for (engine, variant) in spread(["commit-each", "bulk"]) {
        every_answer_is_right(engine, 500, variant, capped);
    }
}

#[test]
fn so_few_rows_that_none_is_chosen_are_no_error() {
    let embedded = |engine: &&dyn Engine| engine.info().kind != Kind::Server;
    let engines = some_candidates().into_iter().filter(embedded).collect();
    let cases = ["single", "row-by-row"].into_iter();
    let cases = cases.flat_map(|variant| (1..=4).map(move |rows| (rows, variant)));
    for (engine, (rows, variant)) in spread_over(engines, cases) {
        every_answer_is_right(engine, rows, variant, capped);
    }
}

#[test]
fn runs_that_stop_at_the_cap_are_right_for_what_they_did() {
    // A series store deletes point by point, which is slow.
    let cells = [("memory", 6_000, &VARIANTS[..]), ("influxdb", 1_500, &VARIANTS[..1])];
    for (id, rows, variants) in cells {
        let Some(engine) = candidates().find(|engine| engine.info().id == id) else { continue };
        for variant in variants {
            let cap = |_: &str| Some(Duration::from_nanos(1));
            let Some(outcomes) = outcomes(engine, rows, variant, cap) else { continue };
            for outcome in outcomes {
                let what = format!("{id} {variant}: {}", outcome.name);
                assert_eq!(outcome.wrong, None, "{what}");
                let changes = ["update_", "delete_"].iter().any(|c| outcome.name.starts_with(c));
                let looping = matches!(outcome.name, "open_close" | "insert")
                    || *variant == "row-by-row" && changes;
                let by_point = id == "influxdb" && outcome.name.ends_with("e_scan");
                for measured in outcome.measured {
                    assert_eq!(measured.capped, looping || by_point, "{what}");
                    assert_eq!(measured.capped, measured.ops < outcome.ops, "{what}");
                }
            }
        }
    }
}

/// What a store does wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    None,
    /// Every hundredth put is forgotten.
    DropsPuts,
    /// A bulk load loses one pair, and counts it.
    DropsInBulk,
    /// Every hundredth value put has one column a little off.
    BendsPuts,
    /// The value got has one column a little off.
    BendsGets,
    /// After it was opened again, no key is found.
    ForgetsWhenClosed,
    /// After it was opened again, a scan finds no row.
    LosesWhenClosed,
    /// The index omits the first row of a range.
    MissesInIndex,
    /// The index returns the first row of a range twice.
    RepeatsInIndex,
    /// The index continues into the next value.
    OverrunsInIndex,
    /// A modify reports that it changed the row, but did not.
    IgnoresUpdates,
    /// A modify reports that the key does not exist.
    DeniesUpdates,
    /// One modify also writes to the row above.
    SpillsUpdates,
    /// A delete reports that it removed the row, but did not.
    IgnoresDeletes,
    /// A delete removes the row, and reports that it did not.
    DeniesDeletes,
    /// One delete also removes the row above.
    SpillsDeletes,
}

struct Liar {
    honest: Plain,
    lie: Lie,
    calls: u64,
    reopened: bool,
    value: Vec<u8>,
}

impl Liar {
    fn tells(&mut self, lie: Lie, every: u64) -> bool {
        if self.lie != lie {
            return false;
        }
        self.calls += 1;
        self.calls.is_multiple_of(every)
    }

    /// Returns the row above one whose change spills over, if the phase itself would leave it
    /// alone.
    fn above(&mut self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>> {
        // Keys are in the order of their ids.
        let id = u32::from_be_bytes(key.try_into().unwrap());
        let above = (id + 1).to_be_bytes();
        let value = self.honest.get(table, &above)?;
        let has = |value: &[u8], text: &[u8]| value.windows(text.len()).any(|some| some == text);
        let is_chosen = |value: &[u8]| has(value, b"TX") || has(value, b"78701-2019");
        Ok(value.filter(|value| !is_chosen(value)).map(|_| above.to_vec()))
    }
}

/// Changes the last digit of the phone number.
fn bend(value: &mut [u8]) {
    *value.last_mut().unwrap() ^= 1;
}

impl Lifecycle for Liar {
    fn maintain(&mut self) -> Result<()> {
        self.honest.maintain()
    }

    fn reconnect(&mut self) -> Option<Result<()>> {
        self.reopened = true;
        Some(Ok(()))
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.honest.0.close()
    }
}

impl KvStore for Liar {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        self.honest.table(def)
    }

    fn keeps_indexes(&self) -> bool {
        true
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        self.reopened &= self.lie != Lie::LosesWhenClosed;
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
    fn find(
        &mut self,
        table: Table,
        index: usize,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let lie = self.lie;
        let to = if lie == Lie::OverrunsInIndex { Some(&b"UU"[..]) } else { range.to };
        let mut seen = 0;
        self.honest.find(table, index, Range { to, ..range }, &mut |key, value| {
            seen += 1;
            match lie {
                Lie::MissesInIndex if seen == 1 => ControlFlow::Continue(()),
                Lie::RepeatsInIndex if seen == 1 => {
                    let _ = visit(key, value);
                    visit(key, value)
                }
                _ => visit(key, value),
            }
        })
    }

    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        if self.lie == Lie::ForgetsWhenClosed && self.reopened {
            return Ok(None);
        }
        let Some(value) = self.honest.get(table, key)? else { return Ok(None) };
        self.value = value;
        if self.tells(Lie::BendsGets, 100) {
            bend(&mut self.value);
        }
        Ok(Some(&self.value))
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        if self.tells(Lie::DropsPuts, 100) {
            return Ok(());
        }
        let mut value = value.to_vec();
        if self.tells(Lie::BendsPuts, 100) {
            bend(&mut value);
        }
        self.honest.put(table, key, &value)
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        if self.tells(Lie::IgnoresUpdates, 50) {
            return Ok(true);
        }
        if self.tells(Lie::DeniesUpdates, 50) {
            return Ok(false);
        }
        if self.lie == Lie::SpillsUpdates
            && let Some(above) = self.above(table, key)?
        {
            self.honest.modify(table, &above, change)?;
        }
        self.honest.modify(table, key, change)
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        if self.tells(Lie::IgnoresDeletes, 50) {
            return Ok(true);
        }
        if self.lie == Lie::SpillsDeletes
            && let Some(above) = self.above(table, key)?
        {
            self.honest.delete(table, &above)?;
        }
        let denies = self.tells(Lie::DeniesDeletes, 50);
        Ok(self.honest.delete(table, key)? && !denies)
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        if self.lie == Lie::LosesWhenClosed && self.reopened {
            return Ok(());
        }
        self.honest.scan(table, range, visit)
    }
}

/// Returns the phases that detect a lie, and their messages.
fn found_out(lie: Lie, variant: &str) -> Vec<(&'static str, String)> {
    let (_dir, mut options) = options();
    let Some(Store::Kv(memory)) = store(registry::find("memory").unwrap(), &mut options) else {
        panic!("memory is no key-value store")
    };
    let honest = Plain(Indexed::new(memory));
    let liar = Liar { honest, lie, calls: 0, reopened: false, value: Vec::new() };
    let outcomes = drive(open(500, variant, Store::Kv(Box::new(liar)), connecting()), 2, None);
    let wrong = outcomes.into_iter().filter_map(|outcome| Some((outcome.name, outcome.wrong?)));
    wrong.inspect(|(_, text)| assert!(text.starts_with("wrong answer: "), "{text}")).collect()
}

fn phases_that_find(lie: Lie, variant: &str) -> Vec<&'static str> {
    found_out(lie, variant).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn an_honest_store_is_not_accused() {
    for variant in VARIANTS {
        assert_eq!(phases_that_find(Lie::None, variant), [""; 0]);
    }
}

#[test]
fn a_row_missing_after_inserting_is_named() {
    for variant in ["single", "commit-each"] {
        let [("insert", text)] = &found_out(Lie::DropsPuts, variant)[..] else {
            panic!("found elsewhere, or not at all")
        };
        assert!(text.ends_with("is missing"), "{text}");
    }
    assert!(phases_that_find(Lie::DropsInBulk, "bulk").contains(&"insert"));
}

#[test]
fn a_wrong_column_is_named_with_both_of_its_values() {
    let [("insert", text)] = &found_out(Lie::BendsPuts, "single")[..] else {
        panic!("found elsewhere, or not at all")
    };
    assert!(text.contains(": phone is Text(") && text.contains(", expected Text("), "{text}");
    assert_eq!(phases_that_find(Lie::BendsGets, "single"), ["open_close"]);
}

#[test]
fn a_database_that_is_empty_when_it_is_opened_again_is_noticed() {
    assert_eq!(phases_that_find(Lie::ForgetsWhenClosed, "single"), ["open_close"]);
    assert_eq!(phases_that_find(Lie::LosesWhenClosed, "no-read"), ["open_close"]);
}

#[test]
fn an_index_that_misses_or_repeats_a_row_or_gives_others_is_wrong() {
    let by_index = ["select_indexed", "update_indexed", "delete_indexed"];
    assert_eq!(phases_that_find(Lie::MissesInIndex, "single"), by_index);
    // Rows found by an index of texts, which cuts them off, are checked by the client.
    assert_eq!(phases_that_find(Lie::OverrunsInIndex, "single"), [""; 0]);
    assert!(phases_that_find(Lie::RepeatsInIndex, "single").contains(&"select_indexed"));
}

#[test]
fn updates_that_did_not_happen_or_touched_another_row_are_noticed() {
    for lie in [Lie::IgnoresUpdates, Lie::DeniesUpdates, Lie::SpillsUpdates] {
        assert_eq!(phases_that_find(lie, "single"), ["update_indexed", "update_scan"], "{lie:?}");
    }
}

#[test]
fn deletes_that_did_not_happen_or_took_another_row_are_noticed() {
    let deletes = ["delete_indexed", "delete_scan"];
    for lie in [Lie::IgnoresDeletes, Lie::SpillsDeletes] {
        assert_eq!(phases_that_find(lie, "single"), deletes, "{lie:?}");
    }
    // Rows are found and removed in one transaction, so the store is not asked whether they exist.
    assert_eq!(phases_that_find(Lie::DeniesDeletes, "single"), [""; 0]);
    // In transactions of their own they are deleted by their keys, and it is asked.
    assert_eq!(phases_that_find(Lie::DeniesDeletes, "row-by-row"), deletes);
}
