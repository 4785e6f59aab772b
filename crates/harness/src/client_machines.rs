//! Clients on several machines that use one server at the same time.
//!
//! One process on each machine ([`serve_machine`]) holds its clients and takes [`Order`]s. The
//! [conductor](conduct()) makes every machine begin a run of a phase at the same time and merges
//! their measurements. The first machine also creates the tables, prepares them before each run,
//! and checks the answers of all machines after it. This module does not know how orders reach the
//! machines: an [`OrderTransport`] sends them.

mod conduct;
mod machine;
mod merge;
mod protocol;
mod serve;
mod trial;

pub use conduct::conduct;
pub use protocol::{Facts, Job, MachineReplies, Order, OrderTransport, Reply};
pub use serve::{facts, order, serve_machine, start_machine};
pub use trial::LATE;
