//! Reads everything and compares its checksums.

use std::ops::ControlFlow;

use super::{Db, Iter, ReadOptions};
use crate::kv::Range;
use crate::{Checked, Result};

/// Prefix of both libraries' messages about damage (`Status::Corruption`,
/// <https://github.com/google/leveldb/blob/main/doc/index.md#status>).
const DAMAGE: &str = "Corruption: ";

/// Adds an error about damage to the findings of a check, and returns other errors.
pub(crate) fn record_damage(done: Result<()>, checked: &mut Checked) -> Result<()> {
    let Err(error) = done else { return Ok(()) };
    let said = error.to_string();
    let Some(at) = said.find(DAMAGE) else { return Err(error) };
    checked.found(&said[at..]);
    Ok(())
}

impl<X> Db<X> {
    /// Returns options to read with that compare the checksum of each block, and do not fill the
    /// cache.
    pub fn verifying_read_options(&self) -> ReadOptions {
        let (api, reads) = (self.lib.api, self.read_options());
        // SAFETY: owned here.
        unsafe {
            (api.readoptions_set_verify_checksums)(reads.0.raw, 1);
            (api.readoptions_set_fill_cache)(reads.0.raw, 0);
        }
        reads
    }
}

impl Iter<'_> {
    /// Reads every pair, and adds damage to the findings.
    pub fn verify(&self, checked: &mut Checked) -> Result<()> {
        record_damage(self.walk(Range::default(), &mut |_, _| ControlFlow::Continue(())), checked)
    }
}
