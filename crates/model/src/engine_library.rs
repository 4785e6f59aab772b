//! An engine in a shared library of its own.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The file of an engine that is no part of embermark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineLibrary {
    /// Where it is, an absolute path.
    pub path: PathBuf,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
}
