//! A process that is killed in the middle of anything: nothing that it acknowledged is lost,
//! nothing is duplicated, and the rows match the pairs.
//!
//! The killed program is this test program. An environment variable holds its arguments.

use std::io::{BufRead, BufReader, Write, stdout};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::{as_store, close, key, open_over, options, pairs, rows, value};
use embermark_contract::Scope;
use embermark_contract::kv::KvStore;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Environment variable with the engine, the folder, the milliseconds between refreshes and the
/// number of the round.
const ARGUMENTS: &str = "EMBERMARK_HYBRID_WRITES";

/// Number of rows per transaction.
const ROWS: u32 = 20;

/// Writes transactions forever. The rows of each have its number, and those of an earlier one are
/// removed. It queries in between, so that the mirror is refreshed, written and, after another
/// round, rebuilt.
#[test]
#[ignore = "run in a process of its own by another test"]
fn writes() {
    let arguments = std::env::var(ARGUMENTS).unwrap();
    let [engine, folder, every, round] =
        arguments.split('\n').collect::<Vec<_>>().try_into().unwrap();
    let (every, round): (u64, u16) = (every.parse().unwrap(), round.parse().unwrap());
    let mut options = options(Path::new(folder));
    options.refresh_every = (every > 0).then_some(Duration::from_millis(every));
    options.write_after = 50;
    let (mut hybrid, table) = open_over(engine, Path::new(folder), options);
    let mut number: u32 = 0;
    loop {
        number += 1;
        as_store(&mut hybrid)
            .within(Scope::Batch, |batch| {
                for row in 0..ROWS {
                    batch.put(table, &key(round, number * ROWS + row), &value(1, "new"))?;
                    if number > 3 {
                        let old = key(round, (number - 3) * ROWS + row);
                        batch.modify(table, &old, &mut |value| value[0] = 2)?;
                    }
                }
                Ok(())
            })
            .unwrap();
        writeln!(stdout(), "{number}").unwrap();
        if number.is_multiple_of(3) {
            hybrid.mirror().unwrap().sql().unwrap();
        }
    }
}

fn begin(engine: &str, folder: &Path, every: u64, round: u16) -> Child {
    let arguments = format!("{engine}\n{}\n{every}\n{round}", folder.display());
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "kill::writes", "--ignored", "--nocapture"]).env(ARGUMENTS, arguments);
    child.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Kills a writer after a while, and checks the stored data each time: `kills` times, or six unless
/// campaigns are whole.
fn survives(engine: &str, kills: u16, every: u64, seed: u64) {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut acknowledged = Vec::new();
    let kills = if embermark_skips::is_long() { kills } else { kills.min(6) };
    for round in 0..kills {
        let mut child = begin(engine, folder.path(), every, round);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut commits = lines.filter_map(|line| line.ok()?.parse::<u32>().ok());
        // Every third one may be killed while it opens the database, however long that takes here.
        let first = if round % 3 < 2 { commits.next() } else { None };
        std::thread::sleep(Duration::from_micros(random.random_range(20_000..250_000)));
        child.kill().unwrap();
        let last = commits.chain(first).max().unwrap_or(0);
        child.wait().unwrap();
        acknowledged.push(last);
        let (mut hybrid, table) = open_over(engine, folder.path(), options(folder.path()));
        let (pairs, rows) = (pairs(&mut hybrid, table), rows(&mut hybrid));
        assert!(pairs == rows, "{engine}, round {round}: the rows are not the pairs");
        for (round, last) in (0..).zip(&acknowledged) {
            let count = pairs.range((round, 0)..(round + 1, 0)).count() as u32;
            assert!(count.is_multiple_of(ROWS), "{engine}, round {round}: part of a transaction");
            // One more may have been committed without being acknowledged yet.
            let commits = count / ROWS;
            assert!((*last..=last + 1).contains(&commits), "{engine}: {commits} of {last}");
        }
        // Sometimes it is left closed, with a matching mirror.
        if random.random_bool(0.5) {
            close(hybrid);
        }
    }
    assert!(
        acknowledged.iter().sum::<u32>() > u32::from(kills) / 2,
        "{engine}: too few were written"
    );
}

#[test]
fn nothing_is_lost_or_repeated() {
    survives("lmdb", 12, 0, 1);
}

#[test]
fn nothing_is_with_a_refresh_in_the_background() {
    survives("lmdb", 12, 1, 2);
}

#[test]
fn nothing_is_over_berkeley_db() {
    survives("berkeleydb", 6, 0, 3);
}
