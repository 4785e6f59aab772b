/* An engine that does nothing, like embermark's `null`. The time of a call is the cost of the interface. */
#include <embermark_engine.h>

struct embermark_client {
    char unused;
};

static const uint8_t VALUE[33];

static int32_t begin(struct embermark_client *client, uint32_t scope) { return (void)client, (void)scope, 0; }
static int32_t end(struct embermark_client *client) { return (void)client, 0; }

static int32_t get(struct embermark_client *client, uint32_t table, struct embermark_bytes key,
                   struct embermark_bytes *value) {
    (void)client, (void)table, (void)key;
    value->at = VALUE;
    value->size = sizeof VALUE;
    return EMBERMARK_OK;
}

static int32_t put(struct embermark_client *client, uint32_t table, struct embermark_bytes key,
                   struct embermark_bytes value) {
    return (void)client, (void)table, (void)key, (void)value, EMBERMARK_OK;
}

static int32_t del(struct embermark_client *client, uint32_t table, struct embermark_bytes key) {
    return (void)client, (void)table, (void)key, EMBERMARK_OK;
}

/* Passes a thousand pairs, for any range. */
static int32_t scan(struct embermark_client *client, uint32_t table, const struct embermark_range *range,
                    embermark_visit visit, void *context) {
    struct embermark_bytes value = {VALUE, sizeof VALUE};
    (void)client, (void)table;
    for (int n = 0; n < 1000 && !visit(context, range->from, value); n++) continue;
    return EMBERMARK_OK;
}

static int32_t table(struct embermark_client *client, const char *name, uint32_t key_length, uint32_t *number) {
    (void)client, (void)name, (void)key_length;
    *number = 0;
    return EMBERMARK_OK;
}

static int32_t open_null(const struct embermark_options *options, struct embermark_client **client) {
    static struct embermark_client the_client;
    (void)options;
    *client = &the_client;
    return EMBERMARK_OK;
}

static const struct embermark_tier TIERS[] = {
    {.survives = EMBERMARK_NONE, .setting = "keeps nothing"},
    {.unsupported = "it keeps nothing"},
    {.unsupported = "it keeps nothing"},
};

static const struct embermark_key_value KEY_VALUE = {
    .size = sizeof KEY_VALUE,
    .begin = begin,
    .commit = end,
    .undo = end,
    .get = get,
    .put = put,
    .del = del,
    .scan = scan,
    .table = table,
};

static const struct embermark_engine ENGINE = {
    .size = sizeof ENGINE,
    .abi = EMBERMARK_ABI,
    .id = "null-library",
    .name = "null in a library",
    .version = "1.0",
    .licence = "MIT or Apache-2.0",
    .family = EMBERMARK_KEY_VALUE,
    .flags = EMBERMARK_AUTOCOMMIT | EMBERMARK_READS_BATCH,
    .tiers = TIERS,
    .key_value = &KEY_VALUE,
    .open = open_null,
    .close = end,
};

EMBERMARK_EXPORT const struct embermark_engine *embermark_engine(uint32_t abi) {
    return abi == EMBERMARK_ABI ? &ENGINE : NULL;
}
