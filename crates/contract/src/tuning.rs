//! Engine settings that tuning tries.

use embermark_model::Durability;

/// Settings that may make an engine faster, tried together instead of embermark's own.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Names and values.
    pub set: &'static [(&'static str, &'static str)],
    /// The strongest tier that they keep, according to the manual. They are not tried in a
    /// stronger one.
    pub keeps: Durability,
    /// What they cost, in words.
    pub trades: &'static str,
    /// Page of the manual.
    pub manual: &'static str,
}

impl Candidate {
    /// Makes a candidate that keeps every tier.
    pub const fn new(
        set: &'static [(&'static str, &'static str)],
        trades: &'static str,
        manual: &'static str,
    ) -> Self {
        Self { set, keeps: Durability::Power, trades, manual }
    }

    /// Limits the candidate to the tiers up to this one.
    #[must_use]
    pub const fn keeping(self, keeps: Durability) -> Self {
        Self { keeps, ..self }
    }
}
