//! Firebird's settings for each durability tier.

use embermark_model::Durability;

use super::library::LIBRARY;
use crate::{TierSetting, TierTable};

/// Returns the settings that keep each tier: whether every page is synced when it is written. A commit
/// writes the pages that its transaction has changed, in an order in which none refers to one that
/// is not written yet ("careful write"), and no log. `forced_writes` decides whether they reach the
/// device before it returns
/// (<https://www.firebirdsql.org/file/documentation/html/en/firebirddocs/gfix/firebird-gfix.html#gfix-writemode>):
///
/// - `power`, on: "data is flushed to disc on COMMIT".
/// - `process`, `none`, off: the operating system decides when data is written to the disc, which
///   the death of the process does not change. There is nothing cheaper.
///
/// A version in [`BROKEN`] does not keep `power`.
pub(super) fn tiers() -> TierTable<bool> {
    let is_broken = LIBRARY.get().is_ok_and(|library| BROKEN.contains(&&*library.version));
    let power = if is_broken { NOT_KEPT } else { FORCED };
    TierTable { none: UNFORCED, process: UNFORCED, power }
}

const UNFORCED: TierSetting<bool> = TierSetting::new(
    Durability::Process,
    false,
    "forced writes off: pages are handed to the operating system at commit",
    MANUAL,
)
.reads(&[("forced_writes", &["0"])])
.or_at_least(&[("forced_writes", &["0", "1"])]);

const FORCED: TierSetting<bool> = forced(
    Durability::Power,
    "forced writes on: every page is synced as it is written, at commit at the latest",
);

/// The same for a version in [`BROKEN`].
const NOT_KEPT: TierSetting<bool> = forced(
    Durability::Process,
    "after a power cut a page can stay partly written: rows or an index may be corrupt, or the file \
     may not open (docs/durability.md); set FIREBIRD_LIB_DIR to run another version",
);

const fn forced(effective: Durability, words: &'static str) -> TierSetting<bool> {
    TierSetting::new(effective, true, words, MANUAL).reads(&[("forced_writes", &["1"])])
}

/// Versions that do not keep `power`, as `embermark durability` showed. A page that is overwritten
/// in place, and only partly when the power is cut, is neither detected by a checksum nor stored a
/// second time.
const BROKEN: [&str; 1] = ["5.0.4"];

const MANUAL: &str =
    "https://www.firebirdsql.org/file/documentation/html/en/firebirddocs/gfix/firebird-gfix.html";
