//! A block device whose writes and flushes are recorded, and the states in which a power cut could
//! leave it. This crate knows nothing of databases.
//!
//! A [`Device`] is a file system on a loop device, whose backing file is the only file of this
//! crate's FUSE file system. The file system is thus a real one, including its journal. Everything
//! that reaches the device, by any system call or mapping, is seen in the order in which the kernel
//! sends it. Its [`Log`] holds every write and every flush. [`Log::states`] selects times at which
//! the power could be cut, with what the device's own cache could have lost at each, and the
//! resulting content. That content can be mounted as a device again, and recorded again.
//!
//! A [`Disk`] is a file system of a fixed size that is mounted directly, to be filled.
//!
//! A [`TracedDevice`] keeps its content in a file, and records only when, where and how much
//! reaches it. Its [`Trace`] has what a model of a flash card needs about hours of work.
//!
//! A [`TimedDevice`] answers each request after the time that a model gives, to imitate another
//! medium.
//!
//! In each state the promises of a device hold. What was written before a flush began is present
//! once the flush has ended. Of what was written since, any part may be present, in any order, down
//! to single sectors.

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
