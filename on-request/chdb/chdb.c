/*
 * chDB (ClickHouse as a library) as an engine of embermark_engine.h. Its library (libchdb.so,
 * 559 MB) is in the same folder as this one and is loaded at run time. The declarations below are
 * those of its C header, chdb.h.
 *
 *     make chdb
 *     embermark verify chdb --engine-library .deps/chdb/libembermark_chdb.so
 *
 * ClickHouse has no transactions (`BEGIN TRANSACTION` fails with "Transactions are not supported").
 * So only the tier `none`, which promises nothing, is available. A batch is a sequence of
 * statements. Those that were done stay, and `undo` reports that. An UPDATE or a DELETE does not
 * report the number of changed rows, so they are counted before it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embermark_engine.h"

typedef struct chdb_result chdb_result;
typedef void *chdb_connection;

/* Marks around the number of a parameter. No statement contains these bytes. */
#define OPEN '\x01'
#define CLOSE '\x02'
/* Number of rows that are returned at once. */
#define ROWS 1024
/* Smallest size of an INSERT of rows to load, in bytes. Each INSERT makes a part, and ClickHouse
 * advises large ones (https://clickhouse.com/docs/optimize/bulk-inserts). */
#define BLOCK (32u << 20)

static struct {
    chdb_connection *(*connect)(int, char **);
    void (*close)(chdb_connection *);
    chdb_result *(*query)(chdb_connection, const char *, size_t, const char *, size_t);
    char *(*buffer)(chdb_result *);
    size_t (*length)(chdb_result *);
    const char *(*error)(chdb_result *);
    void (*destroy)(chdb_result *);
    uint64_t (*written)(chdb_result *);
} chdb;

typedef struct embermark_client {
    chdb_connection *connection;
    int changed; /* whether the batch has changed something */
    char error[1024];
} client;

/* A growing buffer. */
typedef struct {
    char *at;
    size_t size, room;
} text;

typedef struct embermark_statement {
    char *sql;
    text filled;
    chdb_result *result;
    const unsigned char *next, *end;
    size_t columns;
    struct type { int nullable, code, bytes; } *types;
    struct embermark_value *values;
} statement;

static _Thread_local char opening[1024];

static int failed(client *client, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(client ? client->error : opening, sizeof opening, format, arguments);
    va_end(arguments);
    return EMBERMARK_FAILED;
}

static const char *error_of(client *client) { return client ? client->error : opening; }

/* Aborts if memory runs out: the caller cannot continue, and nothing needs to be undone. */
static void add(text *to, const void *bytes, size_t size) {
    if (to->size + size > to->room) {
        to->room = (to->size + size) * 2 + 64;
        to->at = realloc(to->at, to->room);
        if (!to->at) abort();
    }
    memcpy(to->at + to->size, bytes, size);
    to->size += size;
}

/* ---- Statements ---- */

/* Adds a value as a literal (https://clickhouse.com/docs/sql-reference/syntax#literals). */
static void add_literal(text *to, const struct embermark_value *value) {
    char number[64];
    switch (value->kind) {
    case EMBERMARK_INTEGER:
        add(to, number, (size_t)snprintf(number, sizeof number, "%" PRId64, value->content.integer));
        break;
    case EMBERMARK_DOUBLE:
        add(to, number, (size_t)snprintf(number, sizeof number, "%.17g", value->content.number));
        break;
    case EMBERMARK_TEXT:
    case EMBERMARK_BLOB: {
        const char *at = value->content.at;
        add(to, "'", 1);
        for (size_t n = 0; n < value->size; n++) {
            if (at[n] == '\'' || at[n] == '\\') add(to, "\\", 1);
            if (at[n]) add(to, at + n, 1);
            else add(to, "\\0", 2);
        }
        add(to, "'", 1);
        break;
    }
    default: add(to, "NULL", 4);
    }
}

static int fill(client *client, statement *statement, const struct embermark_value *values, size_t count) {
    text *to = &statement->filled;
    to->size = 0;
    for (const char *at = statement->sql; *at;) {
        size_t plain = strcspn(at, "\x01");
        add(to, at, plain);
        at += plain;
        if (!*at) break;
        char *after;
        unsigned long number = strtoul(at + 1, &after, 10);
        if (number == 0 || number > count) return failed(client, "parameter %lu of %zu", number, count);
        add_literal(to, values + number - 1);
        at = after + 1;
    }
    return EMBERMARK_OK;
}

static int ask(client *client, const char *sql, size_t size, const char *format, chdb_result **result) {
    *result = chdb.query(*client->connection, sql, size, format, strlen(format));
    const char *wrong = *result ? chdb.error(*result) : "it gave no result";
    if (!wrong || !*wrong) return EMBERMARK_OK;
    int status = failed(client, "%s", wrong);
    if (*result) chdb.destroy(*result);
    *result = NULL;
    return status;
}

static int run(client *client, const char *sql, size_t size, uint64_t *written) {
    chdb_result *result;
    int status = ask(client, sql, size, "Null", &result);
    if (status != EMBERMARK_OK) return status;
    if (written) *written = chdb.written(result);
    chdb.destroy(result);
    return EMBERMARK_OK;
}

static int script(client *client, const char *sql) {
    int status = EMBERMARK_OK;
    while (*sql && status == EMBERMARK_OK) {
        size_t size = strcspn(sql, ";"), blank = strspn(sql, " \n\t");
        if (strncmp(sql + blank, "CREATE INDEX ", 13) == 0 || strncmp(sql + blank, "CREATE UNIQUE ", 14) == 0) {
            failed(client, "an index of rows: it only has indexes that skip blocks "
                           "(https://clickhouse.com/docs/optimize/skipping-indexes)");
            return EMBERMARK_UNSUPPORTED;
        }
        if (blank < size) status = run(client, sql, size, NULL);
        sql += size + (sql[size] == ';');
    }
    return status;
}

/* Returns the statement with the argument of LAG made nullable. Otherwise LAG returns the default of
 * its type if no row precedes, which is 0 for a number
 * (https://clickhouse.com/docs/sql-reference/window-functions/lag). */
static char *with_null(const char *sql) {
    text to = {0};
    for (const char *at; (at = strstr(sql, "LAG(")); sql = strchr(at, ')') ? strchr(at, ')') : at + 4) {
        const char *end = strchr(at, ')');
        add(&to, sql, (size_t)(at - sql));
        add(&to, "LAG(toNullable(", 15);
        add(&to, at + 4, end ? (size_t)(end - at - 4) : 0);
        add(&to, ")", 1);
    }
    add(&to, sql, strlen(sql) + 1);
    return to.at;
}

static int prepare(client *client, const char *sql, statement **made) {
    statement *statement = calloc(1, sizeof *statement);
    if (!statement) return failed(client, "no memory");
    statement->sql = with_null(sql);
    *made = statement;
    return EMBERMARK_OK;
}

static int end_query(client *client, statement *statement) {
    (void)client;
    if (statement->result) chdb.destroy(statement->result);
    statement->result = NULL;
    statement->next = statement->end = NULL;
    return EMBERMARK_OK;
}

static int finish(client *client, statement *statement) {
    end_query(client, statement);
    free(statement->sql);
    free(statement->filled.at);
    free(statement->types);
    free(statement->values);
    free(statement);
    return EMBERMARK_OK;
}

/* Counts the rows that a statement `UPDATE t SET … WHERE …` or `DELETE FROM t WHERE …` is about to
 * change. */
static int count(client *client, const text *sql, uint64_t *rows) {
    int update = strncmp(sql->at, "UPDATE ", 7) == 0;
    const char *name = sql->at + (update ? 7 : 12), *where = memmem(sql->at, sql->size, " WHERE ", 7);
    char *ask_for = NULL;
    const char *rest = where ? where : sql->at + sql->size;
    int size = asprintf(&ask_for, "SELECT count() FROM %.*s%.*s", (int)strcspn(name, " "), name,
                        (int)(sql->at + sql->size - rest), rest);
    if (size < 0) return failed(client, "no memory");
    chdb_result *result;
    int status = ask(client, ask_for, (size_t)size, "TabSeparated", &result);
    free(ask_for);
    if (status != EMBERMARK_OK) return status;
    *rows = strtoull(chdb.buffer(result), NULL, 10);
    chdb.destroy(result);
    return EMBERMARK_OK;
}

static int execute(client *client, statement *statement, const struct embermark_value *values, size_t parameters,
                   uint64_t *changed) {
    int status = fill(client, statement, values, parameters);
    text *sql = &statement->filled;
    add(sql, "", 1);
    sql->size--;
    int counts = strncmp(sql->at, "UPDATE ", 7) == 0 || strncmp(sql->at, "DELETE FROM ", 12) == 0;
    *changed = 0;
    if (status == EMBERMARK_OK && counts) {
        status = count(client, sql, changed);
        if (status == EMBERMARK_OK && *changed == 0) return EMBERMARK_OK;
    }
    if (status == EMBERMARK_OK) status = run(client, sql->at, sql->size, counts ? NULL : changed);
    client->changed = 1;
    return status;
}

/* ---- Results, in the format RowBinaryWithNamesAndTypes ---- */

/* Reads a variable-length number. Stops at the end of the bytes. */
static size_t take_length(statement *statement) {
    size_t length = 0;
    for (int shift = 0; statement->next < statement->end; shift += 7) {
        unsigned char byte = *statement->next++;
        length |= (size_t)(byte & 127) << shift;
        if (byte < 128) break;
    }
    return length;
}

static int read_type(client *client, const char *name, size_t size, struct type *type) {
    static const struct { const char *name; int code, bytes; } KNOWN[] = {
        {"Int8", 'i', 1}, {"Int16", 'i', 2}, {"Int32", 'i', 4}, {"Int64", 'i', 8}, {"UInt8", 'u', 1}, {"UInt16", 'u', 2},
        {"UInt32", 'u', 4}, {"UInt64", 'u', 8}, {"Bool", 'u', 1}, {"Float32", 'f', 4}, {"Float64", 'f', 8}, {"String", 's', 0},
        {"Nothing", 'u', 1},
    };
    type->nullable = size > 10 && memcmp(name, "Nullable(", 9) == 0;
    const char *inner = type->nullable ? name + 9 : name;
    size_t length = type->nullable ? size - 10 : size;
    for (size_t n = 0; n < sizeof KNOWN / sizeof *KNOWN; n++) {
        if (strlen(KNOWN[n].name) == length && memcmp(KNOWN[n].name, inner, length) == 0) {
            type->code = KNOWN[n].code;
            type->bytes = KNOWN[n].bytes;
            return EMBERMARK_OK;
        }
    }
    return failed(client, "values of type %.*s cannot be read", (int)size, name);
}

static int query(client *client, statement *statement, const struct embermark_value *values, size_t parameters) {
    int status = fill(client, statement, values, parameters);
    if (status != EMBERMARK_OK) return status;
    end_query(client, statement);
    status = ask(client, statement->filled.at, statement->filled.size, "RowBinaryWithNamesAndTypes", &statement->result);
    if (status != EMBERMARK_OK) return status;
    statement->next = (const unsigned char *)chdb.buffer(statement->result);
    statement->end = statement->next + chdb.length(statement->result);
    if (statement->next == statement->end) return EMBERMARK_OK;
    size_t columns = take_length(statement);
    if (columns != statement->columns) {
        statement->types = realloc(statement->types, columns * sizeof *statement->types);
        statement->values = realloc(statement->values, columns * ROWS * sizeof *statement->values);
        statement->columns = columns;
        if (!statement->types || !statement->values) return failed(client, "no memory");
    }
    for (size_t n = 0; n < columns; n++) {
        size_t size = take_length(statement);
        statement->next += size;
    }
    for (size_t n = 0; n < columns && status == EMBERMARK_OK; n++) {
        size_t size = take_length(statement);
        status = read_type(client, (const char *)statement->next, size, statement->types + n);
        statement->next += size;
    }
    return status;
}

static void take_value(statement *statement, const struct type *type, struct embermark_value *value) {
    memset(value, 0, sizeof *value);
    if (type->nullable && *statement->next++) return;
    const unsigned char *at = statement->next;
    int64_t integer = 0;
    if (type->code == 's') {
        value->size = take_length(statement);
        value->kind = EMBERMARK_TEXT;
        value->content.at = statement->next;
        statement->next += value->size;
        return;
    }
    statement->next += type->bytes;
    if (type->code == 'f') {
        float small;
        value->kind = EMBERMARK_DOUBLE;
        if (type->bytes == 8) memcpy(&value->content.number, at, 8);
        else memcpy(&small, at, 4), value->content.number = small;
        return;
    }
    memcpy(&integer, at, (size_t)type->bytes);
    if (type->code == 'i') integer = (int64_t)((uint64_t)integer << (64 - 8 * type->bytes)) >> (64 - 8 * type->bytes);
    value->kind = EMBERMARK_INTEGER;
    value->content.integer = integer;
}

static int fetch(client *client, statement *statement, struct embermark_rows *rows) {
    size_t got = 0;
    while (got < ROWS && statement->next < statement->end) {
        for (size_t n = 0; n < statement->columns; n++) {
            take_value(statement, statement->types + n, statement->values + got * statement->columns + n);
        }
        got++;
    }
    if (statement->next > statement->end) return failed(client, "a result ends within a row");
    *rows = (struct embermark_rows){.values = statement->values, .columns = statement->columns, .rows = got};
    return EMBERMARK_OK;
}

/* ---- Batches and bulk loads ---- */

static int begin(client *client, uint32_t scope) {
    (void)scope;
    client->changed = 0;
    return EMBERMARK_OK;
}

static int commit(client *client) { return begin(client, EMBERMARK_BATCH); }

static int undo(client *client) {
    if (!client->changed) return EMBERMARK_OK;
    failed(client, "undoing a batch: it has no transactions, so the changes remain");
    return EMBERMARK_UNSUPPORTED;
}

static int bulk(client *client, const struct embermark_table *table, embermark_next_row next, void *context) {
    text sql = {0};
    size_t width = 0, head;
    while (table->columns[width].name) width++;
    add(&sql, "INSERT INTO ", 12);
    add(&sql, table->name, strlen(table->name));
    add(&sql, " VALUES ", 8);
    head = sql.size;
    int status = EMBERMARK_OK;
    for (const struct embermark_value *row = next(context); status == EMBERMARK_OK; row = next(context)) {
        for (size_t n = 0; row && n < width; n++) {
            add(&sql, n ? "," : "(", 1);
            add_literal(&sql, row + n);
        }
        if (row) add(&sql, ")", 1);
        if (sql.size > head && (!row || sql.size > BLOCK)) {
            status = run(client, sql.at, sql.size, NULL);
            client->changed = 1;
            sql.size = head;
        }
        if (!row) break;
    }
    free(sql.at);
    return status;
}

/* ---- A database ---- */

/* Settings for standard SQL: columns are nullable by default, and a join without a match gives
 * NULLs (https://clickhouse.com/docs/operations/settings/settings). */
static const char SETTINGS[] = "SET data_type_default_nullable = 1, join_use_nulls = 1, mutations_sync = 1";

/* Opens the libchdb.so in this library's folder, once. */
static int load(void) {
    Dl_info own;
    char path[4096];
    if (chdb.query) return EMBERMARK_OK;
    if (!dladdr((void *)load, &own)) return failed(NULL, "the path of this library is not known");
    const char *end = strrchr(own.dli_fname, '/');
    int folder = end ? (int)(end - own.dli_fname) : 0;
    snprintf(path, sizeof path, "%.*s%slibchdb.so", folder, own.dli_fname, end ? "/" : "./");
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return failed(NULL, "%s: run `make chdb` to download it", dlerror());
    static const char *const NAMES[] = {"chdb_connect",        "chdb_close_conn",   "chdb_query_n",
                                        "chdb_result_buffer",  "chdb_result_length", "chdb_result_error",
                                        "chdb_destroy_query_result", "chdb_result_rows_written"};
    void **const places[] = {(void **)&chdb.connect, (void **)&chdb.close,  (void **)&chdb.query,   (void **)&chdb.buffer,
                             (void **)&chdb.length,  (void **)&chdb.error,  (void **)&chdb.destroy, (void **)&chdb.written};
    for (size_t n = 0; n < sizeof NAMES / sizeof *NAMES; n++) {
        if (!(*places[n] = dlsym(library, NAMES[n]))) return failed(NULL, "%s has no function %s", path, NAMES[n]);
    }
    return EMBERMARK_OK;
}

static int open_database(const struct embermark_options *options, client **made) {
    int status = load();
    if (status != EMBERMARK_OK) return status;
    client *client = calloc(1, sizeof *client);
    char *path = NULL, *cache = NULL;
    if (!client || asprintf(&path, "--path=%s/embermark.chdb", options->dir) < 0 ||
        asprintf(&cache, "--mark_cache_size=%" PRIu64, options->memory) < 0) {
        free(client);
        return failed(NULL, "no memory");
    }
    char *words[] = {"clickhouse", path, cache};
    client->connection = chdb.connect(3, words);
    free(path);
    free(cache);
    if (!client->connection) {
        free(client);
        return failed(NULL, "chdb_connect gave no connection");
    }
    status = run(client, SETTINGS, sizeof SETTINGS - 1, NULL);
    if (status != EMBERMARK_OK) {
        failed(NULL, "%s", client->error);
        chdb.close(client->connection);
        free(client);
        return status;
    }
    *made = client;
    return EMBERMARK_OK;
}

static int close_client(client *client) {
    chdb.close(client->connection);
    free(client);
    return EMBERMARK_OK;
}

static int settings_of(client *client, embermark_take_setting take, void *context) {
    static const char SQL[] = "SELECT name, value FROM system.merge_tree_settings WHERE name IN ('fsync_after_insert') UNION ALL "
                              "SELECT name, value FROM system.settings WHERE name IN ('max_threads', 'mutations_sync') UNION ALL "
                              "SELECT name, value FROM system.server_settings WHERE name IN ('mark_cache_size', 'uncompressed_cache_size')";
    chdb_result *result;
    int status = ask(client, SQL, sizeof SQL - 1, "TabSeparatedRaw", &result);
    if (status != EMBERMARK_OK) return status;
    text all = {0};
    add(&all, chdb.buffer(result), chdb.length(result));
    add(&all, "", 1);
    chdb.destroy(result);
    char *rest = NULL;
    for (char *line = strtok_r(all.at, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *value = strchr(line, '\t');
        if (!value) continue;
        *value = 0;
        take(context, line, value + 1);
    }
    free(all.at);
    return EMBERMARK_OK;
}

/* ---- The interface ---- */

/* Lightweight updates need both columns
 * (https://clickhouse.com/docs/sql-reference/statements/update). */
static const char *table_options(const struct embermark_table *table) {
    return table->key[0] ? " ENGINE = MergeTree SETTINGS enable_block_number_column = 1, enable_block_offset_column = 1"
                         : " ENGINE = MergeTree ORDER BY tuple() SETTINGS enable_block_number_column = 1, enable_block_offset_column = 1";
}

static const struct embermark_dialect DIALECT = {
    .size = sizeof DIALECT,
    .has = EMBERMARK_ROW_VALUES | EMBERMARK_WINDOWS | EMBERMARK_DERIVED_TABLES,
    .placeholder = "\x01{1}\x02",
    .type_int = "Int32",
    .type_big = "Int64",
    .type_double = "Float64",
    .type_text = "String",
    .type_bytes = "String",
    .not_null = "{1} NOT NULL",
    .json = "String",
    .json_number = "JSONExtract({1}, '{2}', 'Nullable(Float64)')",
    .json_text = "JSONExtract({1}, '{2}', 'Nullable(String)')",
    .month = "toYYYYMM(fromUnixTimestamp64Milli({1}, 'UTC'))",
    .table_options = table_options,
    .integer_division = "intDiv({1}, {2})",
    .sample_deviation = "stddevSamp({1})",
    .correlation = "corr({1}, {2})",
};

static const struct embermark_sql SQL = {
    .size = sizeof SQL,
    .dialect = &DIALECT,
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

#define WHY "it has no transactions, so a part of a batch remains if the process dies within it"

static const struct embermark_tier TIERS[] = {
    {.survives = EMBERMARK_NONE,
     .setting = "MergeTree with its defaults: no fsync, and an interrupted batch leaves a part",
     .manual = "https://clickhouse.com/docs/operations/settings/merge-tree-settings#fsync_after_insert",
     .read_back = (const struct embermark_pair[]){{"fsync_after_insert", "0"}, {NULL, NULL}}},
    {.survives = EMBERMARK_PROCESS, .manual = "https://clickhouse.com/docs/guides/developer/transactional", .unsupported = WHY},
    {.survives = EMBERMARK_POWER, .manual = "https://clickhouse.com/docs/guides/developer/transactional", .unsupported = WHY},
};

static const struct embermark_engine ENGINE = {
    .size = sizeof ENGINE,
    .abi = EMBERMARK_ABI,
    .id = "chdb",
    .name = "chDB",
    .version = "26.5.3",
    .licence = "Apache-2.0",
    .family = EMBERMARK_SQL,
    .flags = EMBERMARK_AUTOCOMMIT | EMBERMARK_READS_BATCH,
    .tiers = TIERS,
    .open = open_database,
    .close = close_client,
    .error = error_of,
    .settings_of = settings_of,
    .exclusive = "one process can open a folder at a time: it locks the file `status`",
    .sql = &SQL,
};

EMBERMARK_EXPORT const struct embermark_engine *embermark_engine(uint32_t abi) {
    return abi == EMBERMARK_ABI ? &ENGINE : NULL;
}
