//! The phases of the machine workload.

use crate::PhaseInfo;

pub(super) const WRITE: &str = "write";
pub(super) const READ: &str = "read_individual";
pub(super) const READ_BULK: &str = "read_bulk";
pub(super) const READ_BULK1: &str = "read_bulk1";
pub(super) const LIVE: &str = "live";
pub(super) const SUSTAINED: &str = "sustained";

pub(super) static PHASES: [PhaseInfo; 6] = [
    PhaseInfo { name: WRITE, about: "stores every sample of a sensor that never waits" },
    PhaseInfo { name: READ, about: "reads three cycles per second, found by single queries" },
    PhaseInfo {
        name: READ_BULK,
        about: "reads three cycles per second: fetches two seconds and searches them",
    },
    PhaseInfo {
        name: READ_BULK1,
        about: "like read_bulk, but fetches the other channels only for the cycle",
    },
    PhaseInfo {
        name: LIVE,
        about: "writes and reads at the same time; the age of the newest sample",
    },
    PhaseInfo {
        name: SUSTAINED,
        about: "with `embermark rate`: the highest rate at which no sample is lost",
    },
];
