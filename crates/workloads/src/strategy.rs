//! How rows get in, as variants of several workloads have it.

use std::ops::Range;

use embermark_contract::{Result, Scope};
use embermark_meter::Meter;
use embermark_model::choice;

use crate::{VariantInfo, WorkloadError};

/// How rows get in, and what a commit covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// One row at a time, in transactions of [`batch`] rows.
    Single,
    /// One row at a time, all in one transaction, however many.
    OneTransaction,
    /// One row at a time, each committed.
    CommitEach,
    /// One row at a time, in transactions of so many.
    Every(u64),
    /// By the engine's fastest path; changes as in [`Strategy::Single`].
    Bulk,
}

/// How many of `n` operations a transaction holds: all of them, or of 100,000 and more each 10,000,
/// since what is not committed yet has to fit the memory of many an engine.
pub(crate) const fn batch(n: usize) -> usize {
    if n >= 100_000 { 10_000 } else { n }
}

/// The operations of a phase that one transaction does.
pub(crate) struct Part<'a> {
    meter: &'a mut Meter,
    range: Range<u64>,
}

impl Part<'_> {
    /// Does them as [`Meter::each`] does; how many were done before the cap.
    #[inline]
    pub(crate) fn each<E>(
        self,
        op: impl FnMut(usize) -> std::result::Result<(), E>,
    ) -> std::result::Result<u64, E> {
        self.meter.part(self.range, op)
    }
}

impl Strategy {
    /// Does `n` operations one at a time: calls `transaction` for each transaction, to enter the scope
    /// and do the part in it. Ends after the one in which the cap is passed; how many were done.
    ///
    /// # Errors
    /// The first of `transaction`.
    pub(crate) fn each(
        self,
        n: usize,
        meter: &mut Meter,
        mut transaction: impl FnMut(Scope, Part<'_>) -> Result<u64>,
    ) -> Result<u64> {
        let (scope, size) = match self {
            Self::CommitEach => (Scope::PerOperation, n),
            Self::OneTransaction => (Scope::Batch, n),
            Self::Every(rows) => (Scope::Batch, usize::try_from(rows).unwrap_or(n).max(1)),
            Self::Single | Self::Bulk => (Scope::Batch, batch(n)),
        };
        let (n, size, mut done) = (n as u64, size as u64, 0);
        loop {
            let range = done..n.min(done + size);
            let end = range.end;
            done += transaction(scope, Part { meter, range })?;
            if done < end || end == n || meter.expired() {
                return Ok(done);
            }
        }
    }

    /// The strategy that is called so.
    pub(crate) fn named(
        name: &str,
        variants: &[VariantInfo],
    ) -> std::result::Result<Self, WorkloadError> {
        let known = variants.iter().any(|variant| variant.name == name);
        match name {
            "single" if known => Ok(Self::Single),
            "one-transaction" if known => Ok(Self::OneTransaction),
            "commit-each" if known => Ok(Self::CommitEach),
            "bulk" if known => Ok(Self::Bulk),
            _ => Err(choice::unknown("variant", name, variants.iter().map(|v| v.name)).into()),
        }
    }
}

#[cfg(test)]
mod tests;
