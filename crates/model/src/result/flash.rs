//! What a model of a flash card computed from the writes of a trial.

use serde::{Deserialize, Serialize};

use crate::card::End;

/// What one card would have done for a trial, by its model. `docs/flash.md` lists the model's
/// assumptions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlashModel {
    /// Name of the card, described by [`Plan::cards`](crate::plan::Plan::cards).
    pub card: String,
    /// Why there are no figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_modelled: Option<String>,
    /// Whether the card reached no steady state: figures are those of the last rounds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsteady: bool,
    /// The phases, in the order in which they ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<FlashOfPhase>,
}

/// One phase on a modelled card.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlashOfPhase {
    /// Name of the phase.
    pub phase: String,
    /// Work of its run.
    pub run: FlashWork,
    /// Work of the maintenance after it, if there was any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maintenance: Option<FlashWork>,
}

/// What was written to a modelled card and what that cost, the mean over the passes of a round of
/// its steady state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlashWork {
    /// Bytes that reached the device, as recorded.
    pub written_bytes: u64,
    /// Cost with the likely parameters of the card.
    pub typical: FlashCost,
    /// Cost with the parameters with which it wears out soonest.
    pub low: FlashCost,
    /// Cost with the parameters with which it lasts longest.
    pub high: FlashCost,
}

/// What the flash went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlashCost {
    /// Bytes programmed.
    pub programmed_bytes: u64,
    /// Number of blocks erased.
    pub erases: f64,
}

impl FlashWork {
    /// Returns the cost at an end of the card's parameters.
    pub const fn at(&self, end: End) -> FlashCost {
        match end {
            End::Low => self.low,
            End::Typical => self.typical,
            End::High => self.high,
        }
    }
}

impl FlashOfPhase {
    /// Returns the cost of the run and of the maintenance after it together.
    pub fn all(&self, end: End) -> FlashCost {
        let (run, after) = (self.run.at(end), self.maintenance.unwrap_or_default().at(end));
        FlashCost {
            programmed_bytes: run.programmed_bytes + after.programmed_bytes,
            erases: run.erases + after.erases,
        }
    }
}

impl FlashModel {
    /// Finds a phase by name.
    pub fn phase(&self, name: &str) -> Option<&FlashOfPhase> {
        self.phases.iter().find(|phase| phase.phase == name)
    }
}
