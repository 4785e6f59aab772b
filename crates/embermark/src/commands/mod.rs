//! One module per command.

pub mod advise;
pub mod check;
pub mod compare;
pub mod completions;
pub mod data;
pub mod doctor;
pub mod durability;
pub mod energy;
pub mod engines;
pub mod fleet;
pub mod gate;
pub mod init;
mod measure;
pub mod output;
mod page;
mod rate;
pub mod record;
pub mod repeat;
pub mod report;
pub mod run;
pub mod site;
pub mod snippet;
pub mod storage;
pub mod tune;
pub mod verify;
pub mod workloads;
