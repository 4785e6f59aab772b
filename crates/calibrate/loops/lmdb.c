/* LMDB: the flags of crates/engines/src/lmdb/mod.rs and the map of crates/engines/src/mapped. */
#include "loops.h"
#include <errno.h>
#include <lmdb.h>
#include <stdlib.h>

struct db {
	MDB_env *env;
	MDB_dbi dbi;
	/* Read transaction, reset and renewed as the manual advises. */
	MDB_txn *reader;
};

static int report_error(int code)
{
	if (code != 0)
		fprintf(stderr, "LMDB: %s\n", mdb_strerror(code));
	return code;
}

static int lmdb_open(void **out, const char *directory, uint64_t memory)
{
	struct db *db = calloc(1, sizeof *db);
	MDB_txn *txn;
	int rc;
	/* LMDB has no cache of its own, so `memory` is not used. */
	(void)memory;
	if (db == NULL)
		return report_error(ENOMEM);
	*out = db;
	if ((rc = mdb_env_create(&db->env)) != 0 ||
	    (rc = mdb_env_set_mapsize(db->env, (size_t)1 << 36)) != 0 ||
	    (rc = mdb_env_set_maxdbs(db->env, 32)) != 0 ||
	    (rc = mdb_env_open(db->env, directory, MDB_NOTLS | MDB_WRITEMAP | MDB_NOSYNC, 0664)) != 0 ||
	    (rc = mdb_txn_begin(db->env, NULL, 0, &txn)) != 0)
		return report_error(rc);
	if ((rc = mdb_dbi_open(txn, "readings", MDB_CREATE, &db->dbi)) != 0) {
		mdb_txn_abort(txn);
		return report_error(rc);
	}
	return report_error(mdb_txn_commit(txn));
}

static int lmdb_clear(void *handle)
{
	struct db *db = handle;
	MDB_txn *txn;
	int rc = mdb_txn_begin(db->env, NULL, 0, &txn);
	if (rc != 0)
		return report_error(rc);
	if ((rc = mdb_drop(txn, db->dbi, 0)) != 0) {
		mdb_txn_abort(txn);
		return report_error(rc);
	}
	return report_error(mdb_txn_commit(txn));
}

static int lmdb_load(void *handle, const struct row *rows, size_t count)
{
	struct db *db = handle;
	MDB_txn *txn;
	int rc = mdb_txn_begin(db->env, NULL, 0, &txn);
	if (rc != 0)
		return report_error(rc);
	for (size_t i = 0; i < count; i++) {
		MDB_val key = { KEY_BYTES, (void *)rows[i].key };
		MDB_val value = { VALUE_BYTES, (void *)rows[i].value };
		if ((rc = mdb_put(txn, db->dbi, &key, &value, 0)) != 0) {
			mdb_txn_abort(txn);
			return report_error(rc);
		}
	}
	return report_error(mdb_txn_commit(txn));
}

static int lmdb_settle(void *handle)
{
	struct db *db = handle;
	return report_error(mdb_env_sync(db->env, 1));
}

static int lmdb_read(void *handle, const struct lookup_key *keys, size_t count, struct row_sum *found)
{
	struct db *db = handle;
	int rc = db->reader != NULL ? mdb_txn_renew(db->reader)
				    : mdb_txn_begin(db->env, NULL, MDB_RDONLY, &db->reader);
	if (rc != 0)
		return report_error(rc);
	for (size_t i = 0; i < count; i++) {
		MDB_val key = { KEY_BYTES, (void *)keys[i].key }, value;
		rc = mdb_get(db->reader, db->dbi, &key, &value);
		if (rc == 0 && value.mv_size == VALUE_BYTES)
			add_value(found, value.mv_data);
		else if (rc != MDB_NOTFOUND)
			return report_error(rc != 0 ? rc : MDB_CORRUPTED);
	}
	mdb_txn_reset(db->reader);
	return 0;
}

static int lmdb_close(void *handle)
{
	struct db *db = handle;
	if (db->reader != NULL)
		mdb_txn_abort(db->reader);
	mdb_env_close(db->env);
	free(db);
	return 0;
}

static int lmdb_load_records(void *handle, const struct record *records, size_t count)
{
	struct db *db = handle;
	MDB_txn *txn;
	int rc = lmdb_clear(handle);
	if (rc != 0)
		return rc;
	if ((rc = mdb_txn_begin(db->env, NULL, 0, &txn)) != 0)
		return report_error(rc);
	for (size_t i = 0; i < count; i++) {
		MDB_val key = { records[i].key_bytes, (void *)records[i].key };
		MDB_val value = { RECORD_BYTES, (void *)records[i].fields };
		if ((rc = mdb_put(txn, db->dbi, &key, &value, 0)) != 0) {
			mdb_txn_abort(txn);
			return report_error(rc);
		}
	}
	return report_error(mdb_txn_commit(txn));
}

static int lmdb_update(struct db *db, const struct operation *operation)
{
	char fields[RECORD_BYTES];
	MDB_val key = { operation->key_bytes, (void *)operation->key }, value;
	MDB_txn *txn;
	int rc = mdb_txn_begin(db->env, NULL, 0, &txn);
	if (rc != 0)
		return rc;
	if ((rc = mdb_get(txn, db->dbi, &key, &value)) == 0) {
		memcpy(fields, value.mv_data, RECORD_BYTES);
		memcpy(fields + operation->field * FIELD_BYTES, operation->text, FIELD_BYTES);
		value.mv_data = fields;
		rc = mdb_put(txn, db->dbi, &key, &value, 0);
	}
	if (rc != 0) {
		mdb_txn_abort(txn);
		return rc;
	}
	return mdb_txn_commit(txn);
}

static int lmdb_read_record(struct db *db, const struct operation *operation, struct row_sum *found)
{
	MDB_val key = { operation->key_bytes, (void *)operation->key }, value;
	int rc = mdb_get(db->reader, db->dbi, &key, &value);
	if (rc == 0)
		add_record(found, value.mv_data);
	return rc;
}

static int lmdb_run(void *handle, const struct operation *operations, size_t count, int in_one, struct row_sum *found)
{
	struct db *db = handle;
	int rc = 0;
	if (db->reader == NULL) {
		if ((rc = mdb_txn_begin(db->env, NULL, MDB_RDONLY, &db->reader)) != 0)
			return report_error(rc);
		mdb_txn_reset(db->reader);
	}
	if (in_one)
		rc = mdb_txn_renew(db->reader);
	for (size_t i = 0; i < count && rc == 0; i++) {
		if (operations[i].text != NULL) {
			rc = lmdb_update(db, &operations[i]);
			continue;
		}
		if (!in_one && (rc = mdb_txn_renew(db->reader)) != 0)
			break;
		rc = lmdb_read_record(db, &operations[i], found);
		if (!in_one)
			mdb_txn_reset(db->reader);
	}
	if (in_one)
		mdb_txn_reset(db->reader);
	return report_error(rc);
}

const struct ycsb bare_lmdb_ycsb = { lmdb_load_records, lmdb_run };

const struct loops bare_lmdb = {
	lmdb_open, lmdb_clear, lmdb_load, lmdb_settle, lmdb_read, lmdb_close,
};
