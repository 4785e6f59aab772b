/* SQLite: the pragmas of crates/engines/src/sqlite, statements prepared once. */
#include "loops.h"
#include <sqlite3.h>
#include <stdlib.h>

struct db {
	sqlite3 *connection;
	sqlite3_stmt *begin, *begin_write, *commit, *insert, *select;
	/* For YCSB. */
	sqlite3_stmt *put, *get, *set[FIELDS];
};

static int report_error(struct db *db, int code)
{
	if (code != SQLITE_OK)
		fprintf(stderr, "SQLite: %s\n", sqlite3_errmsg(db->connection));
	return code;
}

static int execute(struct db *db, const char *sql)
{
	return report_error(db, sqlite3_exec(db->connection, sql, NULL, NULL, NULL));
}

static int prepare(struct db *db, const char *sql, sqlite3_stmt **out)
{
	return report_error(db, sqlite3_prepare_v3(db->connection, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL));
}

/* Runs a statement that returns no rows to its end. */
static int run(struct db *db, sqlite3_stmt *statement)
{
	int rc = sqlite3_step(statement);
	sqlite3_reset(statement);
	return rc == SQLITE_DONE ? 0 : report_error(db, rc);
}

static void finalize_statements(struct db *db)
{
	sqlite3_finalize(db->insert);
	sqlite3_finalize(db->select);
	db->insert = db->select = NULL;
	sqlite3_finalize(db->put);
	sqlite3_finalize(db->get);
	db->put = db->get = NULL;
	for (int field = 0; field < FIELDS; field++) {
		sqlite3_finalize(db->set[field]);
		db->set[field] = NULL;
	}
}

static int sqlite_clear(void *handle)
{
	struct db *db = handle;
	int rc;
	finalize_statements(db);
	if ((rc = execute(db, "DROP TABLE IF EXISTS readings")) != 0 ||
	    (rc = execute(db, "CREATE TABLE readings (sensor INTEGER NOT NULL, ts INTEGER NOT NULL, "
		"temperature REAL, humidity REAL, light REAL, voltage REAL, "
		"PRIMARY KEY (sensor, ts)) WITHOUT ROWID")) != 0 ||
	    (rc = prepare(db, "INSERT INTO readings (sensor, ts, temperature, humidity, light, voltage) "
		"VALUES (?1, ?2, ?3, ?4, ?5, ?6)", &db->insert)) != 0)
		return rc;
	return prepare(db, "SELECT temperature, humidity, light, voltage FROM readings "
	    "WHERE sensor = ?1 AND ts = ?2", &db->select);
}

static int sqlite_open(void **out, const char *directory, uint64_t memory)
{
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
	struct db *db = calloc(1, sizeof *db);
	char text[4096];
	int rc;
	if (db == NULL)
		return SQLITE_NOMEM;
	*out = db;
	snprintf(text, sizeof text, "%s/bare.sqlite", directory);
	if ((rc = report_error(db, sqlite3_open_v2(text, &db->connection, flags, NULL))) != 0 ||
	    (rc = report_error(db, sqlite3_db_config(db->connection, SQLITE_DBCONFIG_ENABLE_QPSG, 1, NULL))) != 0)
		return rc;
	snprintf(text, sizeof text, "PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; "
	    "PRAGMA cache_size = -%llu; PRAGMA journal_mode = WAL;", (unsigned long long)(memory / 1024));
	if ((rc = execute(db, text)) != 0 ||
	    (rc = prepare(db, "BEGIN", &db->begin)) != 0 ||
	    (rc = prepare(db, "BEGIN IMMEDIATE", &db->begin_write)) != 0)
		return rc;
	return prepare(db, "COMMIT", &db->commit);
}

static int sqlite_load(void *handle, const struct row *rows, size_t count)
{
	struct db *db = handle;
	sqlite3_stmt *insert = db->insert;
	int rc = run(db, db->begin_write);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < count; i++) {
		sqlite3_bind_int64(insert, 1, rows[i].sensor);
		sqlite3_bind_int64(insert, 2, rows[i].ts);
		for (int column = 0; column < 4; column++) {
			if (rows[i].present >> column & 1)
				sqlite3_bind_double(insert, column + 3, rows[i].values[column]);
			else
				sqlite3_bind_null(insert, column + 3);
		}
		if ((rc = run(db, insert)) != 0)
			return rc;
	}
	return run(db, db->commit);
}

static int sqlite_settle(void *handle)
{
	return execute(handle, "ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)");
}

static int sqlite_read(void *handle, const struct lookup_key *keys, size_t count, struct row_sum *found)
{
	struct db *db = handle;
	sqlite3_stmt *select = db->select;
	int rc = run(db, db->begin);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < count; i++) {
		sqlite3_bind_int64(select, 1, keys[i].sensor);
		sqlite3_bind_int64(select, 2, keys[i].ts);
		while ((rc = sqlite3_step(select)) == SQLITE_ROW) {
			unsigned char value[VALUE_BYTES] = { 0 };
			for (int column = 0; column < 4; column++) {
				double number;
				if (sqlite3_column_type(select, column) == SQLITE_NULL)
					continue;
				number = sqlite3_column_double(select, column);
				memcpy(value + 1 + column * sizeof number, &number, sizeof number);
				value[0] |= (unsigned char)(1 << column);
			}
			add_value(found, value);
		}
		sqlite3_reset(select);
		if (rc != SQLITE_DONE)
			return report_error(db, rc);
	}
	return run(db, db->commit);
}

#define NAMES "field0, field1, field2, field3, field4, field5, field6, field7, field8, field9"

static int make_usertable(struct db *db)
{
	char text[128];
	int rc;
	finalize_statements(db);
	if ((rc = execute(db, "DROP TABLE IF EXISTS usertable")) != 0 ||
	    (rc = execute(db, "CREATE TABLE usertable (ycsb_key TEXT NOT NULL, field0 TEXT NOT NULL, "
		"field1 TEXT NOT NULL, field2 TEXT NOT NULL, field3 TEXT NOT NULL, field4 TEXT NOT NULL, "
		"field5 TEXT NOT NULL, field6 TEXT NOT NULL, field7 TEXT NOT NULL, field8 TEXT NOT NULL, "
		"field9 TEXT NOT NULL, PRIMARY KEY (ycsb_key))")) != 0 ||
	    (rc = prepare(db, "INSERT INTO usertable (ycsb_key, " NAMES ") "
		"VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)", &db->put)) != 0 ||
	    (rc = prepare(db, "SELECT " NAMES " FROM usertable WHERE ycsb_key = ?1", &db->get)) != 0)
		return rc;
	for (int field = 0; field < FIELDS && rc == 0; field++) {
		snprintf(text, sizeof text, "UPDATE usertable SET field%d = ?1 WHERE ycsb_key = ?2", field);
		rc = prepare(db, text, &db->set[field]);
	}
	return rc;
}

static int sqlite_load_records(void *handle, const struct record *records, size_t count)
{
	struct db *db = handle;
	int rc = make_usertable(db);
	if (rc != 0 || (rc = run(db, db->begin_write)) != 0)
		return rc;
	for (size_t i = 0; i < count && rc == 0; i++) {
		sqlite3_bind_text(db->put, 1, records[i].key, (int)records[i].key_bytes, SQLITE_STATIC);
		for (int field = 0; field < FIELDS; field++)
			sqlite3_bind_text(db->put, field + 2, records[i].fields + field * FIELD_BYTES,
			    FIELD_BYTES, SQLITE_STATIC);
		rc = run(db, db->put);
	}
	return rc != 0 ? rc : run(db, db->commit);
}

static int sqlite_operation(struct db *db, const struct operation *operation, struct row_sum *found)
{
	sqlite3_stmt *statement = operation->text != NULL ? db->set[operation->field] : db->get;
	int rc, place = 1;
	if (operation->text != NULL)
		sqlite3_bind_text(statement, place++, operation->text, FIELD_BYTES, SQLITE_STATIC);
	sqlite3_bind_text(statement, place, operation->key, (int)operation->key_bytes, SQLITE_STATIC);
	if (operation->text != NULL)
		return run(db, statement);
	while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
		found->rows++;
		for (int field = 0; field < FIELDS; field++) {
			const unsigned char *text = sqlite3_column_text(statement, field);
			if (text != NULL && sqlite3_column_bytes(statement, field) == FIELD_BYTES)
				add_field(found, text);
		}
	}
	sqlite3_reset(statement);
	return rc == SQLITE_DONE ? 0 : report_error(db, rc);
}

static int sqlite_run(void *handle, const struct operation *operations, size_t count, int in_one, struct row_sum *found)
{
	struct db *db = handle;
	int rc = in_one ? run(db, db->begin) : 0;
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = sqlite_operation(db, &operations[i], found);
	return rc != 0 || !in_one ? rc : run(db, db->commit);
}

const struct ycsb bare_sqlite_ycsb = { sqlite_load_records, sqlite_run };

static int sqlite_close(void *handle)
{
	struct db *db = handle;
	int rc;
	finalize_statements(db);
	sqlite3_finalize(db->begin);
	sqlite3_finalize(db->begin_write);
	sqlite3_finalize(db->commit);
	rc = report_error(db, sqlite3_close(db->connection));
	free(db);
	return rc;
}

const struct loops bare_sqlite = {
	sqlite_open, sqlite_clear, sqlite_load, sqlite_settle, sqlite_read, sqlite_close,
};
