//! How rows get in, as variants of several workloads have it.

use embermark_contract::Scope;
use embermark_model::choice;

use crate::{VariantInfo, WorkloadError};

/// How rows get in, and what a commit covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// One row at a time, all in one transaction.
    Single,
    /// One row at a time, each committed.
    CommitEach,
    /// By the engine's fastest path, as one commit; changes as in [`Strategy::Single`].
    Bulk,
}

impl Strategy {
    /// What a transaction covers where rows go in or are changed one at a time.
    pub(crate) const fn scope(self) -> Scope {
        match self {
            Self::CommitEach => Scope::PerOperation,
            Self::Single | Self::Bulk => Scope::Batch,
        }
    }

    /// The strategy that is called so.
    pub(crate) fn named(name: &str, variants: &[VariantInfo]) -> Result<Self, WorkloadError> {
        let known = variants.iter().any(|variant| variant.name == name);
        match name {
            "single" if known => Ok(Self::Single),
            "commit-each" if known => Ok(Self::CommitEach),
            "bulk" if known => Ok(Self::Bulk),
            _ => Err(choice::unknown("variant", name, variants.iter().map(|v| v.name)).into()),
        }
    }
}
