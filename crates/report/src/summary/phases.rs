//! Phases of a cell by name, because a result may have thousands.

use std::collections::HashMap;

use embermark_model::result::{Cell, PhaseResult};

/// Each phase of a cell in the trials that reached it, with the index of the trial.
pub(crate) struct Phases<'a>(HashMap<&'a str, Vec<(u32, &'a PhaseResult)>>);

impl<'a> Phases<'a> {
    pub(crate) fn new(cell: &'a Cell) -> Self {
        let mut all: HashMap<&str, Vec<(u32, &PhaseResult)>> = HashMap::new();
        for trial in &cell.trials {
            for part in &trial.phases {
                all.entry(&part.phase).or_default().push((trial.index, part));
            }
        }
        Self(all)
    }

    /// Returns one phase in the order of the trials. Empty if no trial reached it.
    pub(crate) fn at(&self, phase: &str) -> &[(u32, &'a PhaseResult)] {
        self.0.get(phase).map_or(&[], Vec::as_slice)
    }
}
