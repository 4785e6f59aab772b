/* RocksDB: the options of crates/engines/src/rocksdb/options.rs. A fetched release has no headers, so
 * this file declares the functions of rocksdb/c.h that it uses, and finds them in the library that
 * the adapter has opened. */
#define _GNU_SOURCE
#include "loops.h"
#include <dlfcn.h>
#include <link.h>
#include <sched.h>
#include <stdlib.h>

#define FAMILY "table readings"

typedef void rocksdb_t, rocksdb_options_t, rocksdb_writeoptions_t, rocksdb_readoptions_t,
    rocksdb_flushoptions_t, rocksdb_writebatch_t, rocksdb_column_family_handle_t, rocksdb_snapshot_t,
    rocksdb_pinnableslice_t;

/* Result, name, arguments. */
#define FUNCTIONS(X) \
	X(void, free, (void *)) \
	X(rocksdb_options_t *, options_create, (void)) \
	X(void, options_destroy, (rocksdb_options_t *)) \
	X(void, get_options_from_string, \
		(const rocksdb_options_t *, const char *text, rocksdb_options_t *, char **error)) \
	X(rocksdb_writeoptions_t *, writeoptions_create, (void)) \
	X(void, writeoptions_destroy, (rocksdb_writeoptions_t *)) \
	X(rocksdb_readoptions_t *, readoptions_create, (void)) \
	X(void, readoptions_destroy, (rocksdb_readoptions_t *)) \
	X(void, readoptions_set_snapshot, (rocksdb_readoptions_t *, const rocksdb_snapshot_t *)) \
	X(rocksdb_flushoptions_t *, flushoptions_create, (void)) \
	X(void, flushoptions_destroy, (rocksdb_flushoptions_t *)) \
	X(rocksdb_writebatch_t *, writebatch_create, (void)) \
	X(void, writebatch_destroy, (rocksdb_writebatch_t *)) \
	X(void, writebatch_clear, (rocksdb_writebatch_t *)) \
	X(void, writebatch_put_cf, (rocksdb_writebatch_t *, rocksdb_column_family_handle_t *, \
		const char *key, size_t, const char *value, size_t)) \
	X(void, write, (rocksdb_t *, const rocksdb_writeoptions_t *, rocksdb_writebatch_t *, char **error)) \
	X(rocksdb_t *, open_column_families, (const rocksdb_options_t *, const char *path, int count, \
		const char *const *names, const rocksdb_options_t *const *of_each, \
		rocksdb_column_family_handle_t **, char **error)) \
	X(rocksdb_column_family_handle_t *, create_column_family, \
		(rocksdb_t *, const rocksdb_options_t *, const char *name, char **error)) \
	X(void, drop_column_family, (rocksdb_t *, rocksdb_column_family_handle_t *, char **error)) \
	X(void, column_family_handle_destroy, (rocksdb_column_family_handle_t *)) \
	X(void, flush_cf, (rocksdb_t *, const rocksdb_flushoptions_t *, rocksdb_column_family_handle_t *, \
		char **error)) \
	X(void, compact_range_cf, (rocksdb_t *, rocksdb_column_family_handle_t *, const char *from, size_t, \
		const char *to, size_t)) \
	X(const rocksdb_snapshot_t *, create_snapshot, (rocksdb_t *)) \
	X(void, release_snapshot, (rocksdb_t *, const rocksdb_snapshot_t *)) \
	X(rocksdb_pinnableslice_t *, get_pinned_cf, (rocksdb_t *, const rocksdb_readoptions_t *, \
		rocksdb_column_family_handle_t *, const char *key, size_t, char **error)) \
	X(const char *, pinnableslice_value, (const rocksdb_pinnableslice_t *, size_t *)) \
	X(void, pinnableslice_destroy, (rocksdb_pinnableslice_t *)) \
	X(void, close, (rocksdb_t *))

#define POINTER(result, name, arguments) static result (*rocksdb_##name) arguments;
FUNCTIONS(POINTER)

/* Copies the path of the librocksdb.so that the process has loaded already. It must not call dlopen:
 * while the list of libraries is walked, its lock is held. Another thread's dlopen waits for that
 * lock and holds the one that a dlopen here would need. */
static int find_rocksdb(struct dl_phdr_info *loaded, size_t size, void *path)
{
	(void)size;
	if (strstr(loaded->dlpi_name, "/librocksdb.so") == NULL)
		return 0;
	*(char **)path = strdup(loaded->dlpi_name);
	return 1;
}

static int look_up(void)
{
	char *path = NULL;
	dl_iterate_phdr(find_rocksdb, &path);
	void *library = path == NULL ? NULL : dlopen(path, RTLD_NOW | RTLD_NOLOAD);
	free(path);
	if (library == NULL) {
		fprintf(stderr, "RocksDB: the adapter has not opened its library\n");
		return 1;
	}
#define LOOK_UP(result, name, arguments) \
	*(void **)&rocksdb_##name = dlsym(library, "rocksdb_" #name); \
	if (rocksdb_##name == NULL) { \
		fprintf(stderr, "RocksDB: its library lacks rocksdb_" #name "\n"); \
		return 1; \
	}
	FUNCTIONS(LOOK_UP)
	return 0;
}

struct db {
	rocksdb_options_t *options;
	rocksdb_writeoptions_t *write;
	rocksdb_readoptions_t *read;
	rocksdb_flushoptions_t *flush;
	rocksdb_writebatch_t *batch;
	rocksdb_t *db;
	/* The column families: `default`, which cannot be removed, and the table. */
	rocksdb_column_family_handle_t *unused, *table;
};

static int report_error(char *error)
{
	if (error == NULL)
		return 0;
	fprintf(stderr, "RocksDB: %s\n", error);
	rocksdb_free(error);
	return 1;
}

/* Sets the options of `Sizes::options` of the adapter. */
static int set_options(rocksdb_options_t *options, size_t memory)
{
	const size_t least = 2 << 20, most = 64 << 20, buffers = memory / 4, cache = memory - buffers;
	size_t file = memory / 10;
	unsigned shard_bits = 0;
	char text[1024], *error = NULL;
	cpu_set_t cpus;
	rocksdb_options_t *shipped = rocksdb_options_create();
	file = file < least ? least : file > most ? most : file;
	for (size_t files = cache / file; files > 1; files /= 2)
		shard_bits++;
	CPU_ZERO(&cpus);
	sched_getaffinity(0, sizeof cpus, &cpus);
	snprintf(text, sizeof text, "create_if_missing=true;max_background_jobs=%d;bytes_per_sync=1048576;"
	    "db_write_buffer_size=%zu;write_buffer_size=%zu;max_bytes_for_level_base=%zu;"
	    "target_file_size_base=%zu;level_compaction_dynamic_level_bytes=true;"
	    "block_based_table_factory={block_size=16384;block_cache={capacity=%zu;num_shard_bits=%u};"
	    "filter_policy=bloomfilter:10:false;cache_index_and_filter_blocks=true;"
	    "pin_l0_filter_and_index_blocks_in_cache=true;}",
	    CPU_COUNT(&cpus), buffers, buffers, 4 * buffers, file, cache, shard_bits);
	rocksdb_get_options_from_string(shipped, text, options, &error);
	rocksdb_options_destroy(shipped);
	return report_error(error);
}

static int make_table(struct db *db)
{
	char *error = NULL;
	db->table = rocksdb_create_column_family(db->db, db->options, FAMILY, &error);
	return report_error(error);
}

static int rocksdb_open_bare(void **out, const char *directory, uint64_t memory)
{
	struct db *db = calloc(1, sizeof *db);
	const char *names[] = { "default" };
	const rocksdb_options_t *of_each[1];
	char *error = NULL;
	if (db == NULL || look_up() != 0)
		return 1;
	*out = db;
	db->options = rocksdb_options_create();
	if (set_options(db->options, memory) != 0)
		return 1;
	db->write = rocksdb_writeoptions_create();
	db->read = rocksdb_readoptions_create();
	db->flush = rocksdb_flushoptions_create();
	db->batch = rocksdb_writebatch_create();
	of_each[0] = db->options;
	db->db = rocksdb_open_column_families(db->options, directory, 1, names, of_each, &db->unused, &error);
	return report_error(error) != 0 ? 1 : make_table(db);
}

static int rocksdb_clear_bare(void *handle)
{
	struct db *db = handle;
	char *error = NULL;
	rocksdb_drop_column_family(db->db, db->table, &error);
	rocksdb_column_family_handle_destroy(db->table);
	return report_error(error) != 0 ? 1 : make_table(db);
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
	return report_error(error);
}

static int rocksdb_settle_bare(void *handle)
{
	struct db *db = handle;
	char *error = NULL;
	rocksdb_flush_cf(db->db, db->flush, db->table, &error);
	rocksdb_compact_range_cf(db->db, db->table, NULL, 0, NULL, 0);
	return report_error(error);
}

static int rocksdb_read_bare(void *handle, const struct lookup_key *keys, size_t count, struct row_sum *found)
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
				add_value(found, value);
			rocksdb_pinnableslice_destroy(slice);
		}
		rc = report_error(error);
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

static int rocksdb_load_records(void *handle, const struct record *records, size_t count)
{
	struct db *db = handle;
	char *error = NULL;
	if (rocksdb_clear_bare(handle) != 0)
		return 1;
	for (size_t i = 0; i < count; i++)
		rocksdb_writebatch_put_cf(db->batch, db->table, records[i].key, records[i].key_bytes,
		    records[i].fields, RECORD_BYTES);
	rocksdb_write(db->db, db->write, db->batch, &error);
	rocksdb_writebatch_clear(db->batch);
	return report_error(error);
}

/* Reads a record, and adds it to the sum or copies it. */
static int rocksdb_read_record(struct db *db, const struct operation *operation, struct row_sum *found, char *copy)
{
	char *error = NULL;
	size_t size;
	rocksdb_pinnableslice_t *slice = rocksdb_get_pinned_cf(db->db, db->read, db->table,
	    operation->key, operation->key_bytes, &error);
	if (slice != NULL) {
		const char *value = rocksdb_pinnableslice_value(slice, &size);
		if (copy != NULL)
			memcpy(copy, value, RECORD_BYTES);
		else
			add_record(found, value);
		rocksdb_pinnableslice_destroy(slice);
	}
	return report_error(error);
}

static int rocksdb_update(struct db *db, const struct operation *operation)
{
	char fields[RECORD_BYTES], *error = NULL;
	if (rocksdb_read_record(db, operation, NULL, fields) != 0)
		return 1;
	memcpy(fields + operation->field * FIELD_BYTES, operation->text, FIELD_BYTES);
	rocksdb_writebatch_put_cf(db->batch, db->table, operation->key, operation->key_bytes, fields, RECORD_BYTES);
	rocksdb_write(db->db, db->write, db->batch, &error);
	rocksdb_writebatch_clear(db->batch);
	return report_error(error);
}

static int rocksdb_run(void *handle, const struct operation *operations, size_t count, int in_one, struct row_sum *found)
{
	struct db *db = handle;
	const rocksdb_snapshot_t *snapshot = in_one ? rocksdb_create_snapshot(db->db) : NULL;
	int rc = 0;
	rocksdb_readoptions_set_snapshot(db->read, snapshot);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = operations[i].text != NULL ? rocksdb_update(db, &operations[i])
						: rocksdb_read_record(db, &operations[i], found, NULL);
	rocksdb_readoptions_set_snapshot(db->read, NULL);
	if (snapshot != NULL)
		rocksdb_release_snapshot(db->db, snapshot);
	return rc;
}

const struct ycsb bare_rocksdb_ycsb = { rocksdb_load_records, rocksdb_run };

const struct loops bare_rocksdb = {
	rocksdb_open_bare, rocksdb_clear_bare, rocksdb_load_bare,
	rocksdb_settle_bare, rocksdb_read_bare, rocksdb_close_bare,
};
