//! Durability tiers of redb, by the durability of each transaction.

use std::ffi::CStr;
use std::ptr;

use embermark_abi as abi;
use redb::Durability;

const MANUAL: &CStr = c"https://docs.rs/redb/4/redb/enum.Durability.html";

const fn offered(survives: u32, setting: &'static CStr) -> abi::Tier {
    abi::Tier {
        survives,
        reserved: 0,
        setting: setting.as_ptr(),
        manual: MANUAL.as_ptr(),
        unsupported: ptr::null(),
        // redb reports only its page size.
        read_back: ptr::null(),
    }
}

/// From the weakest to the strongest.
pub(crate) static TIERS: [abi::Tier; 3] = [
    offered(
        abi::NONE,
        c"Durability::None: a commit is kept by the next Durability::Immediate, by maintenance and at \
          close",
    ),
    offered(abi::POWER, c"Durability::Immediate (default): a commit is synced"),
    offered(abi::POWER, c"Durability::Immediate (default): a commit is synced"),
];

/// Returns the durability that a tier sets.
pub(crate) fn durability_for(tier: u32) -> Durability {
    if tier == abi::NONE { Durability::None } else { Durability::Immediate }
}
