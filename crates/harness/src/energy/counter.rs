//! Energy counters around a run, read by the process that does it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::clock::monotonic_ns;

/// A counter in microjoules that restarts at 0 after its range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Zone {
    pub path: PathBuf,
    /// Its largest value.
    pub range: u64,
}

impl Zone {
    pub fn read(&self) -> io::Result<u64> {
        microjoules(&self.path)
    }

    /// Returns what was counted between two values, if it restarted at most once in between.
    pub const fn since(&self, before: u64, now: u64) -> u64 {
        if now >= before {
            now - before
        } else {
            (self.range.saturating_sub(before)).saturating_add(now).saturating_add(1)
        }
    }
}

/// Reads the number in a sysfs file.
pub(super) fn microjoules(path: &Path) -> io::Result<u64> {
    let text = fs::read_to_string(path)?;
    text.trim().parse().map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
}

/// The zones of one source, which are added up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter {
    pub(crate) source: String,
    pub(crate) zones: Vec<Zone>,
}

/// Counter values at the beginning of a run.
pub(crate) struct Readings<'a> {
    counters: &'a [Counter],
    values: Vec<Vec<Option<u64>>>,
    began: Option<u64>,
}

impl<'a> Readings<'a> {
    /// Reads the counters, and then the clock.
    pub fn begin(counters: &'a [Counter]) -> Self {
        let values = read(counters);
        Self { counters, values, began: monotonic_ns() }
    }

    /// Reads the clock, and then the counters again. `None` without a clock.
    pub fn end(self) -> Option<Window> {
        let between = self.began.zip(monotonic_ns())?;
        let after = read(self.counters);
        let zones = self.counters.iter().zip(self.values).zip(after);
        let counted = zones.map(|((counter, before), after)| {
            let zones = counter.zones.iter().zip(before).zip(after);
            let of = |((zone, before), after): ((&Zone, Option<u64>), Option<u64>)| {
                Some(zone.since(before?, after?))
            };
            Counted { source: counter.source.clone(), microjoules: zones.map(of).collect() }
        });
        Some(Window { between, counted: counted.collect() })
    }
}

fn read(counters: &[Counter]) -> Vec<Vec<Option<u64>>> {
    let of = |counter: &Counter| counter.zones.iter().map(|zone| zone.read().ok()).collect();
    counters.iter().map(of).collect()
}

/// The period over which a run's energy is measured, and what was counted in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Beginning and end in ns of the monotonic clock.
    pub(crate) between: (u64, u64),
    pub(crate) counted: Vec<Counted>,
}

/// What the zones of a source counted, without whole ranges. `None` for a zone that could not be
/// read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    pub(crate) source: String,
    pub(crate) microjoules: Vec<Option<u64>>,
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_counter_that_began_anew_counts_on() {
        let zone = Zone { path: "/nowhere".into(), range: 999 };
        assert_eq!(zone.since(100, 700), 600);
        // 999 is the largest value, and 0 follows it.
        assert_eq!(zone.since(990, 9), 19);
        assert_eq!(zone.since(999, 0), 1);
    }

    #[test]
    fn a_zone_that_vanishes_counts_nothing_and_the_others_what_they_did() {
        let folder = tempfile::tempdir().unwrap();
        let zone = |name: &str, value: &str| {
            let path = folder.path().join(name);
            fs::write(&path, value).unwrap();
            Zone { path, range: 1_000_000 }
        };
        let zones = vec![zone("a", "5\n"), zone("b", "999999\n")];
        let counters = [Counter { source: "package".to_owned(), zones: zones.clone() }];
        let readings = Readings::begin(&counters);
        fs::remove_file(&zones[0].path).unwrap();
        fs::write(&zones[1].path, "4\n").unwrap();
        let window = readings.end().unwrap();
        assert!(window.between.0 <= window.between.1);
        assert_eq!(window.counted[0].microjoules, [None, Some(6)]);
    }
}
