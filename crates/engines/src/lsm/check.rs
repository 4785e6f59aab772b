//! Reading everything with its checksums.

use std::ops::ControlFlow;

use super::{Db, Iter, Reads};
use crate::kv::Range;
use crate::{Checked, Result};

/// How both libraries begin to say that what they read is damaged
/// (`Status::Corruption`, <https://github.com/google/leveldb/blob/main/doc/index.md#status>).
const DAMAGE: &str = "Corruption: ";

/// Takes an error that tells of damage for what a check found, and none is left.
pub(crate) fn damage(done: Result<()>, checked: &mut Checked) -> Result<()> {
    let Err(error) = done else { return Ok(()) };
    let said = error.to_string();
    let Some(at) = said.find(DAMAGE) else { return Err(error) };
    checked.found(&said[at..]);
    Ok(())
}

impl<X> Db<X> {
    /// Options to read with that compare the checksum of each block that is read, and leave the cache
    /// to others.
    pub fn verifying(&self) -> Reads {
        let (api, reads) = (self.lib.api, self.reads());
        // SAFETY: ours.
        unsafe {
            (api.readoptions_set_verify_checksums)(reads.0.raw, 1);
            (api.readoptions_set_fill_cache)(reads.0.raw, 0);
        }
        reads
    }
}

impl Iter<'_> {
    /// Reads every pair, and adds what is damaged to what was found.
    pub fn verify(&self, checked: &mut Checked) -> Result<()> {
        damage(self.walk(Range::default(), &mut |_, _| ControlFlow::Continue(())), checked)
    }
}
