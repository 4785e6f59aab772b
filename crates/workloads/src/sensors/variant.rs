//! The variants: what each has its phases do.

use super::phase::Phase;
use crate::{Strategy, VariantInfo, WorkloadError};

/// In the order in which they are listed.
pub(super) static VARIANTS: [VariantInfo; 7] = [
    VariantInfo {
        name: "single",
        about: "rows inserted one by one in one transaction, from 100,000 on in transactions of 10,000",
        changes: &["load"],
    },
    VariantInfo {
        name: "one-transaction",
        about: "rows inserted, updated and deleted one by one in one transaction, however many, as \
                published",
        changes: &["load", "update", "delete"],
    },
    VariantInfo {
        name: "commit-each",
        about: "one commit a row",
        changes: &["load", "update", "delete"],
    },
    VariantInfo {
        name: "bulk",
        about: "rows loaded by the engine's fastest path",
        changes: &["load"],
    },
    VariantInfo {
        name: "by-range",
        about: "rows updated and deleted by sensor and time, ten a statement, in one transaction",
        changes: &["update", "delete"],
    },
    VariantInfo {
        name: "csv",
        about: "rows loaded from a CSV file, by the engine where it reads one",
        changes: &["load"],
    },
    VariantInfo {
        name: "asked",
        about: "questions put of one sensor after the other, those that last_readings asks for",
        changes: &["avg_sensor", "anomalies", "daily_summary", "outages"],
    },
];

/// What the phases of a variant do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    /// Rows go in by a strategy, and are changed one by one.
    ByKey(Strategy),
    /// Rows are changed by sensor and time. They go in one by one.
    ByRange,
    /// Rows go in from a CSV file. They are changed one by one.
    Csv,
    /// Questions are put of one sensor after the other. Rows go in and are changed one by one.
    Asked,
}

impl Variant {
    /// The variant that is called so.
    pub(super) fn named(name: &str) -> Result<Self, WorkloadError> {
        match name {
            "by-range" => Ok(Self::ByRange),
            "csv" => Ok(Self::Csv),
            "asked" => Ok(Self::Asked),
            other => Strategy::named(other, &VARIANTS).map(Self::ByKey),
        }
    }

    /// How rows get in, and what a commit covers.
    pub(super) const fn strategy(self) -> Strategy {
        match self {
            Self::ByKey(strategy) => strategy,
            Self::ByRange => Strategy::OneTransaction,
            Self::Csv => Strategy::Bulk,
            Self::Asked => Strategy::Single,
        }
    }

    /// Whether it puts a question of one sensor after the other.
    pub(super) const fn asks_each(self, question: Phase) -> bool {
        matches!(self, Self::Asked)
            && matches!(
                question,
                Phase::AvgSensor | Phase::Anomalies | Phase::DailySummary | Phase::Outages
            )
    }

    /// Whether a statement of the step concerns the rows of a range.
    pub(super) const fn changes_ranges(self, step: Phase) -> bool {
        matches!(self, Self::ByRange) && matches!(step, Phase::Update | Phase::Delete)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_has_its_name_and_changes_what_it_says() {
        for info in &VARIANTS {
            let variant = Variant::named(info.name).unwrap();
            for step in Phase::RUN_ORDER {
                let ranges = ["update", "delete"].contains(&step.name()) && info.name == "by-range";
                assert_eq!(variant.changes_ranges(step), ranges, "{} {}", info.name, step.name());
                let asks = info.name == "asked" && info.changes.contains(&step.name());
                assert_eq!(variant.asks_each(step), asks, "{} {}", info.name, step.name());
            }
        }
        assert_eq!(Variant::named("by-range").unwrap().strategy(), Strategy::OneTransaction);
        assert!(Variant::named("by-ranges").unwrap_err().to_string().contains("'by-range'"));
    }
}
