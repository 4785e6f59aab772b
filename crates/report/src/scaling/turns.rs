//! Turns of the order in few words: those of the same two engines between the same scales are one.

use embermark_model::{Conditions, Scale};
use serde::Serialize;

use super::{PhaseScaling, Turn, Within};
use crate::text;

/// The most phases named.
const MOST_PHASES: usize = 4;
/// The same where a line must do.
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
    /// In these phases: `load (bulk)` where the variant is not the one that runs every phase.
    pub phases: Vec<String>,
    /// In one of them at least the place of the fastest of all goes from the one to the other.
    pub leads: bool,
    /// All of it: `duckdb overtakes lmdb between 100k and 1M rows (avg_sensor, hot_sensors)`.
    pub says: String,
}

impl Overtaking<'_> {
    /// The same with fewer phases.
    pub(crate) fn briefly(&self) -> String {
        self.naming(FEW_PHASES)
    }

    fn naming(&self, most: usize) -> String {
        let [before, after] = [self.before, self.after].map(text::plain);
        let more = self.phases.len().saturating_sub(most);
        // One more is as long as to say so.
        let (named, more) = if more == 1 { (self.phases.len(), 0) } else { (most, more) };
        let named = self.phases.iter().take(named).cloned();
        let further = (more > 0).then(|| format!("{more} more"));
        let phases = text::joined(named.chain(further), ", ");
        let span = between(self.from, self.to, self.within.conditions);
        format!("{after} overtakes {before} {span} ({phases})")
    }
}

/// `between 1k and 10k rows`, `between 1k and 10k rows within 256 MiB on sd-a1`.
pub(crate) fn between(from: Scale, to: Scale, conditions: Conditions) -> String {
    format!("between {from} and {to} rows{conditions}")
}

/// Every turn, those of the fastest of all first, then those of the most phases.
pub(super) fn of<'a: 'p, 'p>(
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
