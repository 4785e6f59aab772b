//! What a source concluded.

use serde::Deserialize;

/// What a source concluded, in our words, and the headlines that decide whether it is so here too.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Verdict {
    /// The conclusion, in a line.
    pub says: String,
    /// What headlines of the source say. The conclusion holds here where the ratio of each, as published,
    /// lies on the side of 1 on which the source has it, above it where the source says so in words.
    /// Empty: nothing here decides it.
    #[serde(default)]
    pub by: Vec<String>,
    /// Why it is otherwise here, or cannot be repeated.
    pub because: Option<String>,
}
