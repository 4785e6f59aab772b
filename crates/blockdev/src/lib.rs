//! A block device whose writes and flushes are recorded, and the states that a power cut could leave
//! it in. Nothing here knows what a database is.
//!
//! A [`Device`] is a file system on a loop device, whose backing file is the one file of a FUSE file
//! system of ours. So the file system is a real one, its journal included, and what reaches the
//! device, by whichever system call or mapping, comes by in the order in which the kernel sends it.
//! Its [`Log`] holds every write and every flush; [`Log::states`] draws moments at which the power could
//! be cut, with what the device's own cache could have lost at each, and the content that it then
//! has. That content can be mounted as a device again, and recorded
//! again.
//!
//! A [`Disk`] is a file system of a fixed size that is mounted as it is, to be filled.
//!
//! A [`TracedDevice`] keeps its content in a file and of what reaches it only when, where and how much:
//! its [`Trace`] is what a model of a flash card wants to know of hours of work.
//!
//! A [`TimedDevice`] answers each request after the time that somebody else says: a medium that is not here.
//!
//! What is promised by a device, and so what is true in each state: what was written before a flush
//! began is there once the flush has ended; of what was written since, any part may be there, in any
//! order, down to single sectors.

mod device;
mod disk;
mod error;
mod exhaustive;
mod file_system;
mod image;
mod lies;
mod log;
mod loop_device;
mod namespace;
mod path_cost;
mod recorder;
mod server;
mod states;
mod timed;
mod trace;
mod traced;

pub use device::Device;
pub use disk::Disk;
pub use error::DeviceError;
pub use file_system::FileSystem;
pub use image::{BLOCK, Image};
pub use log::{Counted, Log, Record};
pub use namespace::own_mounts;
pub use states::{Cut, Erased, SECTOR, State, Torn};
pub use timed::{Kept, PathCost, Request, RequestKind, Serving, TimedDevice, Timing};
pub use trace::{Access, AccessKind, Trace};
pub use traced::TracedDevice;
