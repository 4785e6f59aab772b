//! Keeps idle processors awake.

use std::fs::{File, OpenOptions};
use std::io::Write as _;

/// Keeps idle processors from sleeping while this value lives, because waking one takes as long as
/// a request to a fast medium. It needs root (`/dev/cpu_dma_latency`, the kernel's PM QoS
/// interface).
#[derive(Debug)]
pub(crate) struct AwakeProcessors(Option<File>);

impl AwakeProcessors {
    /// Requests it from the system. Continues without it if the system refuses.
    pub fn start() -> Self {
        let asked = OpenOptions::new().write(true).open("/dev/cpu_dma_latency").ok();
        Self(asked.filter(|mut file| file.write_all(&0_i32.to_ne_bytes()).is_ok()))
    }

    /// Whether the system keeps idle processors awake.
    pub const fn is_active(&self) -> bool {
        self.0.is_some()
    }
}
