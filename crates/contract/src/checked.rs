//! What an engine's own check of its database finds.

/// Lines that are kept: some engines have several for each page.
const MOST: usize = 100;

/// What came of an engine's own check ([`Lifecycle::check`](crate::Lifecycle::check)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The check, as the engine's manual calls it.
    pub by: &'static str,
    /// What is wrong, in the engine's words, a line each, the first hundred of them; empty where
    /// nothing was found.
    pub findings: Vec<String>,
}

impl Checked {
    /// A check that has found nothing yet.
    pub const fn by(by: &'static str) -> Self {
        Self { by, findings: Vec::new() }
    }

    /// Adds the lines of what the engine says.
    pub fn found(&mut self, said: impl AsRef<str>) {
        let lines = said.as_ref().lines().map(str::trim).filter(|line| !line.is_empty());
        let room = MOST.saturating_sub(self.findings.len());
        self.findings.extend(lines.take(room).map(str::to_owned));
    }
}
