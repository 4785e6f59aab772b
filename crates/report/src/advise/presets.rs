//! Situations to begin with: what a commit must survive there, what matters and how much, and what must be kept up
//! with. The screen answers them, and the page orders its list by them.

use embermark_model::Durability;
use serde::Serialize;

use super::{AdviceTable, Needs, Pick, Weight, pick};

/// A situation.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Preset {
    /// Its name in an address.
    pub id: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What a commit must survive; absent: the tier in which all work was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Durability>,
    /// What matters, and how much.
    pub weights: &'static [(&'static str, f64)],
    /// Rows per second that must be committed one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_per_second: Option<f64>,
    /// The most memory that the engine may use, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
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

impl Preset {
    /// What to take by a table; `None` where what matters most was not measured in its tier.
    pub(crate) fn answer(&self, table: &AdviceTable, main: Durability) -> Option<Answer> {
        let has = |tier: Durability, id: &str| {
            let own = table.engines.iter().filter(|entry| entry.tier == tier);
            own.filter(|entry| entry.ratios.contains_key(id)).count() > 1
        };
        let (first, _) = self.weights.first()?;
        let tier = self.tier.unwrap_or(main);
        let (known, lacking): (Vec<_>, Vec<_>) =
            self.weights.iter().partition(|(id, _)| has(tier, id));
        let weight = |(id, weight): (&str, f64)| Weight { criterion: id.to_owned(), weight };
        let weights: Vec<Weight> = known.into_iter().map(weight).collect();
        let needs = Needs {
            tier,
            sql: false,
            embedded: false,
            memory_bytes: self.memory_bytes,
            licence: None,
            rows_per_second: self.rows_per_second,
        };
        if !has(tier, first) {
            return None;
        }
        let pick = pick::of(table, needs, &weights)?;
        Some(Answer { pick, tier, lacking: lacking.into_iter().map(|(id, _)| id).collect() })
    }
}
