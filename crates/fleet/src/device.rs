//! Tracks the progress of a device by Ansible's events about it, from the plugin in a fleet.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::clock::Probe;

/// Number of times in a row that a device may be unreachable during its run.
const MOST_LOST: u32 = 5;

/// Number of times that the device itself may interrupt its run.
const MOST_CUT: u32 = 3;

/// Meaning of exit status 1 of a run that has a result.
const A_CELL_WAS_WRONG: &str = "a cell was wrong, failed or timed out";

/// Outcome of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// Its result was fetched.
    Done {
        /// Exit status of its run: 0, or 1 if a cell was wrong, failed or timed out.
        status: u8,
    },
    /// Its result had been fetched before.
    DoneBefore {
        /// Exit status of its run, as above.
        #[serde(default)]
        status: u8,
    },
    /// It could not be reached.
    Unreachable {
        /// Why, in the words of the program that tried.
        why: String,
        /// Whether a run had begun there, which continues or can be resumed.
        begun: bool,
    },
    /// Something else went wrong.
    Failed {
        /// What went wrong, with the message.
        why: String,
    },
}

impl Outcome {
    /// Whether there is a result.
    pub const fn has_result(&self) -> bool {
        matches!(self, Self::Done { .. } | Self::DoneBefore { .. })
    }

    /// Whether there is a result and nothing was wrong.
    pub const fn is_well(&self) -> bool {
        matches!(self, Self::Done { status: 0 } | Self::DoneBefore { status: 0 })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done { status: 0 } => f.write_str("done"),
            Self::Done { .. } => write!(f, "done; {A_CELL_WAS_WRONG}"),
            Self::DoneBefore { status: 0 } => f.write_str("done before"),
            Self::DoneBefore { .. } => write!(f, "done before; {A_CELL_WAS_WRONG}"),
            Self::Unreachable { why, begun: false } => write!(f, "not reached: {why}"),
            Self::Unreachable { why, begun: true } => {
                write!(f, "no longer reached after its run began: {why}")
            }
            Self::Failed { why } => f.write_str(why),
        }
    }
}

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
    pub probes: Vec<Probe>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Status {
    Ok,
    Failed,
    Unreachable,
    Retry,
}

/// A device during a fleet's run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Device {
    pub name: String,
    pub outcome: Option<Outcome>,
    /// Whether its run is active, as far as is known.
    pub begun: bool,
    /// Whether its run was interrupted and must be resumed.
    pub cut: bool,
    /// The last reported progress of its run.
    pub progress: String,
    waits: bool,
    times_lost: u32,
    times_cut: u32,
    status: u8,
}

impl Device {
    pub fn new(name: String) -> Self {
        Self { name, ..Self::default() }
    }

    /// Records an event. Returns a line for the user, if the event is worth one.
    pub fn record(&mut self, event: &Event) -> Option<String> {
        let task = event.task.as_str();
        match event.status {
            Status::Unreachable => {
                self.times_lost += 1;
                let why = first_line(&event.message);
                if self.begun && self.times_lost < MOST_LOST {
                    return Some(format!("not reached for a moment: {why}"));
                }
                self.outcome = Some(Outcome::Unreachable { why, begun: self.begun });
                None
            }
            Status::Failed => {
                self.outcome = Some(Outcome::Failed { why: failure(event) });
                None
            }
            Status::Retry if task == "doctor" => {
                // Only once, because the reason changes with every check.
                let is_new = !std::mem::replace(&mut self.waits, true);
                let why = passing(&event.out).unwrap_or_default();
                is_new.then(|| format!("waits, busy or hot: {why}"))
            }
            Status::Retry => None,
            Status::Ok => {
                self.times_lost = 0;
                match task {
                    "begin" => {
                        self.begun = true;
                        self.cut = false;
                        let said = first_line(&event.out);
                        matches!(said.as_str(), "begun" | "resumed").then_some(said)
                    }
                    "watch" => self.record_state(&event.out),
                    "result" => {
                        self.outcome = Some(Outcome::Done { status: self.status });
                        None
                    }
                    _ => None,
                }
            }
        }
    }

    /// Records the output of `job.sh state`.
    fn record_state(&mut self, said: &str) -> Option<String> {
        let said = first_line(said);
        if let Some(progress) = said.strip_prefix("running") {
            let progress = progress.trim();
            let is_new = !progress.is_empty() && progress != self.progress;
            self.progress = progress.to_owned();
            return is_new.then(|| self.progress.clone());
        }
        if let Some(status) = said.strip_prefix("ended ") {
            self.status = status.parse().unwrap_or(1);
        }
        // The role reports this as a failure. Here it is one only if it occurs repeatedly.
        if said == "cut off" {
            self.times_cut += 1;
            self.cut = self.times_cut <= MOST_CUT;
        }
        None
    }

    /// Clears the failure of an interrupted run, so that the run is resumed.
    pub fn resume_if_cut(&mut self) {
        if self.cut && matches!(self.outcome, Some(Outcome::Failed { .. })) {
            self.outcome = None;
        }
    }
}

/// Explains a failed task.
fn failure(event: &Event) -> String {
    let why = first_line(&event.message);
    match event.task.as_str() {
        "architecture" | "tidy" | "space" => why,
        "doctor" => match passing(&event.out) {
            Some(passing) => format!("busy or hot, and did not calm down: {passing}"),
            None => format!("embermark doctor failed: {why}"),
        },
        "ended" => format!("{why} (see its log)"),
        task => format!("'{task}' failed: {why}"),
    }
}

/// Returns the disturbances that may pass, from `embermark doctor --format json`.
fn passing(out: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct DoctorOutput {
        passing: Vec<String>,
    }
    let said: DoctorOutput = serde_json::from_str(out).ok()?;
    (!said.passing.is_empty()).then(|| said.passing.join("; "))
}

fn first_line(text: &str) -> String {
    text.trim().lines().next().unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests;
