//! One plan on many devices. Ansible reaches them, copies the package for each architecture, starts
//! the run as a job that outlives the connection, checks its progress, and fetches the result.
//!
//! [`init`] writes Ansible's files, to keep and to edit. [`run`] plays them repeatedly until every
//! device has ended, and repeats nothing that is done. With [`Clients`] the devices are client
//! machines of one server: each has a process that receives orders, and its clock is compared with
//! this machine's.

mod ansible;
mod clients;
pub mod clock;
mod device;
mod error;
mod files;
mod orders;
mod outcome;
mod packages;
mod plan;
mod run;

pub use clients::{Answer, Clients, Message};
pub use device::Outcome;
pub use error::FleetError;
pub use files::init;
pub use outcome::{DeviceOutcome, FleetRun, last_run, measured_devices};
pub use run::{RunOptions, run};

/// Result of this crate's functions.
pub type Result<T> = std::result::Result<T, FleetError>;
