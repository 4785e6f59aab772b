//! The options of a database: those that follow from its memory limit, and those it reports once it
//! is open. RocksDB has no function for most options, but writes them beside each database
//! (<https://github.com/facebook/rocksdb/wiki/RocksDB-Options-File>).

use std::num::NonZero;
use std::path::Path;
use std::{fs, io, thread};

use crate::{OpenOptions, Setting, SettingValues};

const REPORTED: &str = "manual_wal_flush db_write_buffer_size max_background_jobs bytes_per_sync \
                        write_buffer_size max_bytes_for_level_base target_file_size_base \
                        compression level_compaction_dynamic_level_bytes block_size filter_policy \
                        cache_index_and_filter_blocks pin_l0_filter_and_index_blocks_in_cache \
                        index_type format_version num_shard_bits";
/// Options that are set here, after other options of block-based tables.
pub(super) const KNOWN: [Setting; 17] = [
    Setting::new("block_size", SettingValues::Number).engine_default(),
    Setting::new("block_cache", SettingValues::Any).engine_default(),
    Setting::new("filter_policy", SettingValues::Any).engine_default(),
    Setting::new("cache_index_and_filter_blocks", SettingValues::Any).engine_default(),
    Setting::new("pin_l0_filter_and_index_blocks_in_cache", SettingValues::Any).engine_default(),
    Setting::new("index_type", SettingValues::Any),
    Setting::new("data_block_index_type", SettingValues::Any),
    Setting::new("format_version", SettingValues::Number),
    Setting::new("whole_key_filtering", SettingValues::Any),
    Setting::new("checksum", SettingValues::Any),
    Setting::new("max_background_jobs", SettingValues::Number).engine_default(),
    Setting::new("bytes_per_sync", SettingValues::Number).engine_default(),
    Setting::new("db_write_buffer_size", SettingValues::Number).engine_default(),
    Setting::new("write_buffer_size", SettingValues::Number).engine_default(),
    Setting::new("max_bytes_for_level_base", SettingValues::Number).engine_default(),
    Setting::new("target_file_size_base", SettingValues::Number).engine_default(),
    Setting::new("level_compaction_dynamic_level_bytes", SettingValues::Any).engine_default(),
];
const OF_TABLES: usize = 10;
/// Default size of a file, and the least size set here, which is LevelDB's.
const FILE: (u64, u64) = (64 << 20, 2 << 20);

/// Sizes, in bytes, that follow from a database's memory limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    /// Memtables of all column families together.
    pub buffers: u64,
    /// Cache of blocks, indexes, and filters.
    pub cache: u64,
    /// Logarithm of the number of shards of the cache.
    pub shard_bits: u32,
    pub file: u64,
}

impl Sizes {
    /// Derives the sizes. A quarter of the memory is for memtables. A level has ten files, and the
    /// first level is as large as the four full memtables that are compacted into it, which is all
    /// of the memory (<https://github.com/facebook/rocksdb/wiki/RocksDB-Tuning-Guide>). A shard has
    /// room for a file, so a file's filter, which is one block, fits. By default there are up to 64
    /// shards of half a megabyte and more, and each get reads a filter that does not fit.
    pub(super) fn for_memory(memory: u64) -> Self {
        let (shipped, least) = FILE;
        let (buffers, file) = (memory / 4, (memory / 10).clamp(least, shipped));
        let cache = memory - buffers;
        Self { buffers, cache, shard_bits: (cache / file).max(1).ilog2(), file }
    }

    /// Returns the cache in the library's syntax.
    pub(super) fn block_cache(self) -> String {
        format!("{{capacity={};num_shard_bits={}}}", self.cache, self.shard_bits)
    }

    /// Returns the options in the library's syntax. Options other than sizes follow
    /// <https://github.com/facebook/rocksdb/wiki/Setup-Options-and-Basic-Tuning>.
    pub(super) fn options(self, options: &OpenOptions) -> String {
        let Self { buffers, file, .. } = self;
        let (level, cpus) = (4 * buffers, thread::available_parallelism().map_or(1, NonZero::get));
        let of_tables = [
            ("block_size", "16384".to_owned()),
            ("block_cache", self.block_cache()),
            ("filter_policy", "bloomfilter:10:false".to_owned()),
            ("cache_index_and_filter_blocks", "true".to_owned()),
            ("pin_l0_filter_and_index_blocks_in_cache", "true".to_owned()),
        ];
        let ours = [
            ("create_if_missing", "true".to_owned()),
            ("max_background_jobs", cpus.to_string()),
            ("bytes_per_sync", "1048576".to_owned()),
            ("db_write_buffer_size", buffers.to_string()),
            ("write_buffer_size", buffers.to_string()),
            ("max_bytes_for_level_base", level.to_string()),
            ("target_file_size_base", file.to_string()),
            ("level_compaction_dynamic_level_bytes", "true".to_owned()),
        ];
        let ours = ours.iter().chain(&of_tables).map(|(name, value)| (*name, &**value));
        text(options.not_configured(ours).chain(options.configured()))
    }
}

/// Joins options to one text for the library, with those of tables in braces.
pub(super) fn text<'a>(set: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let (mut of_database, mut of_tables) = (String::new(), String::new());
    for (name, value) in set {
        let is_of_tables = KNOWN[..OF_TABLES].iter().any(|known| known.name == name);
        let text = if is_of_tables { &mut of_tables } else { &mut of_database };
        text.extend([name, "=", value, ";"]);
    }
    match of_tables.is_empty() {
        true => of_database,
        false => format!("{of_database}block_based_table_factory={{{of_tables}}}"),
    }
}

/// Returns the reported options of an open database, and those of a configuration.
pub(super) fn reported<'a>(
    folder: &Path,
    options: &'a OpenOptions,
) -> io::Result<impl Iterator<Item = (&'a str, String)>> {
    let written = written(folder)?;
    let own = options.settings.iter().map(|(name, _)| &**name);
    let own = own.filter(|name| REPORTED.split(' ').all(|known| known != *name));
    Ok(REPORTED.split(' ').chain(own).filter_map(move |name| {
        let (_, value) = written.iter().find(|(written, _)| written == name)?;
        Some((name, value.clone()))
    }))
}

/// Reads the newest options file of a database, which has the options in effect. Options of column
/// families are listed for each, the first family first, and all are alike. The size of the cache,
/// which the file omits, follows from the log.
pub(super) fn written(folder: &Path) -> io::Result<Vec<(String, String)>> {
    let mut newest = None;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let number = name.and_then(|name| name.strip_prefix("OPTIONS-")?.parse::<u64>().ok());
        newest = newest.max(number.map(|number| (number, path)));
    }
    let (_, path) = newest.ok_or_else(|| io::Error::other("it wrote no options file"))?;
    let (options, log) = (fs::read_to_string(path)?, fs::read_to_string(folder.join("LOG"))?);
    let options = options.lines().filter_map(|line| line.trim().split_once('='));
    let cache = log.lines().filter_map(|line| line.trim().split_once(" : "));
    let cache = cache.filter(|&(name, _)| name == "num_shard_bits");
    Ok(options.chain(cache).map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_options_file_is_read_and_the_cache_from_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("OPTIONS-000009", "[Version]\n  rocksdb_version=1\n");
        let text = "# text\n[Version]\n  rocksdb_version=7.8.3\n[CFOptions \"default\"]\n  a=b=c\n\
                [CFOptions \"other\"]\n  a=d\n";
        write("OPTIONS-000010", text);
        write("OPTIONS-000011.dbtmp", "rocksdb_version=2\n");
        assert!(written(folder.path()).is_err(), "without a log");
        write("LOG", "1 [x] Options.a : 1\n    capacity : 8388608\n    num_shard_bits : 4\n");
        let expected =
            [("rocksdb_version", "7.8.3"), ("a", "b=c"), ("a", "d"), ("num_shard_bits", "4")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(written(folder.path()).unwrap(), expected);
        assert!(written(&folder.path().join("none")).is_err());
    }

    #[test]
    fn a_shard_of_the_cache_has_room_for_a_file() {
        for (memory, shard_bits, file) in [
            (1 << 20, 0, 2 << 20),
            (16 << 20, 2, 2 << 20),
            (64 << 20, 2, 6_710_886),
            (256 << 20, 2, 26_843_545),
            (1 << 30, 3, 64 << 20),
        ] {
            let sizes = Sizes::for_memory(memory);
            assert_eq!((sizes.shard_bits, sizes.file), (shard_bits, file), "{memory}");
            assert_eq!(sizes.buffers + sizes.cache, memory);
            assert!(shard_bits == 0 || sizes.cache >> shard_bits >= file, "{memory}");
        }
    }
}
