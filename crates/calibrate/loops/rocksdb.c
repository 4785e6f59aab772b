/* RocksDB: the options of crates/engines/src/rocksdb/options.rs. */
#include "loops.h"
#include <rocksdb/c.h>
#include <stdlib.h>
#include <unistd.h>

#define FAMILY "table readings"

struct db {
	rocksdb_options_t *options;
	rocksdb_writeoptions_t *write;
	rocksdb_readoptions_t *read;
	rocksdb_flushoptions_t *flush;
	rocksdb_writebatch_t *batch;
	rocksdb_t *db;
	/* `default`, which cannot be removed, and the table. */
	rocksdb_column_family_handle_t *unused, *table;
};

static int said(char *error)
{
	if (error == NULL)
		return 0;
	fprintf(stderr, "RocksDB: %s\n", error);
	rocksdb_free(error);
	return 1;
}

static rocksdb_options_t *options_of(size_t memory)
{
	rocksdb_options_t *options = rocksdb_options_create();
	rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
	rocksdb_cache_t *cache = rocksdb_cache_create_lru(memory - memory / 4);
	rocksdb_options_set_create_if_missing(options, 1);
	rocksdb_block_based_options_set_block_cache(table, cache);
	rocksdb_block_based_options_set_block_size(table, 16 << 10);
	rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom_full(10));
	rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1);
	rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(table, 1);
	rocksdb_options_set_block_based_table_factory(options, table);
	rocksdb_block_based_options_destroy(table);
	rocksdb_cache_destroy(cache);
	rocksdb_options_set_db_write_buffer_size(options, memory / 4);
	rocksdb_options_set_write_buffer_size(options, memory / 4);
	rocksdb_options_set_level_compaction_dynamic_level_bytes(options, 1);
	rocksdb_options_set_bytes_per_sync(options, 1 << 20);
	rocksdb_options_increase_parallelism(options, (int)sysconf(_SC_NPROCESSORS_ONLN));
	return options;
}

static int make_table(struct db *db)
{
	char *error = NULL;
	db->table = rocksdb_create_column_family(db->db, db->options, FAMILY, &error);
	return said(error);
}

static int rocksdb_open_bare(void **out, const char *directory, uint64_t memory)
{
	struct db *db = calloc(1, sizeof *db);
	const char *names[] = { "default" };
	const rocksdb_options_t *of_each[1];
	char *error = NULL;
	if (db == NULL)
		return 1;
	*out = db;
	db->options = options_of(memory);
	db->write = rocksdb_writeoptions_create();
	db->read = rocksdb_readoptions_create();
	db->flush = rocksdb_flushoptions_create();
	db->batch = rocksdb_writebatch_create();
	of_each[0] = db->options;
	db->db = rocksdb_open_column_families(db->options, directory, 1, names, of_each, &db->unused, &error);
	return said(error) != 0 ? 1 : make_table(db);
}

static int rocksdb_clear_bare(void *handle)
{
	struct db *db = handle;
	char *error = NULL;
	rocksdb_drop_column_family(db->db, db->table, &error);
	rocksdb_column_family_handle_destroy(db->table);
	return said(error) != 0 ? 1 : make_table(db);
}

static int rocksdb_load_bare(void *handle, const struct row *rows, size_t count)
{
	struct db *db = handle;
	char *error = NULL;
	for (size_t i = 0; i < count; i++)
		rocksdb_writebatch_put_cf(db->batch, db->table, (const char *)rows[i].key, KEY_BYTES,
		    (const char *)rows[i].value, VALUE_BYTES);
	rocksdb_write(db->db, db->write, db->batch, &error);
	rocksdb_writebatch_clear(db->batch);
	return said(error);
}

static int rocksdb_settle_bare(void *handle)
{
	struct db *db = handle;
	char *error = NULL;
	rocksdb_flush_cf(db->db, db->flush, db->table, &error);
	rocksdb_compact_range_cf(db->db, db->table, NULL, 0, NULL, 0);
	return said(error);
}

static int rocksdb_read_bare(void *handle, const struct wanted *keys, size_t count, struct found *found)
{
	struct db *db = handle;
	const rocksdb_snapshot_t *snapshot = rocksdb_create_snapshot(db->db);
	int rc = 0;
	rocksdb_readoptions_set_snapshot(db->read, snapshot);
	for (size_t i = 0; i < count && rc == 0; i++) {
		char *error = NULL;
		rocksdb_pinnableslice_t *slice = rocksdb_get_pinned_cf(db->db, db->read, db->table,
		    (const char *)keys[i].key, KEY_BYTES, &error);
		if (slice != NULL) {
			size_t size;
			const char *value = rocksdb_pinnableslice_value(slice, &size);
			if (size == VALUE_BYTES)
				take(found, value);
			rocksdb_pinnableslice_destroy(slice);
		}
		rc = said(error);
	}
	rocksdb_readoptions_set_snapshot(db->read, NULL);
	rocksdb_release_snapshot(db->db, snapshot);
	return rc;
}

static int rocksdb_close_bare(void *handle)
{
	struct db *db = handle;
	rocksdb_writebatch_destroy(db->batch);
	rocksdb_column_family_handle_destroy(db->table);
	rocksdb_column_family_handle_destroy(db->unused);
	rocksdb_close(db->db);
	rocksdb_flushoptions_destroy(db->flush);
	rocksdb_readoptions_destroy(db->read);
	rocksdb_writeoptions_destroy(db->write);
	rocksdb_options_destroy(db->options);
	free(db);
	return 0;
}

const struct loops bare_rocksdb = {
	rocksdb_open_bare, rocksdb_clear_bare, rocksdb_load_bare,
	rocksdb_settle_bare, rocksdb_read_bare, rocksdb_close_bare,
};
