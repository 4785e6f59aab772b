//! Situations to start from: what a commit must survive, how much each criterion matters, and which
//! rate must be kept up. The screen has a recommendation for each, and the page orders its list by
//! them.

use embermark_model::Durability;
use serde::Serialize;

use super::{AdviceTable, Left, Needs, Pick, Place, Weight, pick};
use crate::{format, text};

/// A situation.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Preset {
    /// Name in addresses.
    pub id: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What a commit must survive. Absent: the tier in which all work was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Durability>,
    /// Criteria that matter, and how much.
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

use Durability::{Power, Process};

/// All work alike, and five specific situations.
pub static PRESETS: [Preset; 6] = [
    Preset {
        tier: None,
        ..preset(
            "all",
            "all work alike",
            Process,
            &[("ingest", 1.0), ("point", 1.0), ("update", 1.0), ("analytics", 1.0)],
        )
    },
    preset(
        "logger",
        "logger on flash",
        Power,
        &[("ingest", 6.0), ("wear", 5.0), ("memory", 4.0), ("disk", 3.0)],
    ),
    preset(
        "phone",
        "phone app",
        Process,
        &[("point", 6.0), ("update", 4.0), ("ingest", 3.0), ("memory", 3.0), ("start", 3.0)],
    ),
    Preset {
        memory_bytes: Some(256_000_000),
        ..preset(
            "gateway",
            "gateway, 256 MB",
            Process,
            &[("ingest", 4.0), ("analytics", 4.0), ("memory", 4.0), ("load", 3.0)],
        )
    },
    Preset {
        rows_per_second: Some(1_000.0),
        ..preset("1khz", "machine, 1 kHz", Process, &[("ingest", 6.0), ("tail", 3.0), ("cpu", 3.0)])
    },
    preset("archive", "archive", Process, &[("load", 6.0), ("analytics", 6.0), ("disk", 6.0)]),
];

/// The recommendation for a situation.
pub(crate) struct Recommendation {
    /// The pick.
    pub pick: Pick,
    /// The tier in which it was measured.
    pub tier: Durability,
    /// Criteria that were measured for fewer than two engines.
    pub lacking: Vec<&'static str>,
}

/// The engines in the order of a situation.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Ranking {
    /// The situation's id.
    pub preset: &'static str,
    /// The weights of the order, and which of them were not measured.
    pub says: String,
    /// The best first.
    pub ranked: Vec<Place>,
    /// Engines without a place, with the reasons.
    pub left: Vec<Left>,
}

/// Requirements of a situation for a table: needs, weights of what was measured, and what was not
/// measured.
type Requirements = (Needs, Vec<Weight>, Vec<&'static str>);

impl Preset {
    fn requirements(&self, table: &AdviceTable, tier: Durability) -> Requirements {
        let (known, lacking): (Vec<_>, Vec<_>) =
            self.weights.iter().partition(|(id, _)| table.compares(tier, id));
        let weight = |(id, weight): (&str, f64)| Weight { criterion: id.to_owned(), weight };
        let needs = Needs {
            memory_bytes: self.memory_bytes,
            rows_per_second: self.rows_per_second,
            ..Needs::only(tier)
        };
        let lacking = lacking.into_iter().map(|(id, _)| id).collect();
        (needs, known.into_iter().map(weight).collect(), lacking)
    }

    /// Returns its tier, if its most important criterion was measured in that.
    fn tier(&self, table: &AdviceTable, main: Durability) -> Option<Durability> {
        let (first, _) = self.weights.first()?;
        Some(self.tier.unwrap_or(main)).filter(|tier| table.compares(*tier, first))
    }

    /// Returns the recommendation by a table. `None` if its most important criterion was not
    /// measured in its tier.
    pub(crate) fn recommendation(
        &self,
        table: &AdviceTable,
        main: Durability,
    ) -> Option<Recommendation> {
        let tier = self.tier(table, main)?;
        let (needs, weights, lacking) = self.requirements(table, tier);
        Some(Recommendation { pick: pick::pick(table, needs, &weights)?, tier, lacking })
    }

    /// Returns the order of a table's engines. It uses the main tier if the most important
    /// criterion was not measured in the situation's own.
    pub(crate) fn order(&self, table: &AdviceTable, main: Durability) -> Ranking {
        let tier = self.tier(table, main).unwrap_or(main);
        let (needs, weights, lacking) = self.requirements(table, tier);
        let advice = pick::advice(table, needs, &weights);
        let label = |id: &&str| {
            let known = table.criteria.iter().find(|criterion| criterion.id == *id);
            known.map_or(*id, |criterion| criterion.label).to_owned()
        };
        let other = self.tier.filter(|asked| *asked != tier);
        let other = other.map(|asked| format!("durability {asked}"));
        let lacking = text::joined(other.into_iter().chain(lacking.iter().map(label)), ", ");
        let lacking = (!lacking.is_empty()).then(|| format!("; not measured here: {lacking}"));
        let alike = self.weights.iter().all(|(_, weight)| *weight <= 1.0);
        let weighed = self.weights.iter().map(|(id, weight)| match alike {
            true => (*id).to_owned(),
            false => format!("{id} {weight}"),
        });
        let rate = self.rows_per_second.map(|rate| format!(", at least {rate} rows/s"));
        let memory = self.memory_bytes.map(|most| format::bytes(most as f64));
        let memory = memory.map(|most| format!(", at most {most} of memory"));
        let says = format!(
            "Order by {} at durability {tier}{}. 1 is the best at all of it.",
            text::joined(weighed, ", "),
            text::joined([rate, memory, lacking].into_iter().flatten(), "")
        );
        let is_reference = |left: &Left| {
            let mut entries = table.engines.iter();
            entries.any(|of| of.engine == left.engine && of.facts.kind == "reference")
        };
        let left = advice.excluded.into_iter().chain(advice.unmeasured);
        let left = left.filter(|left| !is_reference(left)).collect();
        Ranking { preset: self.id, says, ranked: advice.ranked, left }
    }
}
