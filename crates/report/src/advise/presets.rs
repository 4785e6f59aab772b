//! Situations to begin with: what a commit must survive there, what matters and how much, and what must be kept up
//! with. The screen answers them, and the page orders its list by them.

use embermark_model::Durability;
use serde::Serialize;

use super::{AdviceTable, Left, Needs, Pick, Place, Weight, pick};
use crate::{format, text};

/// A situation.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Preset {
    /// Its name in an address.
    pub id: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What a commit must survive; absent: the tier in which all work was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Durability>,
    /// What matters, and how much.
    pub weights: &'static [(&'static str, f64)],
    /// Rows per second that must be committed one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_per_second: Option<f64>,
    /// The most memory that the engine may use, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

const fn preset(
    id: &'static str,
    name: &'static str,
    tier: Durability,
    weights: &'static [(&'static str, f64)],
) -> Preset {
    Preset { id, name, tier: Some(tier), weights, rows_per_second: None, memory_bytes: None }
}

/// All work alike, and five situations.
pub static PRESETS: [Preset; 6] = [
    Preset {
        tier: None,
        ..preset(
            "all",
            "all work alike",
            Durability::Process,
            &[("ingest", 1.0), ("point", 1.0), ("update", 1.0), ("analytics", 1.0)],
        )
    },
    preset(
        "logger",
        "logger on flash",
        Durability::Power,
        &[("ingest", 6.0), ("wear", 5.0), ("memory", 4.0), ("disk", 3.0)],
    ),
    preset(
        "phone",
        "phone app",
        Durability::Process,
        &[("point", 6.0), ("update", 4.0), ("ingest", 3.0), ("memory", 3.0), ("start", 3.0)],
    ),
    Preset {
        memory_bytes: Some(256_000_000),
        ..preset(
            "gateway",
            "gateway, 256 MB",
            Durability::Process,
            &[("ingest", 4.0), ("analytics", 4.0), ("memory", 4.0), ("load", 3.0)],
        )
    },
    Preset {
        rows_per_second: Some(1_000.0),
        ..preset(
            "1khz",
            "machine, 1 kHz",
            Durability::Process,
            &[("ingest", 6.0), ("tail", 3.0), ("cpu", 3.0)],
        )
    },
    preset(
        "archive",
        "archive",
        Durability::Process,
        &[("load", 6.0), ("analytics", 6.0), ("disk", 6.0)],
    ),
];

/// What to take in a situation.
pub(crate) struct Answer {
    /// The pick.
    pub pick: Pick,
    /// The tier that it holds in.
    pub tier: Durability,
    /// Criteria that nobody was measured for.
    pub lacking: Vec<&'static str>,
}

/// The engines in the order of a situation.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Ranking {
    /// The situation's id.
    pub preset: &'static str,
    /// By what they are ordered, and what of it was not measured.
    pub says: String,
    /// The best first.
    pub ranked: Vec<Place>,
    /// Who has no place, and why.
    pub left: Vec<Left>,
}

/// What a situation asks of a table: its needs, the weights of what was measured, and what was not.
struct Asked {
    needs: Needs,
    weights: Vec<Weight>,
    lacking: Vec<&'static str>,
}

/// Whether at least two engines were measured by a criterion in a tier.
fn is_measured(table: &AdviceTable, tier: Durability, criterion: &str) -> bool {
    let own = table.engines.iter().filter(|entry| entry.tier == tier);
    own.filter(|entry| entry.ratios.contains_key(criterion)).count() > 1
}

impl Preset {
    fn asked(&self, table: &AdviceTable, tier: Durability) -> Asked {
        let (known, lacking): (Vec<_>, Vec<_>) =
            self.weights.iter().partition(|(id, _)| is_measured(table, tier, id));
        let weight = |(id, weight): (&str, f64)| Weight { criterion: id.to_owned(), weight };
        let needs = Needs {
            tier,
            sql: false,
            embedded: false,
            memory_bytes: self.memory_bytes,
            licence: None,
            rows_per_second: self.rows_per_second,
        };
        Asked {
            needs,
            weights: known.into_iter().map(weight).collect(),
            lacking: lacking.into_iter().map(|(id, _)| id).collect(),
        }
    }

    /// Its tier, where what matters most was measured in that.
    fn tier(&self, table: &AdviceTable, main: Durability) -> Option<Durability> {
        let (first, _) = self.weights.first()?;
        Some(self.tier.unwrap_or(main)).filter(|tier| is_measured(table, *tier, first))
    }

    /// What to take by a table; `None` where what matters most was not measured in its tier.
    pub(crate) fn answer(&self, table: &AdviceTable, main: Durability) -> Option<Answer> {
        let tier = self.tier(table, main)?;
        let Asked { needs, weights, lacking } = self.asked(table, tier);
        Some(Answer { pick: pick::of(table, needs, &weights)?, tier, lacking })
    }

    /// The order of a table's engines; in the main tier where what matters most was not measured in its own.
    pub(crate) fn order(&self, table: &AdviceTable, main: Durability) -> Ranking {
        let tier = self.tier(table, main).unwrap_or(main);
        let Asked { needs, weights, lacking } = self.asked(table, tier);
        let advice = pick::advice(table, needs, &weights);
        let label = |id: &&str| {
            let known = table.criteria.iter().find(|criterion| criterion.id == *id);
            known.map_or(*id, |criterion| criterion.label).to_owned()
        };
        let other = self.tier.filter(|asked| *asked != tier);
        let other = other.map(|asked| format!("durability {asked}"));
        let lacking = text::joined(other.into_iter().chain(lacking.iter().map(label)), ", ");
        let lacking = match lacking.is_empty() {
            true => lacking,
            false => format!("; not measured here: {lacking}"),
        };
        let alike = self.weights.iter().all(|(_, weight)| *weight <= 1.0);
        let weighed = self.weights.iter().map(|(id, weight)| match alike {
            true => (*id).to_owned(),
            false => format!("{id} {weight}"),
        });
        let rate = self.rows_per_second.map(|rate| format!(", at least {rate} rows/s"));
        let memory = self
            .memory_bytes
            .map(|most| format!(", at most {} of memory", format::bytes(most as f64)));
        let says = format!(
            "Order by {} at durability {tier}{}{}{lacking}. 1 is the best at all of it.",
            text::joined(weighed, ", "),
            rate.unwrap_or_default(),
            memory.unwrap_or_default()
        );
        let references = |left: &Left| {
            let mut own = table.engines.iter().filter(|entry| entry.engine == left.engine);
            own.any(|entry| entry.facts.kind == "reference")
        };
        let mut left: Vec<Left> = advice.excluded.into_iter().chain(advice.unmeasured).collect();
        left.retain(|left| !references(left));
        Ranking { preset: self.id, says, ranked: advice.ranked, left }
    }
}
