//! The options a database is opened with: those of
//! <https://github.com/facebook/rocksdb/wiki/Setup-Options-and-Basic-Tuning>, within the memory
//! of the open.

use std::num::NonZero;

use embermark_model::Durability;

use super::api::{Api, Handle};
use crate::OpenOptions;

/// Bits of the bloom filters for each key.
const FILTER_BITS: f64 = 10.0;
/// Bytes of a block before compression.
const BLOCK: usize = 16 << 10;
/// Bytes written to a table's file between two calls that hand them to the disk.
const BYTES_PER_SYNC: u64 = 1 << 20;

/// Options of RocksDB, freed when dropped.
pub(super) struct Options<'a> {
    api: &'a Api,
    /// `rocksdb_options_t`, for the database and for each column family.
    pub db: Handle,
    /// `rocksdb_writeoptions_t`, the tier's.
    pub write: Handle,
    /// `rocksdb_readoptions_t`, with the snapshot of a transaction that reads.
    pub read: Handle,
    /// `rocksdb_flushoptions_t`: as shipped, it waits.
    pub flush: Handle,
}

impl<'a> Options<'a> {
    /// The library's own, but for making a database that is not there.
    pub(super) fn plain(api: &'a Api) -> Self {
        // SAFETY: each function makes a thing of its own, freed when `Self` is dropped.
        unsafe {
            let db = (api.options_create)();
            (api.options_set_create_if_missing)(db, 1);
            let (write, read) = ((api.writeoptions_create)(), (api.readoptions_create)());
            Self { api, db, write, read, flush: (api.flushoptions_create)() }
        }
    }

    /// Those of a open. A quarter of its memory is for what was not yet written to tables, in all
    /// column families together; the rest is the cache of their blocks, indexes and filters.
    pub(super) fn of(api: &'a Api, open: &OpenOptions) -> Self {
        let options = Self::plain(api);
        let memory = usize::try_from(open.memory).unwrap_or(usize::MAX);
        let buffers = memory / 4;
        let cpus = std::thread::available_parallelism().map_or(1, NonZero::get);
        // SAFETY: the handles are ours; the policy becomes the table's, and the options keep the
        // cache and a copy of the table's settings, so both are freed here.
        unsafe {
            let table = (api.block_based_options_create)();
            let cache = (api.cache_create_lru)(memory - buffers);
            (api.block_based_options_set_block_cache)(table, cache);
            (api.block_based_options_set_block_size)(table, BLOCK);
            let filter = (api.filterpolicy_create_bloom_full)(FILTER_BITS);
            (api.block_based_options_set_filter_policy)(table, filter);
            (api.block_based_options_set_cache_index_and_filter_blocks)(table, 1);
            (api.block_based_options_set_pin_l0_filter_and_index_blocks_in_cache)(table, 1);
            (api.options_set_block_based_table_factory)(options.db, table);
            (api.block_based_options_destroy)(table);
            (api.cache_destroy)(cache);

            (api.options_set_db_write_buffer_size)(options.db, buffers);
            (api.options_set_write_buffer_size)(options.db, buffers);
            (api.options_set_level_compaction_dynamic_level_bytes)(options.db, 1);
            (api.options_set_bytes_per_sync)(options.db, BYTES_PER_SYNC);
            let threads = i32::try_from(cpus).unwrap_or(i32::MAX);
            (api.options_increase_parallelism)(options.db, threads);
        }
        options.set_tier(open);
        options
    }

    /// Those of a further client of a open's database: how it reads and writes.
    pub(super) fn of_client(api: &'a Api, open: &OpenOptions) -> Self {
        let options = Self::plain(api);
        options.set_tier(open);
        options
    }

    fn set_tier(&self, open: &OpenOptions) {
        let (api, options) = (self.api, self);
        // SAFETY: the handles are ours.
        unsafe {
            let unlogged = open.durability == Durability::None;
            (api.writeoptions_disable_WAL)(options.write, i32::from(unlogged));
            let synced = open.durability == Durability::Power;
            (api.writeoptions_set_sync)(options.write, u8::from(synced));
        }
    }

    /// The tier's settings, read back.
    pub(super) fn tier(&self) -> [(&'static str, bool); 2] {
        // SAFETY: the options are ours.
        let (unlogged, synced) = unsafe {
            (
                (self.api.writeoptions_get_disable_WAL)(self.write),
                (self.api.writeoptions_get_sync)(self.write),
            )
        };
        [("disableWAL", unlogged != 0), ("sync", synced != 0)]
    }
}

impl Drop for Options<'_> {
    fn drop(&mut self) {
        // SAFETY: ours, made once, and not used again.
        unsafe {
            (self.api.options_destroy)(self.db);
            (self.api.writeoptions_destroy)(self.write);
            (self.api.readoptions_destroy)(self.read);
            (self.api.flushoptions_destroy)(self.flush);
        }
    }
}
