//! An engine in its own shared library.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The file of an engine that is not part of embermark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineLibrary {
    /// Absolute path.
    pub path: PathBuf,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
}
