/*
 * The system's SQLite as a library: a thin SQL engine of embermark_engine.h. embermark has the same
 * engine compiled in (crates/engines/src/sqlite), perhaps in another version.
 *
 *     cc -std=c11 -O2 -shared -fPIC -I crates/abi/include -o libsqlite-library.so examples/engine-sql-c/sqlite.c -lsqlite3
 *     embermark verify sqlite-library --engine-library ./libsqlite-library.so
 *
 * It needs SQLite's header: libsqlite3-dev on Debian. Its tiers are those of the compiled-in
 * engine, whose source gives the reason for each setting.
 */
#define _GNU_SOURCE
#include <embermark_engine.h>

#include <math.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Names of the engine, and statements that run first. A file that includes this one may define
 * others. */
#ifndef ENGINE_ID
#define ENGINE_ID "sqlite-library"
#define ENGINE_NAME "SQLite of the system, an example in C"
#define ENGINE_LICENCE "public domain"
#define FIRST ""
#define FURTHER_SETTINGS
#endif
#ifndef ENGINE_VERSION
#define ENGINE_VERSION sqlite3_libversion()
#endif

/* Time that a client waits for another one, in ms. */
#define PATIENCE 60000
/* Number of texts in addition to the key up to which a row counts as narrow
 * (https://www.sqlite.org/withoutrowid.html). */
#define MOST_TEXTS 5
/* Rows per INSERT of a bulk load. */
#define BULK_ROWS 64

/* A connection. */
struct embermark_client {
    sqlite3 *db;
    char *path;
    uint32_t tier;
    /* Whether it is the only client of the database. */
    uint32_t alone;
    uint64_t memory;
    sqlite3_stmt *begin_read, *begin_write, *commit, *undo;
    char error[512];
};

/* A statement, and its current row. */
struct embermark_statement {
    sqlite3_stmt *raw;
    struct embermark_value *row;
    size_t columns;
};

typedef struct embermark_client client;
typedef struct embermark_statement statement;

/* Error of the last `open` or `close`. */
static _Thread_local char opening[512];

/* Saves an error. */
__attribute__((format(printf, 2, 3))) static int failed(client *client, const char *why, ...) {
    char *error = client ? client->error : opening;
    va_list values;
    va_start(values, why);
    vsnprintf(error, sizeof opening, why, values);
    va_end(values);
    return EMBERMARK_FAILED;
}

/* Saves an error of SQLite. Returns the status for its code, which is not OK. */
static int refused(client *client, int code) {
    failed(client, "%s", sqlite3_errmsg(client->db));
    return (code & 0xff) == SQLITE_BUSY ? EMBERMARK_CONFLICT : EMBERMARK_FAILED;
}

static const char *error_of(client *client) { return client ? client->error : opening; }

static int is_log(const client *client) { return client->tier != EMBERMARK_NONE; }

/* ---- Statements ---- */

static int script(client *client, const char *sql) {
    int code = sqlite3_exec(client->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? EMBERMARK_OK : refused(client, code);
}

/* Prepares exactly one statement for repeated use. */
static int prepare_raw(client *client, const char *sql, sqlite3_stmt **raw) {
    const char *rest = NULL;
    int code = sqlite3_prepare_v3(client->db, sql, -1, SQLITE_PREPARE_PERSISTENT, raw, &rest);
    if (code != SQLITE_OK) return refused(client, code);
    if (!*raw) return failed(client, "it holds no statement");
    if (rest[strspn(rest, " \t\r\n")] == 0) return EMBERMARK_OK;
    sqlite3_finalize(*raw);
    return failed(client, "it holds more than one statement");
}

/* Runs a statement without parameters and rows. */
static int run(client *client, sqlite3_stmt *raw) {
    sqlite3_step(raw);
    int code = sqlite3_reset(raw);
    return code == SQLITE_OK ? EMBERMARK_OK : refused(client, code);
}

static int prepare(client *client, const char *sql, statement **made) {
    statement *statement = calloc(1, sizeof *statement);
    if (!statement) return failed(client, "no memory");
    int status = prepare_raw(client, sql, &statement->raw);
    if (status != EMBERMARK_OK) {
        free(statement);
        return status;
    }
    *made = statement;
    return EMBERMARK_OK;
}

static int finish(client *client, statement *statement) {
    (void)client;
    /* The code repeats that of the last step, so it is ignored. */
    sqlite3_finalize(statement->raw);
    free(statement->row);
    free(statement);
    return EMBERMARK_OK;
}

static int bind_one(sqlite3_stmt *raw, int place, const struct embermark_value *value) {
    /* SQLite reads it only while the statement is stepped, and it is bound again before that.
     * Without bytes the pointer may be NULL, which SQLite would take for NULL. */
    const void *at = value->size ? value->content.at : "";
    switch (value->kind) {
    case EMBERMARK_INTEGER: return sqlite3_bind_int64(raw, place, value->content.integer);
    case EMBERMARK_DOUBLE: return sqlite3_bind_double(raw, place, value->content.number);
    case EMBERMARK_TEXT: return sqlite3_bind_text64(raw, place, at, value->size, SQLITE_STATIC, SQLITE_UTF8);
    case EMBERMARK_BLOB: return sqlite3_bind_blob64(raw, place, at, value->size, SQLITE_STATIC);
    default: return sqlite3_bind_null(raw, place);
    }
}

static int bind(client *client, sqlite3_stmt *raw, const struct embermark_value *values, size_t count) {
    size_t wanted = (size_t)sqlite3_bind_parameter_count(raw);
    if (count != wanted) return failed(client, "%zu parameters given, %zu wanted", count, wanted);
    for (size_t n = 0; n < count; n++) {
        if (values[n].kind == EMBERMARK_DOUBLE && isnan(values[n].content.number)) {
            return failed(client, "a NaN is given, which SQLite would store as NULL");
        }
        int code = bind_one(raw, (int)n + 1, values + n);
        if (code != SQLITE_OK) return refused(client, code);
    }
    return EMBERMARK_OK;
}

/* Runs a statement to its end. */
static int run_bound(client *client, sqlite3_stmt *raw, const struct embermark_value *values, size_t count) {
    int status = bind(client, raw, values, count), code;
    if (status != EMBERMARK_OK) return status;
    do code = sqlite3_step(raw);
    while (code == SQLITE_ROW);
    if (code != SQLITE_DONE) status = refused(client, code);
    sqlite3_reset(raw);
    return status;
}

static int execute(client *client, statement *statement, const struct embermark_value *values, size_t count,
                   uint64_t *changed) {
    int before = sqlite3_total_changes(client->db);
    int status = run_bound(client, statement->raw, values, count);
    *changed = (unsigned)sqlite3_total_changes(client->db) - (unsigned)before;
    return status;
}

static int query(client *client, statement *statement, const struct embermark_value *values, size_t count) {
    return bind(client, statement->raw, values, count);
}

/* Makes room for a row: at first, and if the statement was planned again after a change. */
static int reserve(client *client, statement *statement, size_t columns) {
    struct embermark_value *row = realloc(statement->row, columns * sizeof *row);
    if (!row) return failed(client, "no memory");
    memset(row, 0, columns * sizeof *row);
    statement->row = row;
    statement->columns = columns;
    return EMBERMARK_OK;
}

static int fetch(client *client, statement *statement, struct embermark_rows *rows) {
    int code = sqlite3_step(statement->raw);
    rows->rows = 0;
    if (code == SQLITE_DONE) return EMBERMARK_OK;
    if (code != SQLITE_ROW) return refused(client, code);
    size_t columns = (size_t)sqlite3_column_count(statement->raw);
    if (columns != statement->columns && reserve(client, statement, columns) != EMBERMARK_OK) return EMBERMARK_FAILED;
    for (size_t n = 0; n < columns; n++) {
        struct embermark_value *value = statement->row + n;
        sqlite3_value *column = sqlite3_column_value(statement->raw, (int)n);
        switch (sqlite3_value_type(column)) {
        case SQLITE_INTEGER:
            value->kind = EMBERMARK_INTEGER;
            value->content.integer = sqlite3_value_int64(column);
            break;
        case SQLITE_FLOAT:
            value->kind = EMBERMARK_DOUBLE;
            value->content.number = sqlite3_value_double(column);
            break;
        case SQLITE_TEXT:
            value->kind = EMBERMARK_TEXT;
            value->content.at = sqlite3_value_text(column);
            value->size = (size_t)sqlite3_value_bytes(column);
            break;
        case SQLITE_BLOB:
            value->kind = EMBERMARK_BLOB;
            value->content.at = sqlite3_value_blob(column);
            value->size = (size_t)sqlite3_value_bytes(column);
            break;
        default: value->kind = EMBERMARK_NULL;
        }
    }
    *rows = (struct embermark_rows){.values = statement->row, .columns = columns, .rows = 1};
    return EMBERMARK_OK;
}

static int end_query(client *client, statement *statement) {
    (void)client;
    sqlite3_reset(statement->raw);
    return EMBERMARK_OK;
}

/* ---- Transactions and bulk loads ---- */

static int begin(client *client, uint32_t scope) {
    return run(client, scope == EMBERMARK_BATCH ? client->begin_write : client->begin_read);
}

static int commit(client *client) { return run(client, client->commit); }

/* Some errors have already ended the transaction. */
static int undo(client *client) {
    return sqlite3_get_autocommit(client->db) ? EMBERMARK_OK : run(client, client->undo);
}

/* Rows that wait until there are enough for an INSERT. */
struct batch {
    struct embermark_value *values;
    size_t count;
    /* Their texts and bytes. */
    char *bytes;
    size_t used, room;
};

/* Copies a row to a batch. The place of a text or of bytes is its offset until the batch is inserted,
 * because more of them can move them all. */
static int keep(client *client, struct batch *batch, const struct embermark_value *row, size_t width) {
    for (size_t n = 0; n < width; n++) {
        struct embermark_value value = row[n];
        if (value.kind == EMBERMARK_TEXT || value.kind == EMBERMARK_BLOB) {
            if (value.size > batch->room - batch->used) {
                size_t room = 2 * (batch->used + value.size);
                char *bytes = realloc(batch->bytes, room);
                if (!bytes) return failed(client, "no memory");
                batch->bytes = bytes;
                batch->room = room;
            }
            if (value.size) memcpy(batch->bytes + batch->used, value.content.at, value.size);
            value.content.integer = (int64_t)batch->used;
            batch->used += value.size;
        }
        batch->values[batch->count++] = value;
    }
    return EMBERMARK_OK;
}

/* Runs an INSERT of the rows of a batch, and empties it. */
static int insert_batch(client *client, sqlite3_stmt *insert, struct batch *batch) {
    for (size_t n = 0; n < batch->count; n++) {
        struct embermark_value *value = batch->values + n;
        if (value->kind == EMBERMARK_TEXT || value->kind == EMBERMARK_BLOB) {
            value->content.at = batch->bytes + value->content.integer;
        }
    }
    int status = run_bound(client, insert, batch->values, batch->count);
    batch->count = batch->used = 0;
    return status;
}

/* Prepares an INSERT of some rows. */
static int prepare_insert(client *client, const struct embermark_table *table, size_t width, size_t rows,
                          sqlite3_stmt **insert) {
    static const char BEGINNING[] = "INSERT INTO %s VALUES";
    char *sql = malloc(sizeof BEGINNING + strlen(table->name) + rows * (2 * width + 2));
    if (!sql) return failed(client, "no memory");
    char *end = sql + sprintf(sql, BEGINNING, table->name);
    for (size_t row = 0; row < rows; row++) {
        *end++ = row ? ',' : ' ';
        for (size_t n = 0; n < width; n++) {
            *end++ = n ? ',' : '(';
            *end++ = '?';
        }
        *end++ = ')';
    }
    *end = 0;
    int status = prepare_raw(client, sql, insert);
    free(sql);
    return status;
}

/* Inserts many rows per statement, as the compiled-in engine does, because a row then takes half the
 * time. */
static int bulk(client *client, const struct embermark_table *table, embermark_next_row next, void *context) {
    size_t width = 0, parameters = (size_t)sqlite3_limit(client->db, SQLITE_LIMIT_VARIABLE_NUMBER, -1);
    while (table->columns[width].name) width++;
    if (width == 0 || width > parameters) return failed(client, "a table of %zu columns", width);
    size_t most = parameters / width < BULK_ROWS ? parameters / width : BULK_ROWS;
    struct batch batch = {.values = calloc(most * width, sizeof *batch.values)};
    if (!batch.values) return failed(client, "no memory");
    sqlite3_stmt *insert = NULL;
    int status = prepare_insert(client, table, width, most, &insert);
    const struct embermark_value *row;
    while (status == EMBERMARK_OK && (row = next(context))) {
        status = keep(client, &batch, row, width);
        if (status == EMBERMARK_OK && batch.count == most * width) status = insert_batch(client, insert, &batch);
    }
    sqlite3_finalize(insert);
    if (status == EMBERMARK_OK && batch.count) {
        status = prepare_insert(client, table, width, batch.count / width, &insert);
        if (status == EMBERMARK_OK) {
            status = insert_batch(client, insert, &batch);
            sqlite3_finalize(insert);
        }
    }
    free(batch.values);
    free(batch.bytes);
    return status;
}

/* ---- A database ---- */

static int32_t close_client(client *client) {
    sqlite3_stmt *own[] = {client->begin_read, client->begin_write, client->commit, client->undo};
    for (int n = 0; n < 4; n++) sqlite3_finalize(own[n]);
    int code = sqlite3_close(client->db);
    if (code != SQLITE_OK) failed(NULL, "%s", sqlite3_errstr(code));
    free(client->path);
    free(client);
    return code == SQLITE_OK ? EMBERMARK_OK : EMBERMARK_FAILED;
}

/* Sets what a tier needs, and prepares the statements of every client. Each connection has its own
 * page cache. */
static int configure(client *client) {
    static const char *const JOURNAL[] = {"MEMORY", "WAL", "WAL"}, *const SYNCHRONOUS[] = {"OFF", "OFF", "FULL"};
    char pragmas[256];
    snprintf(pragmas, sizeof pragmas,
             "PRAGMA locking_mode = %s; PRAGMA journal_mode = %s; PRAGMA synchronous = %s; PRAGMA cache_size = -%llu",
             client->alone ? "EXCLUSIVE" : "NORMAL", JOURNAL[client->tier], SYNCHRONOUS[client->tier],
             (unsigned long long)client->memory / 1024);
    sqlite3_busy_timeout(client->db, PATIENCE);
    /* Keeps one plan for all parameters (https://www.sqlite.org/queryplanner-ng.html#qpsg). */
    sqlite3_db_config(client->db, SQLITE_DBCONFIG_ENABLE_QPSG, 1, NULL);
    int status = script(client, FIRST);
    if (status == EMBERMARK_OK) status = script(client, pragmas);
    if (status == EMBERMARK_OK) status = prepare_raw(client, "BEGIN", &client->begin_read);
    if (status == EMBERMARK_OK) status = prepare_raw(client, "BEGIN IMMEDIATE", &client->begin_write);
    if (status == EMBERMARK_OK) status = prepare_raw(client, "COMMIT", &client->commit);
    if (status == EMBERMARK_OK) status = prepare_raw(client, "ROLLBACK", &client->undo);
    return status;
}

static int connect(const client *like, char *path, client **made) {
    client *client = calloc(1, sizeof *client);
    if (!client || !path) {
        free(client);
        free(path);
        return failed(NULL, "no memory");
    }
    *client = (struct embermark_client){
        .path = path, .tier = like->tier, .alone = like->alone, .memory = like->memory};
    /* Without a mutex: one thread at a time uses a client (https://www.sqlite.org/threadsafe.html). */
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(path, &client->db, flags, NULL);
    int status = code == SQLITE_OK ? configure(client) : refused(client, code);
    if (status != EMBERMARK_OK) {
        char why[sizeof opening];
        strcpy(why, client->error);
        close_client(client);
        return failed(NULL, "%s", why);
    }
    *made = client;
    return EMBERMARK_OK;
}

static int open_database(const struct embermark_options *options, client **made) {
    client like = {.tier = options->tier, .alone = options->alone, .memory = options->memory};
    char *path = NULL;
    if (asprintf(&path, "%s/embermark.sqlite", options->dir) < 0) path = NULL;
    return connect(&like, path, made);
}

static int open_client(client *first, client **made) {
    if (first->alone) {
        failed(first, "a second connection: the file is locked (PRAGMA locking_mode = EXCLUSIVE)");
        return EMBERMARK_UNSUPPORTED;
    }
    int status = connect(first, strdup(first->path), made);
    if (status != EMBERMARK_OK) failed(first, "%s", opening);
    return status;
}

static int settings_of(client *client, embermark_take_setting take, void *context) {
    static const char *const NAMES[] = {
        "journal_mode", "synchronous", "cache_size", "page_size", "locking_mode" FURTHER_SETTINGS};
    for (size_t n = 0; n < sizeof NAMES / sizeof *NAMES; n++) {
        char sql[64];
        sqlite3_stmt *raw;
        snprintf(sql, sizeof sql, "PRAGMA %s", NAMES[n]);
        int status = prepare_raw(client, sql, &raw);
        if (status != EMBERMARK_OK) return status;
        if (sqlite3_step(raw) == SQLITE_ROW) take(context, NAMES[n], (const char *)sqlite3_column_text(raw, 0));
        sqlite3_finalize(raw);
    }
    /* Without statistics it reports no memory in use. */
    take(context, "SQLITE_CONFIG_MEMSTATUS", sqlite3_memory_used() ? "1" : "0");
    return EMBERMARK_OK;
}

/* Updates the statistics first, so that they are in the file too. The result of the checkpoint
 * shows whether something kept it from finishing. */
static int maintain(client *client) {
    int status = script(client, "ANALYZE");
    if (status != EMBERMARK_OK || !is_log(client)) return status;
    int code = sqlite3_wal_checkpoint_v2(client->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    return code == SQLITE_OK ? EMBERMARK_OK : refused(client, code);
}

static int has_log(client *client) {
    if (is_log(client)) return EMBERMARK_OK;
    failed(client, "recovery: without write-ahead mode there is no log to recover");
    return EMBERMARK_UNSUPPORTED;
}

static int log_bytes(client *client, uint64_t *bytes) {
    int status = has_log(client);
    if (status != EMBERMARK_OK) return status;
    char *path = NULL;
    struct stat file;
    if (asprintf(&path, "%s-wal", client->path) < 0) return failed(client, "no memory");
    *bytes = stat(path, &file) == 0 ? (uint64_t)file.st_size : 0;
    free(path);
    return EMBERMARK_OK;
}

static int crash_on_close(client *client) {
    int status = has_log(client);
    if (status == EMBERMARK_OK) sqlite3_db_config(client->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return status;
}

static int suspend_checkpoints(client *client, uint64_t bytes) {
    (void)bytes;
    int status = has_log(client);
    return status == EMBERMARK_OK ? script(client, "PRAGMA wal_autocheckpoint = 0") : status;
}

static int check(client *client, embermark_take_finding take, void *context) {
    sqlite3_stmt *raw;
    int status = prepare_raw(client, "PRAGMA integrity_check", &raw), code;
    if (status != EMBERMARK_OK) return status;
    while ((code = sqlite3_step(raw)) == SQLITE_ROW) {
        const char *said = (const char *)sqlite3_column_text(raw, 0);
        /* There is one row if nothing is wrong. */
        if (said && strcmp(said, "ok") != 0) take(context, said);
    }
    /* Damage at which the check stops. */
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) take(context, sqlite3_errmsg(client->db));
    else if (code != SQLITE_DONE) status = refused(client, code);
    sqlite3_finalize(raw);
    return status;
}

/* ---- The interface ---- */

/* A key of one INTEGER column is the row's own number. For any other key the manual advises WITHOUT
 * ROWID if rows are narrow (https://www.sqlite.org/withoutrowid.html). */
static const char *table_options(const struct embermark_table *table) {
    int texts = 0;
    if (!table->key[0]) return NULL;
    for (const struct embermark_column *column = table->columns; column->name; column++) {
        int in_key = 0;
        for (const char *const *key = table->key; *key; key++) in_key |= strcmp(*key, column->name) == 0;
        if (in_key && !table->key[1] && column->holds <= EMBERMARK_TYPE_BIG) return NULL;
        texts += !in_key && column->holds >= EMBERMARK_TYPE_TEXT;
    }
    return texts > MOST_TEXTS ? NULL : " WITHOUT ROWID";
}

static struct embermark_dialect dialect = {
    .size = sizeof dialect,
    .has = EMBERMARK_ROW_VALUES | EMBERMARK_WINDOWS | EMBERMARK_DERIVED_TABLES | EMBERMARK_SEEKS_BY_KEY,
    .placeholder = "?{1}",
    .type_int = "INTEGER",
    .type_big = "INTEGER",
    .type_double = "REAL",
    .json = "TEXT",
    .json_number = "{1} ->> '$.{2}'",
    .json_text = "{1} ->> '$.{2}'",
    .month = "CAST(strftime('%Y%m', {1} / 1000, 'unixepoch') AS INTEGER)",
    .table_options = table_options,
    .index_names = "SELECT name FROM pragma_index_list('{1}')",
};

static const struct embermark_sql SQL = {
    .size = sizeof SQL,
    /* Tables are stored in key order. */
    .wants = EMBERMARK_BULK_SORTED,
    .dialect = &dialect,
    .begin = begin,
    .commit = commit,
    .undo = undo,
    .script = script,
    .prepare = prepare,
    .finish = finish,
    .execute = execute,
    .query = query,
    .fetch = fetch,
    .end_query = end_query,
    .bulk = bulk,
};

#define MANUAL "https://www.sqlite.org/pragma.html#pragma_synchronous"

static const struct embermark_tier TIERS[] = {
    {
        .survives = EMBERMARK_NONE,
        .setting = "journal_mode=MEMORY, synchronous=OFF",
        .manual = "https://www.sqlite.org/pragma.html#pragma_journal_mode",
        .read_back = (const struct embermark_pair[]){{"journal_mode", "memory"}, {"synchronous", "0"}, {NULL, NULL}},
    },
    {
        .survives = EMBERMARK_PROCESS,
        .setting = "journal_mode=WAL, synchronous=OFF",
        .manual = MANUAL,
        .read_back = (const struct embermark_pair[]){{"journal_mode", "wal"}, {"synchronous", "0"}, {NULL, NULL}},
    },
    {
        .survives = EMBERMARK_POWER,
        .setting = "journal_mode=WAL, synchronous=FULL",
        .manual = MANUAL,
        .read_back = (const struct embermark_pair[]){{"journal_mode", "wal"}, {"synchronous", "2"}, {NULL, NULL}},
    },
};

static struct embermark_engine engine = {
    .size = sizeof engine,
    .abi = EMBERMARK_ABI,
    .id = ENGINE_ID,
    .name = ENGINE_NAME,
    .licence = ENGINE_LICENCE,
    .family = EMBERMARK_SQL,
    .flags = EMBERMARK_AUTOCOMMIT | EMBERMARK_READS_BATCH,
    .tiers = TIERS,
    .open = open_database,
    .close = close_client,
    .error = error_of,
    .open_client = open_client,
    .settings_of = settings_of,
    .maintain = maintain,
    .log_bytes = log_bytes,
    .crash_on_close = crash_on_close,
    .suspend_checkpoints = suspend_checkpoints,
    .check = check,
    .check_name = "PRAGMA integrity_check",
    .sql = &SQL,
};

EMBERMARK_EXPORT const struct embermark_engine *embermark_engine(uint32_t abi) {
    engine.version = ENGINE_VERSION;
    /* Without statistics of memory, which take a mutex of the process at each allocation
     * (https://www.sqlite.org/compile.html, recommended options). SQLite refuses it after its first
     * use, and then keeps them: `settings_of` shows it. */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    /* https://www.sqlite.org/json1.html#jsonbx */
    if (sqlite3_libversion_number() >= 3045000) {
        dialect.binary_json = "BLOB";
        dialect.binary_json_of = "jsonb({1})";
    }
    return abi == EMBERMARK_ABI ? &engine : NULL;
}
