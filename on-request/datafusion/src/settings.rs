//! Durability tiers, and settings of users.

use std::ffi::{CStr, c_char};
use std::ptr;

use embermark_abi as abi;

const fn tier(survives: u32, setting: &'static CStr) -> abi::Tier {
    abi::Tier {
        survives,
        reserved: 0,
        setting: setting.as_ptr(),
        manual: c"https://man7.org/linux/man-pages/man2/fsync.2.html".as_ptr(),
        unsupported: ptr::null(),
        read_back: ptr::null(),
    }
}

const UNSYNCED: abi::Tier = tier(
    abi::PROCESS,
    c"no fsync: a commit is a file in the operating system's page cache, which a killed process does not take along",
);

/// From the weakest to the strongest. No setting is cheaper than that of `process`.
pub(crate) static TIERS: [abi::Tier; 3] = [
    UNSYNCED,
    UNSYNCED,
    tier(abi::POWER, c"a commit is a file: written, fsync, renamed, fsync of the folder"),
];

/// Compression of files, rows per row group, and number of commits with their own file before they
/// are merged.
pub(crate) const COMPRESSION: &CStr = c"compression";
pub(crate) const GROUP: &CStr = c"max_row_group_size";
pub(crate) const FILES: &CStr = c"files_before_merge";
/// Options of DataFusion: threads per query, and whether conditions are evaluated while a file is
/// read.
pub(crate) const PARTITIONS: &CStr = c"datafusion.execution.target_partitions";
pub(crate) const PUSHDOWN: &CStr = c"datafusion.execution.parquet.pushdown_filters";

/// A null-terminated list of texts.
struct WordList<const N: usize>([*const c_char; N]);

// SAFETY: the pointers are to static texts that never change.
unsafe impl<const N: usize> Sync for WordList<N> {}

static COMPRESSIONS: WordList<4> =
    WordList([c"uncompressed".as_ptr(), c"snappy".as_ptr(), c"zstd".as_ptr(), ptr::null()]);
static BOOLEANS: WordList<3> = WordList([c"true".as_ptr(), c"false".as_ptr(), ptr::null()]);

const fn setting(name: &'static CStr, words: *const *const c_char) -> abi::Setting {
    let takes = if words.is_null() { abi::NUMBER } else { abi::WORD };
    abi::Setting { name: name.as_ptr(), takes, reserved: 0, words, by_default: ptr::null() }
}

/// Settings of users.
pub(crate) static SETTINGS: [abi::Setting; 6] = [
    setting(COMPRESSION, &raw const COMPRESSIONS.0[0]),
    setting(GROUP, ptr::null()),
    setting(FILES, ptr::null()),
    setting(PARTITIONS, ptr::null()),
    setting(PUSHDOWN, &raw const BOOLEANS.0[0]),
    abi::Setting {
        name: ptr::null(),
        takes: abi::ANY,
        reserved: 0,
        words: ptr::null(),
        by_default: ptr::null(),
    },
];

/// Reads the settings of a configuration.
///
/// # Safety
/// The pairs follow the header: the last one has the name NULL.
pub(crate) unsafe fn read_settings(mut pair: *const abi::Pair) -> Vec<(String, String)> {
    let mut given = Vec::new();
    // SAFETY: guaranteed by the caller.
    unsafe {
        while !(*pair).name.is_null() {
            let text = |text| CStr::from_ptr(text).to_string_lossy().into_owned();
            given.push((text((*pair).name), text((*pair).value)));
            pair = pair.add(1);
        }
    }
    given
}
