//! Conclusions of a source.

use serde::Deserialize;

/// A source's conclusion in embermark's words, and the headlines that decide whether it is true
/// here too.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Verdict {
    /// The conclusion in one line.
    pub says: String,
    /// Headlines of the source, by their text. The conclusion is true here if the ratio of each, as
    /// published, is on the same side of 1 as in the source, or above 1 if the source states it in
    /// words. Empty if nothing here decides it.
    #[serde(default)]
    pub by: Vec<String>,
    /// Why it differs here, or cannot be repeated. If it is the same here, what restricts that: it
    /// then begins with `but`.
    pub because: Option<String>,
}
