//! What Ansible says of the devices, by the plugin that a fleet brings.

use serde::Deserialize;

/// A line of the plugin `embermark_events`: a task of a device has ended, or will be tried again.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct Event {
    pub device: String,
    /// The task's name in the role.
    pub task: String,
    pub status: Status,
    /// Why it failed, in the words of what failed.
    pub message: String,
    /// What its command printed.
    pub out: String,
    /// Each time that its clock was asked for: sent, told and received, in ns.
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
