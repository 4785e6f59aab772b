//! One plan on many devices: Ansible reaches them, copies the package for each architecture, begins the
//! run as a job that outlives the connection, looks how far it is, and fetches the result.
//!
//! [`init`] writes what Ansible plays, to keep and to edit; [`run`] plays it again and again until every
//! device has ended, and repeats nothing that is done. As [`Clients`] the devices are client machines of one
//! server: each has a process that is handed orders, and its clock is held against this machine's.

mod ansible;
mod clients;
pub mod clock;
mod device;
mod error;
mod event;
mod files;
mod outcome;
mod packages;
mod plan;
mod run;

pub use clients::{Answer, Clients, Message};
pub use device::Outcome;
pub use error::FleetError;
pub use files::init;
pub use outcome::{Last, Measured, Reported, last, measured};
pub use run::{RunOptions, run};

/// What this crate returns.
pub type Result<T> = std::result::Result<T, FleetError>;
