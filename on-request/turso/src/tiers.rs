//! Durability tiers of Turso. Its only journal is a write-ahead log. A commit writes the log, and
//! syncs it if `PRAGMA synchronous` says so.

use std::ffi::CStr;
use std::ptr;

use embermark_abi as abi;

/// State `WaitSync` of a commit: with FULL it syncs the log before the commit ends, with OFF it
/// does not.
const SOURCE: &CStr = c"https://docs.rs/crate/turso_core/0.8.3/source/storage/pager.rs";

const fn pair(name: &'static CStr, value: &'static CStr) -> abi::Pair {
    abi::Pair { name: name.as_ptr(), value: value.as_ptr() }
}

const END: abi::Pair = abi::Pair { name: ptr::null(), value: ptr::null() };
static OFF: [abi::Pair; 3] = [pair(c"journal_mode", c"wal"), pair(c"synchronous", c"0"), END];
static FULL: [abi::Pair; 3] = [pair(c"journal_mode", c"wal"), pair(c"synchronous", c"2"), END];

const fn offered(
    survives: u32,
    setting: &'static CStr,
    read_back: &'static [abi::Pair; 3],
) -> abi::Tier {
    abi::Tier {
        survives,
        reserved: 0,
        setting: setting.as_ptr(),
        manual: SOURCE.as_ptr(),
        unsupported: ptr::null(),
        read_back: &raw const read_back[0],
    }
}

/// From the weakest to the strongest. No setting is cheaper than that of `process`.
pub(crate) static TIERS: [abi::Tier; 3] = [
    offered(abi::PROCESS, c"journal_mode=WAL, synchronous=OFF", &OFF),
    offered(abi::PROCESS, c"journal_mode=WAL, synchronous=OFF", &OFF),
    offered(abi::POWER, c"journal_mode=WAL, synchronous=FULL", &FULL),
];

/// Returns the value of `synchronous` for a tier.
pub(crate) const fn synchronous(tier: u32) -> &'static str {
    if tier == abi::POWER { "FULL" } else { "OFF" }
}
