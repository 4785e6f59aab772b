//! Clients on several machines, which use one server at the same time.
//!
//! One process on each machine ([`serve_machine`]) holds its clients and takes [`Order`]s; who
//! [conducts](conduct()) them has every machine begin a run of a phase at one moment, and puts together what
//! they measured. The first machine also makes the tables, readies them before each run, and checks the
//! answers of all after it. How orders reach the machines is not known here: that is a [`Carrier`].

mod carrier;
mod conduct;
mod facts;
mod machine;
mod merge;
mod protocol;
mod run;
mod serve;
mod trial;

pub use carrier::{Carried, Carrier};
pub use conduct::conduct;
pub use protocol::{Facts, Job, Order, Reply};
pub use run::LATE;
pub use serve::{facts, order, serve_machine, start_machine};
