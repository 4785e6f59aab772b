/* One plain C function for each Berkeley DB call that the engine makes. Berkeley DB's own functions
 * are members of its handles, whose layout only db.h defines. */
#include <db.h>
#include <errno.h>
#include <string.h>

#if DB_VERSION_MAJOR < 5
#error "Berkeley DB 5 or later is needed"
#endif

/* Codes of this file, outside of the library's own codes (-30800 to -30999) and of errno (positive). */
#define ABSENT (-1)
#define TOO_SMALL (-2)
#define DAMAGED (-3)

struct facts {
	u_int64_t cache_bytes;
	u_int32_t caches, log_buffer, log_file;
	u_int32_t is_private, locking, logging, transactions, write_nosync, nosync, auto_remove;
};

/* Position and length of the bytes of every value that a secondary index covers. */
struct field {
	u_int32_t at, length;
};

struct bytes {
	const void *at;
	u_int32_t size;
};

/* Uses an initializer, so that the compiler creates the DBT where it is used. A DBT that is zeroed,
 * filled in and then copied is loaded before its parts have left the CPU's store buffer, and every
 * call waits for that. */
static DBT dbt(struct bytes bytes)
{
	return (DBT){ .data = (void *)bytes.at, .size = bytes.size };
}

/* A DBT that the library fills, in memory that this process owns. */
static DBT output_dbt(void *at, u_int32_t size)
{
	return (DBT){ .data = at, .ulen = size, .flags = DB_DBT_USERMEM };
}

/* The bytes that a DBT points to. */
static struct bytes bytes_of(const DBT *d)
{
	struct bytes bytes = { d->data, d->size };
	return bytes;
}

static const struct bytes NOTHING = { NULL, 0 };

/* Maps a library code to a code of this file, if it has one. */
static int shim_code(int rc)
{
	if (rc == DB_BUFFER_SMALL)
		return TOO_SMALL;
	return rc == DB_NOTFOUND || rc == DB_KEYEMPTY ? ABSENT : rc;
}

int ember_env_open(DB_ENV **out, const char *home, u_int64_t cache, u_int32_t log_buffer,
    int transactions, int write_nosync)
{
	const u_int64_t giga = 1 << 30;
	u_int32_t flags = DB_CREATE | DB_PRIVATE | DB_INIT_MPOOL;
	DB_ENV *env;
	int rc = db_env_create(&env, 0);
	if (rc != 0)
		return rc;
	rc = env->set_cachesize(env, (u_int32_t)(cache / giga), (u_int32_t)(cache % giga), 1);
	if (rc == 0 && transactions) {
		flags |= DB_INIT_LOG | DB_INIT_TXN | DB_RECOVER;
		if ((rc = env->set_lg_bsize(env, log_buffer)) == 0)
			rc = env->log_set_config(env, DB_LOG_AUTO_REMOVE, 1);
		if (rc == 0 && write_nosync)
			rc = env->set_flags(env, DB_TXN_WRITE_NOSYNC, 1);
	}
	if (rc == 0)
		rc = env->open(env, home, flags, 0);
	if (rc != 0)
		(void)env->close(env, 0);
	else
		*out = env;
	return rc;
}

int ember_env_facts(DB_ENV *env, struct facts *f)
{
	u_int32_t opened = 0, flags = 0, giga = 0, bytes = 0;
	int caches = 0, auto_remove = 0, rc;
	memset(f, 0, sizeof *f);
	if ((rc = env->get_open_flags(env, &opened)) != 0 ||
	    (rc = env->get_flags(env, &flags)) != 0 ||
	    (rc = env->get_cachesize(env, &giga, &bytes, &caches)) != 0)
		return rc;
	if (opened & DB_INIT_TXN &&
	    ((rc = env->get_lg_bsize(env, &f->log_buffer)) != 0 ||
	    (rc = env->get_lg_max(env, &f->log_file)) != 0 ||
	    (rc = env->log_get_config(env, DB_LOG_AUTO_REMOVE, &auto_remove)) != 0))
		return rc;
	f->cache_bytes = ((u_int64_t)giga << 30) + bytes;
	f->caches = (u_int32_t)caches;
	f->is_private = (opened & DB_PRIVATE) != 0;
	f->locking = (opened & DB_INIT_LOCK) != 0;
	f->logging = (opened & (DB_INIT_LOG | DB_INIT_TXN)) != 0;
	f->transactions = (opened & DB_INIT_TXN) != 0;
	f->write_nosync = (flags & DB_TXN_WRITE_NOSYNC) != 0;
	f->nosync = (flags & DB_TXN_NOSYNC) != 0;
	f->auto_remove = auto_remove != 0;
	return 0;
}

static u_int32_t auto_commit(DB_ENV *env)
{
	u_int32_t opened = 0;
	(void)env->get_open_flags(env, &opened);
	return opened & DB_INIT_TXN ? DB_AUTO_COMMIT : 0;
}

/* Writes changes to the tables' files. With a log this is a checkpoint, taken only if the log has
 * grown by more than `kib` KiB since the last one. */
int ember_env_checkpoint(DB_ENV *env, u_int32_t kib)
{
	return auto_commit(env) ? env->txn_checkpoint(env, kib, 0, 0) : env->memp_sync(env, NULL);
}

int ember_env_close(DB_ENV *env) { return env->close(env, 0); }

int ember_env_remove(DB_ENV *env, const char *file)
{
	return env->dbremove(env, NULL, file, NULL, auto_commit(env));
}

int ember_begin(DB_ENV *env, DB_TXN **out, int bulk)
{
	return env->txn_begin(env, NULL, out, bulk ? DB_TXN_BULK : 0);
}

int ember_commit(DB_TXN *txn) { return txn->commit(txn, 0); }
int ember_abort(DB_TXN *txn) { return txn->abort(txn); }

/* Opens or creates a table. With `duplicates` a key can have many values: a secondary index has the
 * primary's keys as values. An existing table keeps its page size. */
int ember_open(DB **out, DB_ENV *env, const char *file, u_int32_t page, int duplicates)
{
	DB *db;
	int rc = db_create(&db, env, 0);
	if (rc != 0)
		return rc;
	if ((rc = db->set_flags(db, duplicates ? DB_DUPSORT : 0)) == 0 &&
	    (rc = db->set_pagesize(db, page)) == 0)
		rc = db->open(db, NULL, file, NULL, DB_BTREE, DB_CREATE | auto_commit(env), 0);
	if (rc != 0)
		(void)db->close(db, DB_NOSYNC);
	else
		*out = db;
	return rc;
}

/* Extracts the indexed bytes of a value. */
static int extract_field(DB *secondary, const DBT *key, const DBT *value, DBT *out)
{
	const struct field *field = secondary->app_private;
	(void)key;
	if (value->size < field->at || value->size - field->at < field->length)
		return EINVAL;
	out->data = (unsigned char *)value->data + field->at;
	out->size = field->length;
	return 0;
}

/* Makes the library maintain a secondary index. `field` must outlive the secondary's handle. */
int ember_associate(DB *primary, DB *secondary, const struct field *field)
{
	secondary->app_private = (void *)field;
	return primary->associate(primary, NULL, secondary, extract_field, 0);
}

int ember_close(DB *db, int sync) { return db->close(db, sync ? 0 : DB_NOSYNC); }
int ember_drop(DB *db) { return ember_close(db, 0); }

/* Copies a value to `value`, which has `*size` bytes. Sets `*size` to the size of the value. */
int ember_get(DB *db, DB_TXN *txn, struct bytes key, void *value, u_int32_t *size)
{
	DBT k = dbt(key), v = output_dbt(value, *size);
	int rc = db->get(db, txn, &k, &v, 0);
	*size = v.size;
	return shim_code(rc);
}

int ember_put(DB *db, DB_TXN *txn, struct bytes key, struct bytes value)
{
	DBT k = dbt(key), v = dbt(value);
	return db->put(db, txn, &k, &v, 0);
}

int ember_put_batch(DB *db, DB_TXN *txn, void *batch, u_int32_t size)
{
	DBT k = output_dbt(batch, size), v = dbt(NOTHING);
	k.flags |= DB_DBT_BULK;
	return db->put(db, txn, &k, &v, DB_MULTIPLE_KEY);
}

int ember_del(DB *db, DB_TXN *txn, struct bytes key)
{
	DBT k = dbt(key);
	return shim_code(db->del(db, txn, &k, 0));
}

int ember_cursor(DB *db, DB_TXN *txn, DBC **out) { return db->cursor(db, txn, out, 0); }
int ember_cursor_close(DBC *cursor) { return cursor->close(cursor); }

/* Moves to `positions[to]`. Moves by key read `*key`. All set `*key` and `*value` to the pair found. */
int ember_move(DBC *cursor, int to, struct bytes *key, struct bytes *value)
{
	static const u_int32_t positions[] = { DB_FIRST, DB_LAST, DB_NEXT, DB_PREV, DB_SET, DB_SET_RANGE };
	DBT k = dbt(*key), v = dbt(NOTHING);
	int rc = cursor->get(cursor, &k, &v, positions[to]);
	*key = bytes_of(&k);
	*value = bytes_of(&v);
	return shim_code(rc);
}

/* Reads the next pair of a secondary index: the indexed bytes, then the pair of the primary. With
 * `seek` it reads the first pair whose indexed bytes are not below `*index`. */
int ember_find(DBC *cursor, int seek, struct bytes *index, struct bytes *key, struct bytes *value)
{
	DBT i = dbt(*index), k = dbt(NOTHING), v = dbt(NOTHING);
	int rc = cursor->pget(cursor, &i, &k, &v, seek ? DB_SET_RANGE : DB_NEXT);
	*index = bytes_of(&i);
	*key = bytes_of(&k);
	*value = bytes_of(&v);
	return shim_code(rc);
}

/* Reads as many of the next pairs as fit into `*size` bytes. Sets `*size` to the size needed. */
int ember_next_batch(DBC *cursor, void *batch, u_int32_t *size)
{
	DBT k = dbt(NOTHING), v = output_dbt(batch, *size);
	int rc = cursor->get(cursor, &k, &v, DB_NEXT | DB_MULTIPLE_KEY);
	*size = v.size;
	return shim_code(rc);
}

int ember_replace(DBC *cursor, struct bytes value)
{
	DBT k = dbt(NOTHING), v = dbt(value);
	return cursor->put(cursor, &k, &v, DB_CURRENT);
}

/* Receiver of the library's messages during a verification. */
struct listener {
	void (*report)(void *to, const char *message);
	void *to;
};

static void forward_message(const DB_ENV *env, const char *prefix, const char *message)
{
	const struct listener *listener = env->app_private;
	(void)prefix;
	listener->report(listener->to, message);
}

/* Verifies a file that no handle has open. Passes each message to `report` as it arrives. */
int ember_verify(DB_ENV *env, const char *file, void (*report)(void *, const char *), void *to)
{
	struct listener listener = { report, to };
	DB *db;
	int rc = db_create(&db, env, 0);
	if (rc != 0)
		return rc;
	env->app_private = &listener;
	env->set_errcall(env, forward_message);
	rc = db->verify(db, file, NULL, NULL, 0);
	env->set_errcall(env, NULL);
	env->app_private = NULL;
	return rc == DB_VERIFY_BAD ? DAMAGED : rc;
}
