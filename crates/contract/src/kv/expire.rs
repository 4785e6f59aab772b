//! Removing a range of keys where an engine has no operation for it.

use std::ops::ControlFlow;

use super::{Operations, Range, Table, Work};
use crate::{Result, Scope};

/// Keys that are removed by one commit: few enough for an engine that keeps what a transaction changes in
/// memory or holds back readers, and enough that a commit is spread over many.
const BATCH: usize = 1_000;

/// Removes every key from `from` up to but without `to`: looks for a thousand at a time and removes them, in a
/// batch of their own each. `transact` is the store's.
///
/// # Errors
/// When the engine reports one.
pub(super) fn in_batches(
    mut transact: impl FnMut(Scope, &mut Work<'_>) -> Result<()>,
    table: Table,
    from: &[u8],
    to: &[u8],
) -> Result<()> {
    let mut keys: Vec<Vec<u8>> = Vec::with_capacity(BATCH);
    loop {
        let mut found = 0;
        transact(Scope::Batch, &mut |operations: &mut dyn Operations| {
            found = 0;
            operations.scan(table, Range::between(from, Some(to)), &mut |key, _| {
                match keys.get_mut(found) {
                    Some(kept) => {
                        kept.clear();
                        kept.extend_from_slice(key);
                    }
                    None => keys.push(key.to_vec()),
                }
                found += 1;
                if found < BATCH { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
            keys[..found].iter().try_for_each(|key| operations.delete(table, key).map(drop))
        })?;
        if found < BATCH {
            return Ok(());
        }
    }
}
