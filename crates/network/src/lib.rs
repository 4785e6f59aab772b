//! A private network of a process. It has only a loopback device, whose traffic is counted exactly,
//! and on which a link with delay, loss and rate can be imitated.

mod file;
mod link;
mod loopback;
pub mod namespace;
mod netlink;
pub mod relay;
mod tunnel;

pub use file::{LinkError, built_in, parse};
pub use loopback::{Counters, counters, enter, has_link, is_isolated};
pub use tunnel::{create_tunnel, round_trip};
