//! Removes a range of keys if an engine has no operation for it.

use std::ops::ControlFlow;

use super::{Operations, Range, Table, Work};
use crate::{Result, Scope};

/// Number of keys that one commit removes. Small enough for an engine that keeps a transaction's
/// changes in memory or delays readers. Large enough to spread the cost of a commit.
const BATCH: usize = 1_000;

/// Removes every key from `from` (inclusive) to `to` (exclusive): finds 1,000 at a time and removes
/// each 1,000 in one batch. `transact` is the store's.
///
/// # Errors
/// The engine's error.
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
            keys[..found].iter().try_for_each(|key| operations.remove(table, key))
        })?;
        if found < BATCH {
            return Ok(());
        }
    }
}
