//! Keeps idle processors awake.

use std::fs::{File, OpenOptions};
use std::io::Write as _;

/// Idle processors do not sleep while this value lives, because waking one takes as long as a
/// request to a fast medium. It needs root (`/dev/cpu_dma_latency`, the kernel's PM QoS interface).
#[derive(Debug)]
pub(crate) struct Awake(Option<File>);

impl Awake {
    /// Asks the system for it.
    pub fn keep() -> Self {
        let asked = OpenOptions::new().write(true).open("/dev/cpu_dma_latency").ok();
        Self(asked.filter(|mut file| file.write_all(&0_i32.to_ne_bytes()).is_ok()))
    }

    /// Whether the system keeps them awake.
    pub const fn is_kept(&self) -> bool {
        self.0.is_some()
    }
}
