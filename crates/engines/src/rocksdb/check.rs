//! RocksDB's own check.

use super::db::Families;
use crate::{Checked, Result};

/// Reads every pair of every column family and compares the checksum of each block
/// (<https://github.com/facebook/rocksdb/wiki/Basic-Operations#checksums>). The C interface has no
/// `DB::VerifyChecksum`. A cached block was compared when it was read, which is the default for all
/// reads.
pub(super) fn checksums(families: &Families) -> Result<Checked> {
    let mut checked = Checked::new("a scan with verify_checksums");
    let reads = families.db.verifying_read_options();
    families.all().iter().try_for_each(|family| family.iter(&reads).verify(&mut checked))?;
    Ok(checked)
}
