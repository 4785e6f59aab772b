//! YCSB's workloads A and C: the built-in files, and bare loops that do the same operations.

use std::ffi::{c_char, c_int, c_void};
use std::fs;
use std::path::{Path, PathBuf};
use std::ptr;
use std::time::Instant;

use embermark_data::draw::Draw;
use embermark_data::table::StagedTable;
use embermark_data::zipf::{Zipf, scrambled};
use embermark_engines::{Reopener, registry};
use embermark_language::{BUILT_IN, parse};
use embermark_meter::Meter;
use embermark_model::Scale;
use embermark_model::plan::DataSource;
use embermark_model::table::Value;
use embermark_workloads::defined::Defined;
use embermark_workloads::{Spec, Workload};
use serde_json::Value as Json;

use crate::Failure;
use crate::loops::{Database, RowSum, done};
use crate::pair::{self, MEMORY, Side};
use crate::rows::SEED;

/// The files that are compared, and their names in the table.
pub const WORKLOADS: [(&str, &str); 2] =
    [("ycsb-c", "YCSB C, one transaction"), ("ycsb-a", "YCSB A, a transaction each")];

/// Number of records: 10 MB, which the caches hold, so that the harness shows beside the engine.
pub const RECORDS: usize = 10_000;
/// Number of operations of a run, as in the files.
const OPERATIONS: usize = 100_000;
/// Number of runs of each side. The first is discarded.
pub const RUNS: usize = 6;
const FIELDS: usize = 10;
const FIELD_BYTES: usize = 100;
/// YCSB's parameters: `ZipfianGenerator` over this number of items, scrambled.
const SKEW: f64 = 0.99;
const ITEMS: u64 = 10_000_000_000;

/// `struct record`.
#[repr(C)]
struct Record {
    key: *const c_char,
    fields: *const c_char,
    key_bytes: usize,
}

/// `struct operation`.
#[repr(C)]
struct Operation {
    key: *const c_char,
    text: *const c_char,
    key_bytes: usize,
    field: usize,
}

/// `struct ycsb`.
#[repr(C)]
struct Functions {
    load: unsafe extern "C" fn(*mut c_void, *const Record, usize) -> c_int,
    run: unsafe extern "C" fn(*mut c_void, *const Operation, usize, c_int, *mut RowSum) -> c_int,
}

unsafe extern "C" {
    static bare_sqlite_ycsb: Functions;
    static bare_lmdb_ycsb: Functions;
    static bare_rocksdb_ycsb: Functions;
}

fn functions(engine: &str) -> Option<&'static Functions> {
    // SAFETY: constants of the C files, with the type in their header.
    unsafe {
        match engine {
            "sqlite" => Some(&bare_sqlite_ycsb),
            "lmdb" => Some(&bare_lmdb_ycsb),
            "rocksdb" => Some(&bare_rocksdb_ycsb),
            _ => None,
        }
    }
}

/// Whether that engine has these loops.
pub fn is_compiled_in(engine: &str) -> bool {
    functions(engine).is_some()
}

/// An operation: the index of its record, and the field that it sets to a text, or `None` for a
/// read.
struct DrawnOperation {
    record: usize,
    set: Option<(usize, String)>,
}

/// Records, and the operations on them.
struct YcsbWork {
    /// Keys and fields.
    records: Vec<(String, String)>,
    drawn: Vec<DrawnOperation>,
    /// Whether all operations are reads, in one transaction.
    only_reads: bool,
}

impl YcsbWork {
    /// Returns the staged records and the operations of the bare loop. They follow the workload's
    /// distribution, in a different order if half of them write.
    fn from_staged(workload: &str, staged: &Path, rows: usize) -> Result<Self, Failure> {
        let tables: Json = serde_json::from_slice(&fs::read(staged)?)?;
        let file = tables[0]["file"].as_str().ok_or("what was staged names no file")?;
        let table = StagedTable::open(Path::new(file))?;
        let text = |row: usize, column: usize| match table.value(row, column) {
            Value::Text(text) => Ok(text.to_owned()),
            other => Err(Failure::from(format!("a column of YCSB is not a text: {other:?}"))),
        };
        let record = |row| {
            let fields: Result<String, _> = (1..=FIELDS).map(|column| text(row, column)).collect();
            Ok((text(row, 0)?, fields?))
        };
        let records: Result<Vec<_>, Failure> = (0..rows).map(record).collect();
        let only_reads = workload == "ycsb-c";
        // Of the phase after `load`, as the workload draws it.
        let (mut keys, mut other) = (Draw::new(SEED, 101), Draw::new(SEED, 1));
        let law = Zipf::new(ITEMS, SKEW);
        let operation = |_| DrawnOperation {
            record: scrambled(law.draw(&mut keys), rows as u64) as usize,
            set: (!only_reads && other.below(2) == 0).then(|| {
                let text = (0..FIELD_BYTES).map(|_| char::from(b'!' + other.below(94) as u8));
                let text = text.collect();
                (other.below(FIELDS), text)
            }),
        };
        let drawn = (0..OPERATIONS).map(operation).collect();
        Ok(Self { records: records?, drawn, only_reads })
    }

    /// Returns what the reads must find, each after the updates before it.
    fn expected(&self) -> RowSum {
        let mut now: Vec<Vec<u64>> = self.records.iter().map(|(_, fields)| sums(fields)).collect();
        let mut found = RowSum::default();
        for DrawnOperation { record, set } in &self.drawn {
            match set {
                Some((field, text)) => now[*record][*field] = sums(text)[0],
                None => {
                    found.rows += 1;
                    found.sum = now[*record].iter().fold(found.sum, |sum, f| sum.wrapping_add(*f));
                }
            }
        }
        found
    }
}

/// Returns for each field what `add_field` in `loops.h` adds.
fn sums(fields: &str) -> Vec<u64> {
    let field = |bytes: &[u8]| {
        let (words, rest) = bytes.as_chunks::<8>();
        let sum =
            words.iter().fold(0, |sum: u64, word| sum.wrapping_add(u64::from_ne_bytes(*word)));
        let rest = rest.try_into().map_or(0, u32::from_ne_bytes);
        sum.wrapping_add(u64::from(rest))
    };
    fields.as_bytes().chunks(FIELD_BYTES).map(field).collect()
}

/// A bare loop's database, with the work in its form.
struct Bare<'a> {
    database: Database,
    functions: &'static Functions,
    work: &'a YcsbWork,
    records: Vec<Record>,
    operations: Vec<Operation>,
    /// The operations' keys in their order, as embermark has them: no cache miss for a key.
    _keys: String,
}

impl<'a> Bare<'a> {
    fn open(engine: &str, dir: &Path, work: &'a YcsbWork) -> Result<Self, Failure> {
        let functions = functions(engine).ok_or("it has no bare loop of YCSB")?;
        let records = work.records.iter().map(|(key, fields)| Record {
            key: key.as_ptr().cast(),
            fields: fields.as_ptr().cast(),
            key_bytes: key.len(),
        });
        let key = |drawn: &DrawnOperation| work.records[drawn.record].0.as_str();
        let keys: String = work.drawn.iter().map(key).collect();
        let mut rest = keys.as_str();
        let operations = work.drawn.iter().map(|drawn| {
            let (own, others) = rest.split_at(key(drawn).len());
            rest = others;
            Operation {
                key: own.as_ptr().cast(),
                text: drawn.set.as_ref().map_or(ptr::null(), |(_, text)| text.as_ptr().cast()),
                key_bytes: own.len(),
                field: drawn.set.as_ref().map_or(0, |(field, _)| *field),
            }
        });
        let (records, operations) = (records.collect(), operations.collect());
        let database = Database::open(engine, dir, MEMORY)?;
        Ok(Self { database, functions, work, records, operations, _keys: keys })
    }

    /// Loads every record again.
    fn load(&mut self) -> Result<(), Failure> {
        let (records, count) = (self.records.as_ptr(), self.records.len());
        // SAFETY: open, with as many records as stated, whose texts live as long as `work`.
        done(unsafe { (self.functions.load)(self.database.handle(), records, count) }, "load")?;
        self.database.maintain()
    }

    /// Does every operation. Returns ns per operation.
    fn run(&mut self) -> Result<(f64, RowSum), Failure> {
        let mut found = RowSum::default();
        let (operations, count) = (self.operations.as_ptr(), self.operations.len());
        let (handle, in_one) = (self.database.handle(), c_int::from(self.work.only_reads));
        let start = Instant::now();
        // SAFETY: open, with as many operations as stated, whose texts live as long as `work`.
        let code = unsafe { (self.functions.run)(handle, operations, count, in_one, &mut found) };
        let ns = start.elapsed().as_nanos() as f64 / count as f64;
        done(code, "run").map(|()| (ns, found))
    }
}

/// Opens the built-in file with that name.
fn built_in(name: &str) -> Result<&'static dyn Workload, Failure> {
    let of = |(known, _): &&(&str, &str)| *known == name;
    let (_, text) = BUILT_IN.iter().find(of).ok_or("it is not a built-in file")?;
    Ok(Defined::leak(parse(name, text, &[])?, PathBuf::new(), 0.0))
}

/// Runs one pair on an engine, below an empty folder, with this number of records and of runs.
/// Returns ns per operation of embermark and of the bare loop, medians of the counted runs.
pub fn pair(
    workload: &str,
    engine: &str,
    dir: &Path,
    records: usize,
    runs: usize,
) -> Result<[f64; 2], Failure> {
    let [ours, theirs, staged] = ["ours", "theirs", "rows"].map(|side| dir.join(side));
    fs::create_dir(&ours)?;
    fs::create_dir(&theirs)?;
    let file = built_in(workload)?;
    file.source(&DataSource::Synthetic, SEED)?.stage(Scale::Rows(records as u64), &staged)?;
    let variant = file.info().variants[0].name;
    let prepared = file.prepare(&Spec::of(staged.clone(), variant, SEED))?;
    let (options, measured) = (pair::options(ours), registry::find(engine)?);
    let store = measured.open(&options)?.store;
    let mut bench = prepared.open(store, Reopener::for_engine(measured, options))?;
    let work = YcsbWork::from_staged(workload, &staged, records)?;
    let mut bare = Bare::open(engine, &theirs, &work)?;
    bare.load()?;
    let (place, expected) = (pair::phase(&*bench, "run")?, work.expected());
    let mut meter = Meter::new(None);
    let figures = pair::turns(runs, |side| match side {
        Side::Embermark => pair::timed(&mut *bench, place, &mut meter).map(|(ns, _)| ns),
        Side::Tool => {
            // The workload also begins with its records as they were loaded.
            if !work.only_reads {
                bare.load()?;
            }
            match bare.run()? {
                (ns, found) if found == expected => Ok(ns),
                (_, found) => Err(format!("the loop found {found:?}, and not {expected:?}").into()),
            }
        }
    })?;
    bare.database.close()?;
    bench.finish()?;
    Ok(pair::medians(&figures))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bare_loop_of_ycsb_finds_what_it_wrote_and_so_does_the_workload() {
        let runs = embermark_skips::cases(2, RUNS);
        for engine in embermark_skips::sampled(["sqlite", "lmdb", "rocksdb"], 1) {
            if !embermark_skips::is_here(registry::find(engine).unwrap()) {
                continue;
            }
            for (workload, _) in WORKLOADS {
                let dir = tempfile::tempdir().unwrap();
                let figures = pair(workload, engine, dir.path(), 200, runs).unwrap();
                assert!(figures.iter().all(|ns| *ns > 0.0), "{engine} {workload}: {figures:?}");
            }
        }
    }
}
