//! Servers: one started by embermark, like in every trial, from which both sides read in turns.

use std::fs;
use std::path::{Path, PathBuf};

use embermark_engines::sql::{Param, SqlStore, Statement};
use embermark_engines::{Engine, Join, Reopener, Store};
use embermark_meter::Meter;
use embermark_model::fingerprint::Checksum;
use embermark_model::{Key, Reading};
use embermark_workloads::Bench;

use crate::line::Line;
use crate::pair::{Side, options, phase, timed, turns};
use crate::tools::{self, ServerAddress};
use crate::{Failure, rows};

/// Number of times of the grid: 54 by 185 is 9,990 rows, about half a second of a server's reads.
pub const TIMES: u16 = 185;
/// Number of rows of that grid, the first of the larger one's.
pub const ROWS: usize = TIMES as usize * rows::SENSORS as usize;

/// A comparison on one server: one of embermark's ways with a tool.
struct Comparison {
    work: &'static str,
    tool: &'static str,
    /// Whether reads use the workload's phase in one transaction, or otherwise each its own.
    phase: bool,
}

/// The comparisons. pgbench is only for PostgreSQL.
const COMPARISONS: [Comparison; 3] = [
    Comparison { work: "read, a transaction each", tool: "pgbench", phase: false },
    Comparison { work: "read, a transaction each", tool: "sysbench", phase: false },
    Comparison { work: "read, one transaction", tool: "sysbench", phase: true },
];

fn comparisons(engine: &str) -> impl Iterator<Item = &'static Comparison> {
    COMPARISONS
        .iter()
        .filter(move |comparison| engine == "postgres" || comparison.tool != "pgbench")
}

/// Returns the first missing tool that an engine would be compared with.
pub fn missing_tool(engine: &str) -> Option<&'static str> {
    comparisons(engine)
        .map(|comparison| comparison.tool)
        .find(|tool| tools::program(engine, tool).is_none())
}

/// A server with the rows in it, and embermark's two ways to read them.
struct Server {
    bench: Box<dyn Bench>,
    phase: usize,
    meter: Meter,
    single_reads: SingleReads,
    place: ServerAddress,
    keys: PathBuf,
}

/// Reads by a second connection, each in its own transaction.
struct SingleReads {
    store: Box<dyn SqlStore>,
    read: Statement,
    meter: Meter,
    keys: Vec<Key>,
    expected: Checksum,
}

/// Compares an engine with its tools, `count` times in turns.
pub fn compare(
    engine: &'static dyn Engine,
    version: &str,
    folder: &Path,
    count: usize,
) -> Result<Vec<Line>, Failure> {
    let id = engine.info().id;
    let mut server = Server::start(engine, folder)?;
    let mut lines = Vec::new();
    for comparison in comparisons(id) {
        let mut line = Line::new(id, version, comparison.work, comparison.tool);
        // The first turn warms both up.
        let figures = turns(count + 1, |side| match side {
            Side::Embermark => server.measure_embermark(comparison),
            Side::Tool => server.measure_tool(id, comparison),
        })?;
        figures.into_iter().for_each(|both| line.push(both));
        lines.push(line);
    }
    server.stop()?;
    Ok(lines)
}

impl Server {
    fn start(engine: &'static dyn Engine, folder: &Path) -> Result<Self, Failure> {
        let (staged, keys, dir) = (folder.join("rows"), folder.join("keys"), folder.join("server"));
        rows::stage(&staged, TIMES)?;
        let readings = rows::readings(&staged)?;
        let places = rows::drawn(readings.len());
        let drawn: Vec<Key> = places.iter().map(|place| readings[*place].key()).collect();
        let lines: Vec<_> =
            drawn.iter().map(|key| format!("{} {}\n", key.sensor, key.ts)).collect();
        fs::write(&keys, lines.concat())?;
        fs::create_dir(&dir)?;
        let options = options(dir);
        let prepared = rows::prepare(&staged)?;
        let opened = engine.open(&options)?;
        let Store::Sql(store) = opened.store else { return Err("it answers no SQL".into()) };
        let Join::At(at) = store.join() else { return Err("it takes no second client".into()) };
        let mut bench =
            prepared.open(Store::Sql(store), Reopener::for_engine(engine, options.clone()))?;
        let phase = phase(&*bench, "read")?;
        // Loads the rows and runs the maintenance, after which a second connection finds the table.
        bench.ready(phase)?;
        let Store::Sql(mut store) = engine.join(&options, &at)? else {
            return Err("no SQL".into());
        };
        let dialect = store.dialect();
        let select = format!(
            "SELECT temperature, humidity, light, voltage FROM {} WHERE sensor = {} AND ts = {}",
            dialect.table("readings"),
            dialect.placeholder(1),
            dialect.placeholder(2)
        );
        let read = store.prepare(&select)?;
        let expected = rows::checksum(&readings, &places, false);
        let single_reads =
            SingleReads { store, read, meter: Meter::new(None), keys: drawn, expected };
        let place = ServerAddress::parse(engine.info().id, &at)?;
        Ok(Self { bench, phase, meter: Meter::new(None), single_reads, place, keys })
    }

    /// Returns ns per read of embermark.
    fn measure_embermark(&mut self, comparison: &Comparison) -> Result<f64, Failure> {
        if comparison.phase {
            timed(&mut *self.bench, self.phase, &mut self.meter).map(|(ns, _)| ns)
        } else {
            self.single_reads.run()
        }
    }

    /// Returns ns per read of the tool.
    fn measure_tool(&self, engine: &str, comparison: &Comparison) -> Result<f64, Failure> {
        let program = tools::program(engine, comparison.tool).ok_or("its tool is gone")?;
        let reads = self.single_reads.keys.len();
        let (said, ns) = if comparison.tool == "pgbench" {
            let said = tools::output_of(tools::pgbench(&program, &self.place, TIMES, reads)?)?;
            let ns = tools::pgbench_ns(&said, reads);
            (said, ns)
        } else {
            let begin = comparison.phase.then_some(match engine {
                "postgres" => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
                _ => "START TRANSACTION READ ONLY",
            });
            let command = tools::sysbench(&program, &self.place, &self.keys, reads, begin);
            let said = tools::output_of(command)?;
            let ns = tools::sysbench_ns(&said, reads, self.single_reads.expected.rows);
            (said, ns)
        };
        ns.ok_or_else(|| {
            format!("{} reports no time for {reads} reads:\n{said}", comparison.tool).into()
        })
    }

    fn stop(self) -> Result<(), Failure> {
        self.single_reads.store.close()?;
        Ok(self.bench.finish()?)
    }
}

impl SingleReads {
    fn run(&mut self) -> Result<f64, Failure> {
        let Self { store, read, meter, keys, expected } = self;
        let mut found = Checksum::default();
        meter.start();
        let done = meter.each(keys.len() as u64, |i| {
            let key = keys[i];
            let params = [Param::Int(i64::from(key.sensor)), Param::Int(key.ts)];
            store.query(*read, &params, &mut |row| {
                let values = [row.float(0)?, row.float(1)?, row.float(2)?, row.float(3)?];
                found += rows::fingerprint(&Reading::new(key, values));
                Ok(())
            })
        });
        meter.stop();
        done?;
        if found != *expected {
            return Err(format!("single reads found {found:?}, and not {expected:?}").into());
        }
        let measured = meter.measured();
        Ok(measured.elapsed_ns as f64 / measured.ops as f64)
    }
}
