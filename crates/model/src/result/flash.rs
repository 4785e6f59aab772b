//! What a model of a flash card made of what a trial brought to its disk.

use serde::{Deserialize, Serialize};

use crate::card::End;

/// What one card would have done for a trial, by the model of it. `docs/flash.md` has what the model
/// takes for granted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlashModel {
    /// The name of the card, which [`Plan::cards`](crate::plan::Plan::cards) describes.
    pub card: String,
    /// Why there is nothing of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_modelled: Option<String>,
    /// The card came to no steady state: figures are those of the last rounds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsteady: bool,
    /// Each phase, in the order in which they ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<FlashOfPhase>,
}

/// One phase on a modelled card.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlashOfPhase {
    /// Its name.
    pub phase: String,
    /// Its run.
    pub run: FlashWork,
    /// The maintenance after it, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maintenance: Option<FlashWork>,
}

/// What was written to a modelled card, and what that came to, the mean over the passes of a round of
/// its steady state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlashWork {
    /// Bytes that reached the device, as they were recorded.
    pub written_bytes: u64,
    /// By the likely parameters of the card.
    pub typical: FlashCost,
    /// By those with which it lasts the shortest.
    pub low: FlashCost,
    /// By those with which it lasts the longest.
    pub high: FlashCost,
}

/// What flash went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlashCost {
    /// Bytes programmed.
    pub programmed_bytes: u64,
    /// Blocks erased.
    pub erases: f64,
}

impl FlashWork {
    /// What it came to at an end of the card's parameters.
    pub const fn at(&self, end: End) -> FlashCost {
        match end {
            End::Low => self.low,
            End::Typical => self.typical,
            End::High => self.high,
        }
    }
}

impl FlashOfPhase {
    /// What the run and the maintenance after it came to together.
    pub fn all(&self, end: End) -> FlashCost {
        let (run, after) = (self.run.at(end), self.maintenance.unwrap_or_default().at(end));
        FlashCost {
            programmed_bytes: run.programmed_bytes + after.programmed_bytes,
            erases: run.erases + after.erases,
        }
    }
}

impl FlashModel {
    /// A phase of it.
    pub fn phase(&self, name: &str) -> Option<&FlashOfPhase> {
        self.phases.iter().find(|phase| phase.phase == name)
    }
}
