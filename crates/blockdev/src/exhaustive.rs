//! Every state of a short log, within bounds that are said.

use std::collections::HashMap;

use crate::image::BLOCK;
use crate::log::{Log, Record};
use crate::states::{Cut, SECTOR, State, Torn, in_order};

/// Changes between two flushes of which every subset is lost. Of more each single one is, and all but
/// each.
pub const FEW: usize = 6;
/// Blocks of a write at whose ends it is torn.
pub const TORN_BLOCKS: usize = 16;

impl Log {
    /// Every state that differs, of cuts from after the record `from` on, in their order: every
    /// prefix; between two flushes every subset of up to [`FEW`] changes lost; the last write torn at
    /// every sector within its first and its last block, and at the end of each of its first
    /// [`TORN_BLOCKS`] blocks.
    pub fn every_state(&self, from: usize) -> Vec<State> {
        let mut states = HashMap::new();
        self.add_states(self.every_cut(from), &mut states);
        in_order(states)
    }

    /// The cuts, in their order.
    fn every_cut(&self, from: usize) -> Vec<Cut> {
        let after = |at| Cut { at, lost: Vec::new(), torn: None, erased: None };
        let (mut cuts, mut window) = (vec![after(from)], Vec::new());
        for (place, record) in self.records.iter().enumerate() {
            match record {
                Record::Ignored => continue,
                Record::Flush => {
                    if place >= from {
                        cuts.extend(reordered(&window, place));
                        cuts.push(after(place + 1));
                    }
                    window.clear();
                    continue;
                }
                Record::Write { .. } | Record::Discard { .. } => window.push(place),
            }
            if place < from {
                continue;
            }
            if let Record::Write { data, .. } = record {
                let torn = tears(data.len()).map(|kept| Some(Torn { record: place, kept }));
                cuts.extend(torn.map(|torn| Cut { torn, ..after(place + 1) }));
            }
            cuts.push(after(place + 1));
        }
        cuts.extend(reordered(&window, self.records.len()));
        cuts
    }
}

/// What could be lost of the changes of a window at its end.
fn reordered(window: &[usize], at: usize) -> Vec<Cut> {
    let lost = |lost| Cut { at, lost, torn: None, erased: None };
    let chosen = |choose: &dyn Fn(usize) -> bool| {
        lost((0..window.len()).filter(|n| choose(*n)).map(|n| window[n]).collect())
    };
    if window.len() <= FEW {
        return (1..1_u32 << window.len()).map(|set| chosen(&|n| set >> n & 1 == 1)).collect();
    }
    let each = 0..window.len();
    each.flat_map(|one| [chosen(&|n| n == one), chosen(&|n| n != one)]).collect()
}

/// How many bytes of a write of that length may be there when it is torn.
fn tears(length: usize) -> impl Iterator<Item = usize> {
    (1..length.div_ceil(SECTOR)).map(|sector| sector * SECTOR).filter(move |kept| {
        let at_end = kept % BLOCK == 0 && kept / BLOCK <= TORN_BLOCKS;
        at_end || *kept < BLOCK || kept + BLOCK > length
    })
}

#[cfg(test)]
mod tests;
