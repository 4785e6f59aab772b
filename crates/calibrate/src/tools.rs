//! The engines' own tools: how each is called, and how its output is read.

use std::path::{Path, PathBuf};
use std::process::Command;

use embermark_engines::registry;
use embermark_libraries::search_path::on_search_path;

use crate::Failure;
use crate::rows::{SENSORS, START, STEP};

/// A server as its tools address it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerAddress {
    /// PostgreSQL: the folder of its socket.
    Postgres(String),
    /// MariaDB: its database and socket.
    MariaDb(String, String),
}

impl ServerAddress {
    /// Parses what the adapter tells a second process about its server.
    pub fn parse(engine: &str, at: &str) -> Result<Self, Failure> {
        let place = match engine {
            "postgres" => at
                .split(' ')
                .find_map(|word| word.strip_prefix("host="))
                .map(|folder| Self::Postgres(folder.to_owned())),
            _ => at
                .split_once(" unix:")
                .map(|(database, socket)| Self::MariaDb(database.to_owned(), socket.to_owned())),
        };
        place.ok_or_else(|| format!("no socket of {engine} in '{at}'").into())
    }
}

/// Finds a tool of an engine: beside its programs, with links followed, so that it has their
/// version; otherwise on the search path.
pub fn program(engine: &str, name: &str) -> Option<PathBuf> {
    let programs = registry::find(engine).ok()?.programs().into_iter();
    let files = programs.filter_map(|(_, program)| program.canonicalize().ok());
    let mut beside = files.map(|file| file.with_file_name(name));
    beside.find(|tool| tool.is_file()).or_else(|| on_search_path(name))
}

/// Returns the pgbench command with prepared statements on a server, for this number of reads, each
/// in its own transaction.
pub fn pgbench(
    pgbench: &Path,
    place: &ServerAddress,
    times: u16,
    reads: usize,
) -> Result<Command, Failure> {
    let ServerAddress::Postgres(folder) = place else {
        return Err("pgbench is PostgreSQL's".into());
    };
    let mut command = Command::new(pgbench);
    command.args(["-n", "-M", "prepared", "-c", "1", "-j", "1", "-t"]).arg(reads.to_string());
    for (name, value) in [
        ("sensors", i64::from(SENSORS)),
        ("times", i64::from(times)),
        ("start", START),
        ("step", STEP),
    ] {
        command.arg("-D").arg(format!("{name}={value}"));
    }
    command.arg("-f").arg(script("points.pgbench"));
    command.args(["-h", folder, "-U", "postgres", "postgres"]);
    Ok(command)
}

/// Returns the sysbench command with prepared statements on a server, for this number of reads of a
/// file of keys. Each is a transaction, or, if `begin` says how one begins, all are in one.
pub fn sysbench(
    sysbench: &Path,
    place: &ServerAddress,
    keys: &Path,
    reads: usize,
    begin: Option<&str>,
) -> Command {
    let mut command = Command::new(sysbench);
    command.arg(script("points.lua"));
    match place {
        ServerAddress::Postgres(folder) => {
            command.args(["--db-driver=pgsql", "--pgsql-user=postgres", "--pgsql-db=postgres"]);
            command.arg(format!("--pgsql-host={folder}"));
        }
        ServerAddress::MariaDb(database, socket) => {
            command.args(["--db-driver=mysql", "--mysql-user=root"]);
            command.arg(format!("--mysql-db={database}")).arg(format!("--mysql-socket={socket}"));
        }
    }
    command.args(["--threads=1", "--time=0"]).arg(format!("--events={reads}"));
    command.arg(format!("--keys={}", keys.display()));
    if let Some(begin) = begin {
        command.arg(format!("--begin={begin}"));
    }
    command.arg("run");
    command
}

/// Finds RocksDB's `db_bench` with that version. Another version's reads cannot be compared.
///
/// # Errors
/// If there is none. The error gives the reason.
pub fn db_bench_of(version: &str) -> Result<PathBuf, String> {
    let program = program("rocksdb", "db_bench").ok_or_else(|| absent("db_bench"))?;
    let said = Command::new(&program).arg("--version").output();
    let said = said.map_err(|error| format!("{}: {error}", program.display()))?.stdout;
    match version_in(&String::from_utf8_lossy(&said)) {
        Some(own) if own == version => Ok(program),
        own => Err(format!(
            "db_bench is of version {}, and the library of {version}; name the folder of the system's \
             librocksdb.so in ROCKSDB_LIB_DIR to compare the two of the system",
            own.unwrap_or("unknown")
        )),
    }
}

/// Returns `7.8.3` for `db_bench version 7.8.3`.
fn version_in(said: &str) -> Option<&str> {
    said.trim().strip_prefix("db_bench version ")
}

/// Reports that a tool is missing, and what to do.
pub fn absent(tool: &str) -> String {
    format!("{tool} is not installed; run scripts/deps.sh tools")
}

/// Returns the `db_bench` command on a database that it makes itself, with as many keys and bytes
/// and the same options: random reads, with a first round that warms the cache.
pub fn db_bench(db_bench: &Path, dir: &Path, memory: u64, rows: usize) -> Command {
    let mut command = Command::new(db_bench);
    let (buffers, cache, file) = (memory / 4, memory - memory / 4, memory / 10);
    command.arg(format!("--db={}", dir.display())).arg(format!("--num={rows}"));
    command.arg(format!("--db_write_buffer_size={buffers}"));
    command.arg(format!("--write_buffer_size={buffers}")).arg(format!("--cache_size={cache}"));
    command.arg(format!("--cache_numshardbits={}", (cache / file).ilog2()));
    command.arg(format!("--target_file_size_base={file}"));
    command.arg(format!("--max_bytes_for_level_base={}", 4 * buffers));
    command.args([
        "--benchmarks=fillseq,flush,compact,readrandom,readrandom[X5]",
        "--key_size=10",
        "--value_size=33",
        "--block_size=16384",
        "--bloom_bits=10",
        "--cache_index_and_filter_blocks=1",
        "--pin_l0_filter_and_index_blocks_in_cache=1",
        "--level_compaction_dynamic_level_bytes=1",
        "--threads=1",
        "--seed=42",
    ]);
    command
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts").join(name)
}

/// Runs a tool to its end and returns its output.
pub fn output_of(mut command: Command) -> Result<String, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("start {name}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    Err(format!(
        "{name} failed: {}\n{text}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    )
    .into())
}

/// Returns ns per transaction from pgbench's output, if all of `reads` were done.
///
/// `tps = 21871.473212 (without initial connection time)`
pub fn pgbench_ns(said: &str, reads: usize) -> Option<f64> {
    let done = format!("number of transactions actually processed: {reads}/{reads}");
    let tps = said.lines().find_map(|line| {
        line.strip_prefix("tps = ")?.strip_suffix(" (without initial connection time)")
    })?;
    let tps: f64 = tps.parse().ok()?;
    (said.lines().any(|line| line == done) && tps > 0.0).then(|| 1e9 / tps)
}

/// Returns ns per event from sysbench's output, if all of `reads` were done and all `rows` were
/// found, which the script reports.
///
/// ` total time: 0.8512s`
pub fn sysbench_ns(said: &str, reads: usize, rows: u64) -> Option<f64> {
    let value =
        |name: &str| said.lines().find_map(|line| line.trim().strip_prefix(name)).map(str::trim);
    let seconds: f64 = value("total time:")?.strip_suffix('s')?.parse().ok()?;
    let events: usize = value("total number of events:")?.parse().ok()?;
    let found: u64 = value("rows found:")?.parse().ok()?;
    (events == reads && found == rows && seconds > 0.0).then(|| seconds * 1e9 / reads as f64)
}

/// Returns ns per read from the output of `db_bench`: the mean over its rounds without the first,
/// which warms the cache.
///
/// `readrandom : 1.394 micros/op 717309 ops/sec 0.139 seconds 100008 operations; 29.4 MB/s (…)`
pub fn db_bench_ns(said: &str) -> Option<f64> {
    let rounds = said.lines().filter_map(|line| {
        let told = line.strip_prefix("readrandom")?.trim_start().strip_prefix(':')?;
        told.split_once(" micros/op")?.0.trim().parse().ok()
    });
    let micros: Vec<f64> = rounds.skip(1).filter(|micros| *micros > 0.0).collect();
    (!micros.is_empty()).then(|| micros.iter().sum::<f64>() * 1e3 / micros.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_is_not_beside_an_engines_programs_is_one_of_the_search_path() {
        assert_eq!(program("sqlite", "sh"), on_search_path("sh"));
        assert!(program("postgres", "sh").is_some());
        assert_eq!(program("postgres", "no-program-has-this-name"), None);
        assert_eq!(program("oracle", "sh"), None);
        for (name, path) in registry::find("postgres").unwrap().programs() {
            assert_eq!(program("postgres", name), path.canonicalize().ok());
        }
    }

    const PGBENCH: &str = "pgbench (15.18 (Debian 15.18-0+deb12u1))\ntransaction type: points.pgbench\n\
    scaling factor: 1\nquery mode: prepared\nnumber of clients: 1\nnumber of threads: 1\n\
    maximum number of tries: 1\nnumber of transactions per client: 19980\n\
    number of transactions actually processed: 19980/19980\n\
    number of failed transactions: 0 (0.000%)\nlatency average = 0.050 ms\n\
    initial connection time = 2.017 ms\n\
    tps = 20000.000000 (without initial connection time)\n";

    #[test]
    fn pgbench_is_read_to_more_digits_than_its_latency_has() {
        assert_eq!(pgbench_ns(PGBENCH, 19_980), Some(50_000.0));
        assert_eq!(pgbench_ns(PGBENCH, 20_000), None, "a run that ended early is no measurement");
        assert_eq!(pgbench_ns("tps = 0.000000 (without initial connection time)", 0), None);
        assert_eq!(pgbench_ns("", 1), None);
    }

    #[test]
    fn sysbench_is_read_by_its_total_time_when_every_row_was_found() {
        let said = "SQL statistics:\n    queries performed:\n        read:  19980\n\
        General statistics:\n    total time:                          0.9990s\n    \
        total number of events:              19980\nrows found: 19668\n";
        assert_eq!(sysbench_ns(said, 19_980, 19_668), Some(50_000.0));
        assert_eq!(sysbench_ns(said, 20_000, 19_668), None);
        assert_eq!(sysbench_ns(said, 19_980, 19_980), None, "it did not find every row");
        let at_once = "total time: 0.0000s\ntotal number of events: 1\nrows found: 1";
        assert_eq!(sysbench_ns(at_once, 1, 1), None);
    }

    #[test]
    fn db_bench_is_of_the_version_of_the_library_or_left_out() {
        assert_eq!(version_in("db_bench version 7.8.3\n"), Some("7.8.3"));
        assert_eq!(version_in("db_bench"), None);
        let why = db_bench_of("0.1").unwrap_err();
        let absent = why.contains("scripts/deps.sh tools");
        assert!(absent || why.contains("and the library of 0.1"), "{why}");
    }

    #[test]
    fn db_bench_is_read_by_its_rounds_and_the_first_of_them_only_warms_up() {
        let round = |micros: &str| format!("readrandom   :       {micros} micros/op 1 ops/sec\n");
        let average = "readrandom [AVG 2 runs] : 125421 (± 74454) ops/sec;    5.1 (± 3.1) MB/sec\n";
        let said = format!(
            "fillseq      :       7.289 micros/op 137180 ops/sec\n{}{}{}{average}",
            round("9.000"),
            round("1.000"),
            round("2.000")
        );
        assert_eq!(db_bench_ns(&said), Some(1_500.0));
        assert_eq!(db_bench_ns(&round("9.000")), None);
    }

    #[test]
    fn a_server_is_found_in_what_its_adapter_tells_a_second_process() {
        let at = "- host=/proc/7/fd/9/run user=postgres dbname=postgres application_name=x";
        let postgres = ServerAddress::parse("postgres", at).unwrap();
        assert_eq!(postgres, ServerAddress::Postgres("/proc/7/fd/9/run".to_owned()));
        let mariadb =
            ServerAddress::parse("mariadb", "embermark unix:/proc/7/fd/9/run/socket").unwrap();
        let socket = "/proc/7/fd/9/run/socket".to_owned();
        assert_eq!(mariadb, ServerAddress::MariaDb("embermark".to_owned(), socket));
        assert!(ServerAddress::parse("mariadb", "embermark mysql://root@127.0.0.1:1/").is_err());
    }
}
