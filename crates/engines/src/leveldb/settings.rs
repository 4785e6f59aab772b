//! The settings of LevelDB that a configuration can change.

use crate::settings::{SWITCH, is_on, lines};
use crate::{Candidate, Setting, SettingValues, Settings};

/// Options with setters in the C interface
/// (<https://github.com/google/leveldb/blob/main/include/leveldb/c.h>). Those that differ here have
/// these defaults: 4 MiB of write buffer, 8 MiB of cache, no filter.
pub(super) const SETTINGS: Settings = Settings {
    known: &[
        Setting::new("write_buffer_size", SettingValues::Number).by_default("4194304"),
        Setting::new("block_cache", SettingValues::Number).by_default("8388608"),
        Setting::new("filter_policy_bits", SettingValues::Number).by_default("0"),
        Setting::new("block_size", SettingValues::Number),
        Setting::new("block_restart_interval", SettingValues::Number),
        Setting::new("max_file_size", SettingValues::Number),
        Setting::new("max_open_files", SettingValues::Number),
        Setting::new("compression", SettingValues::Word(&["none", "snappy"])),
        Setting::new("paranoid_checks", SWITCH),
    ],
    others: None,
    reserved: &[("sync", "--tier sets it for each write")],
    candidates: CANDIDATES,
    written: |set| {
        let place = "/* before leveldb_open(options, name, &error); not among them: \
                     leveldb_writeoptions_set_sync of each write, 1 to survive a power cut */";
        lines(place, set, |name, value| {
            let (setter, value) = match name {
                "block_cache" => ("cache", format!("leveldb_cache_create_lru({value})")),
                "filter_policy_bits" => {
                    ("filter_policy", format!("leveldb_filterpolicy_create_bloom({value})"))
                }
                "compression" if compresses(value) => {
                    (name, "leveldb_snappy_compression".to_owned())
                }
                "compression" => (name, "leveldb_no_compression".to_owned()),
                "paranoid_checks" => (name, u8::from(is_on(value)).to_string()),
                _ => (name, value.to_owned()),
            };
            format!("leveldb_options_set_{setter}(options, {value});")
        })
    },
};

const INDEX: &str = "https://github.com/google/leveldb/blob/main/doc/index.md";

const CANDIDATES: &[Candidate] = &[
    Candidate::new(&[("block_size", "1024")], "a larger index in memory", INDEX),
    Candidate::new(&[("block_size", "16384")], "a point read takes more bytes", INDEX),
    Candidate::new(&[("filter_policy_bits", "0")], "a read of a missing key reads files", INDEX),
    Candidate::new(&[("filter_policy_bits", "16")], "more memory for filters", INDEX),
    Candidate::new(&[("compression", "none")], "more bytes on disk", INDEX),
    Candidate::new(&[("block_restart_interval", "4")], "more bytes on disk", INDEX),
    Candidate::new(&[("write_buffer_size", "1048576")], "smaller files, merged more often", INDEX),
    Candidate::new(&[("max_file_size", "8388608")], "longer merges", INDEX),
];

/// Whether a value of `compression` is Snappy, by its name or its number.
pub(super) fn compresses(value: &str) -> bool {
    value.eq_ignore_ascii_case("snappy") || value == "1"
}
