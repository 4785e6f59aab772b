//! What tuning tries of an engine's settings.

use embermark_model::Durability;

/// Settings that may make an engine faster, tried together in place of embermark's own.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// By name, with the value of each.
    pub set: &'static [(&'static str, &'static str)],
    /// The strongest tier that they keep, by the manual: it is tried in no stronger one.
    pub keeps: Durability,
    /// What they cost, in words.
    pub trades: &'static str,
    /// The manual's page.
    pub manual: &'static str,
}

impl Candidate {
    /// One that keeps every tier.
    pub const fn new(
        set: &'static [(&'static str, &'static str)],
        trades: &'static str,
        manual: &'static str,
    ) -> Self {
        Self { set, keeps: Durability::Power, trades, manual }
    }

    /// The same of one that keeps no more than a tier.
    #[must_use]
    pub const fn keeping(self, keeps: Durability) -> Self {
        Self { keeps, ..self }
    }
}
