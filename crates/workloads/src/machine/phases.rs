//! The phases of the machine workload.

use crate::PhaseInfo;

pub(super) const WRITE: &str = "write";
pub(super) const READ: &str = "read_individual";
pub(super) const READ_BULK: &str = "read_bulk";
pub(super) const READ_BULK1: &str = "read_bulk1";
pub(super) const LIVE: &str = "live";
pub(super) const SUSTAINED: &str = "sustained";

pub(super) static PHASES: [PhaseInfo; 6] = [
    PhaseInfo { name: WRITE, about: "stores every sample of a sensor that waits for nobody" },
    PhaseInfo { name: READ, about: "three cycles a second, found by single questions" },
    PhaseInfo { name: READ_BULK, about: "three cycles a second, searched in two seconds fetched" },
    PhaseInfo { name: READ_BULK1, about: "the same, of the other channels the cycle alone" },
    PhaseInfo { name: LIVE, about: "writes and reads at once; the age of the newest sample" },
    PhaseInfo { name: SUSTAINED, about: "with `embermark rate`: the highest rate without a loss" },
];
