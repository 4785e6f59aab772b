/* An SQL engine that does nothing. The time of a call is the cost of the interface. A query returns one row of four
 * numbers. A query with the word `all` returns a thousand rows in one fetch. */
#include <string.h>

#include <embermark_engine.h>

enum { COLUMNS = 4, MOST = 1000 };

struct embermark_client {
    char unused;
};

struct embermark_statement {
    size_t rows, left;
};

typedef struct embermark_client client;
typedef struct embermark_statement statement;

static struct embermark_value row[MOST * COLUMNS];

static int32_t begin(client *client, uint32_t scope) { return (void)client, (void)scope, EMBERMARK_OK; }
static int32_t end(client *client) { return (void)client, EMBERMARK_OK; }
static int32_t script(client *client, const char *sql) { return (void)client, (void)sql, EMBERMARK_OK; }

static int32_t prepare(client *client, const char *sql, statement **made) {
    static statement one = {.rows = 1}, all = {.rows = MOST};
    (void)client;
    *made = strstr(sql, "all") ? &all : &one;
    return EMBERMARK_OK;
}

static int32_t finish(client *client, statement *statement) { return (void)client, (void)statement, EMBERMARK_OK; }

static int32_t execute(client *client, statement *statement, const struct embermark_value *parameters, size_t count,
                       uint64_t *changed) {
    (void)client, (void)statement, (void)parameters, (void)count;
    *changed = 1;
    return EMBERMARK_OK;
}

static int32_t query(client *client, statement *statement, const struct embermark_value *parameters, size_t count) {
    (void)client, (void)parameters, (void)count;
    statement->left = statement->rows;
    return EMBERMARK_OK;
}

static int32_t fetch(client *client, statement *statement, struct embermark_rows *rows) {
    (void)client;
    *rows = (struct embermark_rows){.values = row, .columns = COLUMNS, .rows = statement->left};
    statement->left = 0;
    return EMBERMARK_OK;
}

static int32_t end_query(client *client, statement *statement) { return (void)client, (void)statement, EMBERMARK_OK; }

static int32_t bulk(client *client, const struct embermark_table *table, embermark_next_row next, void *context) {
    (void)client, (void)table;
    while (next(context)) continue;
    return EMBERMARK_OK;
}

static int32_t open_null(const struct embermark_options *options, client **made) {
    static client the_client;
    (void)options;
    for (size_t n = 0; n < sizeof row / sizeof *row; n++) row[n].kind = EMBERMARK_DOUBLE, row[n].content.number = 7.5;
    *made = &the_client;
    return EMBERMARK_OK;
}

static const struct embermark_tier TIERS[] = {
    {.survives = EMBERMARK_NONE, .setting = "keeps nothing"},
    {.unsupported = "it keeps nothing"},
    {.unsupported = "it keeps nothing"},
};

static const struct embermark_dialect DIALECT = {.size = sizeof DIALECT, .placeholder = "?{1}"};

static const struct embermark_sql SQL = {
    .size = sizeof SQL,
    .dialect = &DIALECT,
    .begin = begin,
    .commit = end,
    .undo = end,
    .script = script,
    .prepare = prepare,
    .finish = finish,
    .execute = execute,
    .query = query,
    .fetch = fetch,
    .end_query = end_query,
    .bulk = bulk,
};

static const struct embermark_engine ENGINE = {
    .size = sizeof ENGINE,
    .abi = EMBERMARK_ABI,
    .id = "null-sql",
    .name = "null of SQL in a library",
    .version = "1.0",
    .licence = "MIT or Apache-2.0",
    .family = EMBERMARK_SQL,
    .flags = EMBERMARK_AUTOCOMMIT | EMBERMARK_READS_BATCH,
    .tiers = TIERS,
    .sql = &SQL,
    .open = open_null,
    .close = end,
};

EMBERMARK_EXPORT const struct embermark_engine *embermark_engine(uint32_t abi) {
    return abi == EMBERMARK_ABI ? &ENGINE : NULL;
}
