/* MongoDB with libmongoc, as its manual shows: https://mongoc.org/libmongoc/1.23.1/. The packages
 * that the adapter needs do not include its headers, so this file declares the functions that it
 * uses, and finds them in the library that the adapter has opened. Each insert is a commit, like the
 * adapter's. */
#include "loops.h"
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/types.h>

typedef struct {
	_Alignas(128) uint32_t flags;
	uint32_t len;
	uint8_t within[120];
} bson_t;

typedef struct {
	uint32_t domain, code;
	char message[504];
} bson_error_t;

/* A bson_iter_t, which takes 80 bytes. */
typedef struct {
	_Alignas(128) unsigned char room[256];
} bson_iter_t;

/* Result, name, arguments. */
#define FUNCTIONS(X) \
	X(void *, mongoc_client_new, (const char *uri)) \
	X(void, mongoc_client_destroy, (void *client)) \
	X(void *, mongoc_client_get_collection, (void *client, const char *db, const char *name)) \
	X(bool, mongoc_client_command_simple, (void *client, const char *db, const bson_t *command, \
		const void *preferences, bson_t *reply, bson_error_t *error)) \
	X(void, mongoc_collection_destroy, (void *collection)) \
	X(bool, mongoc_collection_drop, (void *collection, bson_error_t *error)) \
	X(bool, mongoc_collection_insert_one, (void *collection, const bson_t *document, \
		const bson_t *opts, bson_t *reply, bson_error_t *error)) \
	X(void *, mongoc_collection_find_with_opts, (void *collection, const bson_t *filter, \
		const bson_t *opts, const void *preferences)) \
	X(bool, mongoc_cursor_next, (void *cursor, const bson_t **document)) \
	X(bool, mongoc_cursor_error, (void *cursor, bson_error_t *error)) \
	X(void, mongoc_cursor_destroy, (void *cursor)) \
	X(bson_t *, bson_new_from_json, (const uint8_t *json, ssize_t length, bson_error_t *error)) \
	X(void, bson_init, (bson_t *bson)) \
	X(void, bson_destroy, (bson_t *bson)) \
	X(bool, bson_append_int64, (bson_t *bson, const char *key, int length, int64_t value)) \
	X(bool, bson_append_double, (bson_t *bson, const char *key, int length, double value)) \
	X(bool, bson_append_document_begin, (bson_t *bson, const char *key, int length, bson_t *child)) \
	X(bool, bson_append_document_end, (bson_t *bson, bson_t *child)) \
	X(bool, bson_iter_init, (bson_iter_t *iter, const bson_t *bson)) \
	X(bool, bson_iter_next, (bson_iter_t *iter)) \
	X(const char *, bson_iter_key, (const bson_iter_t *iter)) \
	X(double, bson_iter_double, (const bson_iter_t *iter))

#define POINTER(result, name, arguments) static result (*name) arguments;
FUNCTIONS(POINTER)

static const char *const columns[4] = { "temperature", "humidity", "light", "voltage" };

struct db {
	void *client, *collection;
	bson_t *create, *fsync, *insert_opts, *find_opts;
};

static int report_error(const char *what)
{
	fprintf(stderr, "libmongoc: %s\n", what);
	return 1;
}

static int look_up(void)
{
	void *library = dlopen("libmongoc-1.0.so.0", RTLD_NOW | RTLD_NOLOAD);
	if (library == NULL)
		return report_error("the adapter has not opened it");
#define LOOK_UP(result, name, arguments) \
	*(void **)&name = dlsym(library, #name); \
	if (name == NULL) \
		return report_error("it lacks " #name);
	FUNCTIONS(LOOK_UP)
	return 0;
}

static bson_t *of_json(const char *json)
{
	return bson_new_from_json((const uint8_t *)json, -1, NULL);
}

/* The path is the URI of a running server. */
static int mongodb_open(void **out, const char *uri, uint64_t memory)
{
	struct db *db = calloc(1, sizeof *db);
	(void)memory;
	if (db == NULL || look_up() != 0)
		return report_error("the client could not be created");
	*out = db;
	db->client = mongoc_client_new(uri);
	if (db->client == NULL)
		return report_error("invalid URI");
	db->collection = mongoc_client_get_collection(db->client, "bare", "readings");
	db->create = of_json("{\"create\": \"readings\"}");
	db->fsync = of_json("{\"fsync\": 1}");
	db->insert_opts = of_json("{\"writeConcern\": {\"w\": 1, \"j\": false}}");
	db->find_opts = of_json("{\"projection\": {\"_id\": false, \"temperature\": true, "
				"\"humidity\": true, \"light\": true, \"voltage\": true}, "
				"\"limit\": 1, \"singleBatch\": true}");
	return 0;
}

static int mongodb_clear(void *handle)
{
	struct db *db = handle;
	bson_error_t error;
	/* Dropping a missing collection fails, so the result is ignored. */
	mongoc_collection_drop(db->collection, &error);
	if (!mongoc_client_command_simple(db->client, "bare", db->create, NULL, NULL, &error))
		return report_error(error.message);
	return 0;
}

/* The key of a reading, as `_id`. */
static void append_id(bson_t *bson, uint16_t sensor, int64_t ts)
{
	bson_t id;
	bson_append_document_begin(bson, "_id", 3, &id);
	bson_append_int64(&id, "sensor", 6, sensor);
	bson_append_int64(&id, "ts", 2, ts);
	bson_append_document_end(bson, &id);
}

static int mongodb_load(void *handle, const struct row *rows, size_t count)
{
	struct db *db = handle;
	bson_error_t error;
	for (size_t i = 0; i < count; i++) {
		bson_t document;
		bson_init(&document);
		append_id(&document, rows[i].sensor, rows[i].ts);
		for (int column = 0; column < 4; column++)
			if (rows[i].present >> column & 1)
				bson_append_double(&document, columns[column], -1,
						   rows[i].values[column]);
		bool done = mongoc_collection_insert_one(db->collection, &document, db->insert_opts,
							 NULL, &error);
		bson_destroy(&document);
		if (!done)
			return report_error(error.message);
	}
	return 0;
}

static int mongodb_settle(void *handle)
{
	struct db *db = handle;
	bson_error_t error;
	if (!mongoc_client_command_simple(db->client, "admin", db->fsync, NULL, NULL, &error))
		return report_error(error.message);
	return 0;
}

/* Adds a document to the sum, as if it were the value of a key-value store. */
static void add_document(struct row_sum *found, const bson_t *document)
{
	unsigned char value[VALUE_BYTES] = { 0 };
	bson_iter_t fields;
	bson_iter_init(&fields, document);
	while (bson_iter_next(&fields))
		for (int column = 0; column < 4; column++)
			if (strcmp(bson_iter_key(&fields), columns[column]) == 0) {
				double read = bson_iter_double(&fields);
				value[0] |= 1 << column;
				memcpy(value + 1 + column * sizeof read, &read, sizeof read);
			}
	add_value(found, value);
}

static int mongodb_read(void *handle, const struct lookup_key *keys, size_t count, struct row_sum *found)
{
	struct db *db = handle;
	bson_error_t error;
	for (size_t i = 0; i < count; i++) {
		const bson_t *document;
		bson_t filter;
		bson_init(&filter);
		append_id(&filter, keys[i].sensor, keys[i].ts);
		void *cursor = mongoc_collection_find_with_opts(db->collection, &filter,
								db->find_opts, NULL);
		if (mongoc_cursor_next(cursor, &document))
			add_document(found, document);
		bool failed = mongoc_cursor_error(cursor, &error);
		mongoc_cursor_destroy(cursor);
		bson_destroy(&filter);
		if (failed)
			return report_error(error.message);
	}
	return 0;
}

static int mongodb_close(void *handle)
{
	struct db *db = handle;
	bson_destroy(db->create);
	bson_destroy(db->fsync);
	bson_destroy(db->insert_opts);
	bson_destroy(db->find_opts);
	mongoc_collection_destroy(db->collection);
	mongoc_client_destroy(db->client);
	free(db);
	return 0;
}

const struct loops bare_mongodb = {
	mongodb_open, mongodb_clear, mongodb_load, mongodb_settle, mongodb_read, mongodb_close,
};
