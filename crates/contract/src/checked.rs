//! What an engine's own check of its database finds.

/// Number of lines that are kept. Some engines print several for each page.
const MOST: usize = 100;

/// Result of an engine's own check ([`Lifecycle::check`](crate::Lifecycle::check)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Name of the check in the engine's manual.
    pub by: &'static str,
    /// What is wrong, one line each in the engine's words: the first hundred lines. Empty if
    /// nothing was found.
    pub findings: Vec<String>,
}

impl Checked {
    /// Makes the result of a check that has found nothing yet.
    pub const fn new(by: &'static str) -> Self {
        Self { by, findings: Vec::new() }
    }

    /// Adds the lines that the engine printed.
    pub fn found(&mut self, said: impl AsRef<str>) {
        let lines = said.as_ref().lines().map(str::trim).filter(|line| !line.is_empty());
        let room = MOST.saturating_sub(self.findings.len());
        self.findings.extend(lines.take(room).map(str::to_owned));
    }
}
