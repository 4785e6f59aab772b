//! Changes of order as short texts. Those of the same two engines between the same scales are one.

use embermark_model::{Conditions, Scale};
use serde::Serialize;

use super::{PhaseScaling, Turn, Within};
use crate::text;

/// Largest number of phases that are named.
const MOST_PHASES: usize = 4;
/// Largest number of phases that are named where the text has to fit a line.
const FEW_PHASES: usize = 2;

/// One engine overtakes another between two scales, in some phases of a workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Overtaking<'a> {
    /// The workload, the tier and the limit of memory.
    #[serde(flatten)]
    pub within: Within<'a>,
    /// The faster one at `from`.
    #[serde(serialize_with = "super::plain")]
    pub before: &'a str,
    /// The faster one at `to`.
    #[serde(serialize_with = "super::plain")]
    pub after: &'a str,
    /// The largest scale of the old order.
    pub from: Scale,
    /// The smallest scale of the new order.
    pub to: Scale,
    /// The phases: `load (bulk)` if the variant is not the one that runs every phase.
    pub phases: Vec<String>,
    /// Whether in at least one of them first place passes from one engine to the other.
    pub leads: bool,
    /// The text: `duckdb overtakes lmdb between 100k and 1M rows (avg_sensor, hot_sensors)`.
    pub says: String,
}

impl Overtaking<'_> {
    /// Formats the change with fewer phases.
    pub(crate) fn briefly(&self) -> String {
        self.naming(FEW_PHASES)
    }

    fn naming(&self, most: usize) -> String {
        let [before, after] = [self.before, self.after].map(text::plain);
        let more = self.phases.len().saturating_sub(most);
        // A single further phase takes no more room than its count.
        let (named, more) = if more == 1 { (self.phases.len(), 0) } else { (most, more) };
        let named = self.phases.iter().take(named).cloned();
        let further = (more > 0).then(|| format!("{more} more"));
        let phases = text::joined(named.chain(further), ", ");
        let span = between(self.from, self.to, self.within.conditions);
        format!("{after} overtakes {before} {span} ({phases})")
    }
}

/// Formats two scales: `between 1k and 10k rows`, `between 1k and 10k rows within 256 MiB on
/// sd-a1`.
pub(crate) fn between(from: Scale, to: Scale, conditions: Conditions) -> String {
    format!("between {from} and {to} rows{conditions}")
}

/// Returns every change of order: first those of the first place, then those in the most phases.
pub(super) fn overtakings<'a: 'p, 'p>(
    phases: impl Iterator<Item = &'p PhaseScaling<'a>>,
) -> Vec<Overtaking<'a>> {
    let mut all: Vec<Overtaking<'_>> = Vec::new();
    for PhaseScaling { series, turns, .. } in phases {
        for &Turn { before, after, from, to, leads, .. } in turns {
            let within = series.within;
            let same = |one: &&mut Overtaking<'_>| {
                (one.within, one.before, one.after, one.from, one.to)
                    == (within, before, after, from, to)
            };
            match all.iter_mut().find(same) {
                Some(one) => {
                    one.phases.push(series.phase_name());
                    one.leads |= leads;
                }
                None => {
                    let phases = vec![series.phase_name()];
                    let says = String::new();
                    all.push(Overtaking { within, before, after, from, to, phases, leads, says });
                }
            }
        }
    }
    all.iter_mut().for_each(|one| one.says = one.naming(MOST_PHASES));
    all.sort_by_key(|one| (!one.leads, usize::MAX - one.phases.len()));
    all
}
