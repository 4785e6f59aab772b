//! Questions to a key-value store that also has its tables in columns: either copy answers them
//! correctly, and the result names the one that did.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::common::{connecting, events_seed, options, store};
use embermark_engines::kv::mirror::{Decode, Mirror, Row, Side};
use embermark_engines::kv::{
    Change, KvStore, Operations, Pairs, Range, Table, TableDef, Visit, Work,
};
use embermark_engines::sql::{self, Param, SqlStore};
use embermark_engines::{EngineError, Lifecycle, Result, Scope, Store, registry};
use embermark_meter::Meter;
use embermark_model::Scale;
use embermark_model::plan::DataSource;
use embermark_model::result::Execution;
use embermark_skips::sampled;
use embermark_workloads::{Spec, find};

const ROWS: u64 = 2_000;

/// A store and a copy of its contents, made anew for the first question after a change.
struct Two {
    pairs: Box<dyn KvStore>,
    rows: Box<dyn SqlStore>,
    shown: Option<(Table, Arc<dyn Decode>)>,
    is_stale: bool,
    number: u64,
    side: Option<Side>,
}

impl Lifecycle for Two {
    fn maintain(&mut self) -> Result<()> {
        self.pairs.maintain()
    }

    fn reconnect(&mut self) -> Option<Result<()>> {
        self.shown = None;
        Some(Ok(()))
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.rows.close()?;
        self.pairs.close()
    }
}

impl KvStore for Two {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        self.pairs.table(def)
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        self.is_stale = true;
        self.pairs.clear(table)
    }

    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        self.is_stale = true;
        self.pairs.bulk(table, pairs)
    }

    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        self.is_stale |= scope != Scope::Snapshot;
        self.pairs.transact(scope, &mut |operations| work(&mut Uncounted(operations)))
    }

    fn mirror(&mut self) -> Option<&mut dyn Mirror> {
        Some(self)
    }
}

impl Mirror for Two {
    fn show(&mut self, table: Table, decode: Arc<dyn Decode>) -> Result<()> {
        (self.shown, self.is_stale) = (Some((table, decode)), true);
        Ok(())
    }

    fn refresh(&mut self) -> Result<()> {
        let (table, decode) = self.shown.as_ref().unwrap();
        let def = sql::TableDef { key: &[], ..*decode.rows() };
        self.rows.batch(&format!("DROP TABLE IF EXISTS {}", def.name))?;
        self.rows.batch(&self.rows.dialect().create_table(&def))?;
        let mut pairs = Vec::new();
        self.pairs.within(Scope::Snapshot, |snapshot| {
            snapshot.scan(*table, Range::default(), &mut |key, value| {
                pairs.push((key.to_vec(), value.to_vec()));
                ControlFlow::Continue(())
            })
        })?;
        let mut rows = Decoded { pairs: pairs.iter(), decode: &**decode, row: Row::new() };
        assert_eq!(self.rows.bulk_insert(&def, &mut rows)?, pairs.len() as u64);
        (self.is_stale, self.number) = (false, self.number + 1);
        Ok(())
    }

    fn sql(&mut self) -> Result<(&mut dyn SqlStore, u64)> {
        if self.is_stale {
            self.refresh()?;
        }
        Ok((&mut *self.rows, self.number))
    }

    fn side(&self, _: &str) -> Option<Side> {
        self.side
    }

    fn took(&mut self, _: &str, _: Side, _: Duration) {}

    fn failed(&mut self, _: &EngineError) -> Result<bool> {
        Ok(false)
    }
}

struct Decoded<'a> {
    pairs: std::slice::Iter<'a, (Vec<u8>, Vec<u8>)>,
    decode: &'a dyn Decode,
    row: Row<'a>,
}

impl sql::Rows for Decoded<'_> {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        let (key, value) = self.pairs.next()?;
        self.row.clear();
        self.decode.key(key, &mut self.row).unwrap();
        self.decode.value(value, &mut self.row).unwrap();
        Some(&self.row)
    }
}

/// Operations of a store that does not know its number of pairs.
struct Uncounted<'a>(&'a mut dyn Operations);

impl Operations for Uncounted<'_> {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.0.get(table, key)
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.0.scan(table, range, visit)
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.0.put(table, key, value)
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        self.0.modify(table, key, change)
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.0.delete(table, key)
    }
}

/// Runs the phases of a variant twice over a store whose questions that side has to answer; if
/// there is no side, both do, and the pairs are believed. Returns those that either could have
/// answered.
fn asked(workload: &str, variant: &str, rows: &Path, by: &str, side: Option<Side>) -> Vec<String> {
    let ((_dir, mut options), (_, mut none)) = (options(), options());
    let Some(Store::Sql(columns)) = store(registry::find(by).unwrap(), &mut options) else {
        return Vec::new();
    };
    let Some(Store::Kv(pairs)) = store(registry::find("memory").unwrap(), &mut none) else {
        panic!("memory is no key-value store")
    };
    let two = Two { pairs, rows: columns, shown: None, is_stale: true, number: 0, side };
    let spec = Spec { window: Duration::from_millis(20), ..Spec::of(rows.to_owned(), variant, 7) };
    let prepared = find(workload).unwrap().prepare(&spec).unwrap();
    let mut bench = prepared.open(Store::Kv(Box::new(two)), connecting()).unwrap();
    let native = if side == Some(Side::Rows) { Execution::Native } else { Execution::ClientSide };
    let (mut asked, mut meter) = (Vec::new(), Meter::new(None));
    for (place, phase) in bench.phases().to_vec().into_iter().enumerate() {
        let what = format!("{workload} {variant} {} by {by}, {side:?}", phase.name);
        // They take a second client, or a process.
        if ["insert_http", "open_log", "open_large_log", "count_live"].contains(&phase.name) {
            continue;
        }
        let mut answered_by = None;
        for _ in 0..2 {
            bench.ready(place).unwrap();
            let outcome = bench.run(place, &mut meter).unwrap_or_else(|e| panic!("{what}: {e}"));
            let checked = bench.check(place, &outcome, meter.measured());
            checked.unwrap_or_else(|e| panic!("{what}: {e}"));
            answered_by = outcome.execution;
        }
        if let Some(execution) = answered_by {
            assert_eq!(execution, native, "{what}");
            asked.push(phase.name.to_owned());
        }
    }
    bench.finish().unwrap();
    asked
}

/// Asserts that every question is answered correctly by either side and by both. The columns are in
/// one of two engines, as [`sampled`], or in each.
fn either_copy_answers(workload: &str, variant: &str, questions: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let rows = dir.path().join("rows");
    let source = find(workload).unwrap().source(&DataSource::Synthetic, events_seed(ROWS)).unwrap();
    source.stage(Scale::Rows(ROWS), &rows).unwrap();
    for by in sampled(["sqlite", "duckdb"], 1) {
        for side in [Some(Side::Rows), Some(Side::Pairs), None] {
            let asked = asked(workload, variant, &rows, by, side);
            assert!(asked.is_empty() && by == "duckdb" || asked == questions, "{by}: {asked:?}");
        }
    }
}

const OF_SENSORS: [&str; 10] = [
    "avg_sensor",
    "hot_sensors",
    "anomalies",
    "daily_summary",
    "outages",
    "most_readings",
    "hottest",
    "topk_sensors",
    "compare_two",
    "full_profile",
];

#[test]
fn questions_of_sensors() {
    either_copy_answers("sensors", "bulk", &OF_SENSORS);
}

#[test]
fn questions_of_one_sensor_after_the_other() {
    either_copy_answers("sensors", "asked", &OF_SENSORS);
}

#[test]
fn questions_of_events() {
    for variant in ["none", "combined"] {
        either_copy_answers("events", variant, &["gps", "co2", "logs"]);
    }
}

#[test]
fn selections_of_contacts() {
    either_copy_answers("contacts", "bulk", &["select_indexed", "select_scan"]);
}

#[test]
fn the_count_of_dogs() {
    either_copy_answers("htap", "bulk", &["count", "insert_count"]);
}
