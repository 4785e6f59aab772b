//! Ansible's events about devices, from the plugin in a fleet.

use serde::Deserialize;

/// A line of the plugin `embermark_events`: a task of a device has ended, or will be retried.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct Event {
    pub device: String,
    /// Name of the task in the role.
    pub task: String,
    pub status: Status,
    /// Why it failed, in the words of what failed.
    pub message: String,
    /// Output of its command.
    pub out: String,
    /// Each reading of its clock: sent, read and received, in ns.
    #[serde(default)]
    pub probes: Vec<[i64; 3]>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Status {
    Ok,
    Failed,
    Unreachable,
    Retry,
}
