//! A block device that records its writes and flushes, and the states in which a power cut could
//! leave it. This crate is independent of databases.
//!
//! A [`Device`] is a file system on a loop device, whose backing file is the only file of this
//! crate's FUSE file system. The file system is thus a real one, including its journal. The device
//! sees all writes, by system calls and mappings, in the order in which the kernel sends them. Its
//! [`Log`] holds every write and every flush. [`Log::states`] selects times at which the power could
//! be cut, the losses of the device's cache at each, and the resulting content. You can mount that
//! content as a device again, and record it again.
//!
//! A [`Disk`] is a file system of a fixed size that is mounted directly, to be filled.
//!
//! A [`TracedDevice`] keeps its content in a file, and records only time, offset and length of each
//! access. Its [`Trace`] is the input of a model of a flash card, for hours of work.
//!
//! A [`TimedDevice`] answers each request after the time that a model gives, to imitate another
//! medium.
//!
//! Each state is one that a correct device may leave. Data that was written before a flush began is
//! present once the flush has ended. Any part of later writes may be present, in any order, down to
//! single sectors.

mod device;
mod disk;
mod error;
mod exhaustive;
mod file_system;
mod image;
mod log;
mod loop_device;
mod lying;
mod medium;
mod namespace;
mod path_cost;
mod server;
mod states;
mod timed;
mod trace;
mod traced;

pub use device::Device;
pub use disk::Disk;
pub use error::{DeviceError, Result};
pub use file_system::FileSystem;
pub use image::{BLOCK, Image};
pub use log::{Log, Record, Totals};
pub use namespace::enter_mount_namespace;
pub use path_cost::measure_path;
pub use states::{Cut, Erased, SECTOR, State, Torn};
pub use timed::{Request, TimedDevice, Timing};
pub use trace::{Access, RequestKind, Trace};
pub use traced::TracedDevice;
