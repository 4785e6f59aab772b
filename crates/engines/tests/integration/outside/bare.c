/*
 * logmap with only the functions that an engine must have: no tables, no autocommit, no reads of a batch, and
 * deletions that do not report whether the key existed. Every third transaction is refused at its beginning.
 * embermark does the rest itself.
 */
#define embermark_engine logmap_engine
#include "logmap.c"
#undef embermark_engine

/* The batch of the client of this thread. */
static _Thread_local struct buffer pending;
static _Thread_local int in_batch;

static int bare_open(const struct embermark_options *options, client **client) {
    uint32_t number;
    int status = open_database(options, client);
    return status == EMBERMARK_OK ? table(*client, "all", 0, &number) : status;
}

static int bare_begin(client *client, uint32_t scope) {
    static _Atomic unsigned begun;
    if (++begun % 3 == 0) {
        failed(client, "this is the third time");
        return EMBERMARK_CONFLICT;
    }
    in_batch = scope == EMBERMARK_BATCH;
    pending.size = 0;
    return in_batch ? EMBERMARK_OK : begin(client, scope);
}

static int bare_put(client *client, uint32_t table, bytes key, bytes value) {
    return add_change(&pending, PUT, table, key, value) ? EMBERMARK_OK : no_memory(client);
}

static int bare_del(client *client, uint32_t table, bytes key) {
    return add_change(&pending, DELETE, table, key, (bytes){"", 0}) ? EMBERMARK_OK : no_memory(client);
}

static int bare_undo(client *client) {
    if (!in_batch) return undo(client);
    in_batch = 0;
    return EMBERMARK_OK;
}

static int bare_commit(client *client) {
    if (!in_batch) return commit(client);
    in_batch = 0;
    int status = begin(client, EMBERMARK_BATCH);
    for (size_t place = 0; status == EMBERMARK_OK && place < pending.size;) {
        const uint8_t *at = pending.at + place;
        bytes key = {at + 13, number_at(at + 5)}, value = {at + 13 + key.size, number_at(at + 9)};
        status = *at == PUT ? put(client, number_at(at + 1), key, value) : del(client, number_at(at + 1), key);
        if (status == EMBERMARK_NOT_FOUND) status = EMBERMARK_OK;
        place += 13 + key.size + value.size;
    }
    if (status == EMBERMARK_OK) return commit(client);
    undo(client);
    return status;
}

static const struct embermark_key_value BARE_KEY_VALUE = {
    /* As of a header that had no more. */
    .size = offsetof(struct embermark_key_value, table),
    .begin = bare_begin,
    .commit = bare_commit,
    .undo = bare_undo,
    .get = get,
    .put = bare_put,
    .del = bare_del,
    .scan = scan,
    /* Beyond the stated size of the table, so it must not be read. */
    .clear = (int32_t(*)(client *, uint32_t))1,
};

static const struct logmap_engine BARE = {
    .size = sizeof BARE,
    .abi = EMBERMARK_ABI,
    .id = "bare",
    .name = "logmap with the least",
    .version = "1.0",
    .licence = "MIT or Apache-2.0",
    .family = EMBERMARK_KEY_VALUE,
    .flags = EMBERMARK_BLIND_DELETE,
    .tiers = TIERS,
    .key_value = &BARE_KEY_VALUE,
    .open = bare_open,
    .close = close_client,
    .error = error_of,
    .open_client = open_client,
    .settings_of = settings_of,
};

EMBERMARK_EXPORT const struct logmap_engine *embermark_engine(uint32_t abi) {
    return abi == EMBERMARK_ABI ? &BARE : NULL;
}
