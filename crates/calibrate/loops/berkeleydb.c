/* Berkeley DB: the settings of crates/engines/src/berkeleydb. */
#include "loops.h"
#include <db.h>
#include <errno.h>
#include <stdlib.h>

#define FILE_NAME "readings.db"

struct db {
	DB_ENV *env;
	DB *table;
};

static int report_error(int code)
{
	if (code != 0)
		fprintf(stderr, "Berkeley DB: %s\n", db_strerror(code));
	return code;
}

static DBT dbt(const void *data, u_int32_t size)
{
	return (DBT){ .data = (void *)data, .size = size };
}

static int open_table(struct db *db)
{
	int rc = db_create(&db->table, db->env, 0);
	if (rc == 0)
		rc = db->table->set_pagesize(db->table, 4096);
	if (rc == 0)
		rc = db->table->open(db->table, NULL, FILE_NAME, NULL, DB_BTREE, DB_CREATE | DB_AUTO_COMMIT, 0);
	return report_error(rc);
}

static int berkeleydb_open(void **out, const char *directory, uint64_t memory)
{
	/* For a cache below 500 MB the library adds a quarter to the requested size. */
	uint64_t cache = memory / 5 * 4 < 500 << 20 ? memory / 5 * 4 : memory;
	const u_int32_t flags = DB_CREATE | DB_PRIVATE | DB_INIT_MPOOL | DB_INIT_LOG | DB_INIT_TXN | DB_RECOVER;
	struct db *db = calloc(1, sizeof *db);
	int rc;
	if (db == NULL)
		return report_error(ENOMEM);
	*out = db;
	if ((rc = db_env_create(&db->env, 0)) != 0 ||
	    (rc = db->env->set_cachesize(db->env, (u_int32_t)(cache >> 30), (u_int32_t)(cache & ((1 << 30) - 1)), 1)) != 0 ||
	    (rc = db->env->set_lg_bsize(db->env, 1 << 20)) != 0 ||
	    (rc = db->env->log_set_config(db->env, DB_LOG_AUTO_REMOVE, 1)) != 0 ||
	    (rc = db->env->set_flags(db->env, DB_TXN_WRITE_NOSYNC, 1)) != 0 ||
	    (rc = db->env->open(db->env, directory, flags, 0)) != 0)
		return report_error(rc);
	return open_table(db);
}

static int berkeleydb_clear(void *handle)
{
	struct db *db = handle;
	int rc = db->table->close(db->table, DB_NOSYNC);
	if (rc == 0)
		rc = db->env->dbremove(db->env, NULL, FILE_NAME, NULL, DB_AUTO_COMMIT);
	return rc == 0 ? open_table(db) : report_error(rc);
}

static int berkeleydb_load(void *handle, const struct row *rows, size_t count)
{
	struct db *db = handle;
	DB_TXN *txn;
	int rc = db->env->txn_begin(db->env, NULL, &txn, 0);
	if (rc != 0)
		return report_error(rc);
	for (size_t i = 0; i < count; i++) {
		DBT key = dbt(rows[i].key, KEY_BYTES), value = dbt(rows[i].value, VALUE_BYTES);
		if ((rc = db->table->put(db->table, txn, &key, &value, 0)) != 0) {
			(void)txn->abort(txn);
			return report_error(rc);
		}
	}
	return report_error(txn->commit(txn, 0));
}

static int berkeleydb_settle(void *handle)
{
	struct db *db = handle;
	return report_error(db->env->txn_checkpoint(db->env, 0, 0, 0));
}

/* The environment is private and has no other client, so a read needs no transaction. */
static int berkeleydb_read(void *handle, const struct lookup_key *keys, size_t count, struct row_sum *found)
{
	struct db *db = handle;
	for (size_t i = 0; i < count; i++) {
		DBT key = dbt(keys[i].key, KEY_BYTES), value = dbt(NULL, 0);
		int rc = db->table->get(db->table, NULL, &key, &value, 0);
		if (rc == 0 && value.size == VALUE_BYTES)
			add_value(found, value.data);
		else if (rc != DB_NOTFOUND)
			return report_error(rc != 0 ? rc : EINVAL);
	}
	return 0;
}

static int berkeleydb_close(void *handle)
{
	struct db *db = handle;
	int table = db->table->close(db->table, DB_NOSYNC), env = db->env->close(db->env, 0);
	free(db);
	return report_error(table != 0 ? table : env);
}

const struct loops bare_berkeleydb = {
	berkeleydb_open, berkeleydb_clear, berkeleydb_load,
	berkeleydb_settle, berkeleydb_read, berkeleydb_close,
};
