/*
 * Files that are not valid libraries, or whose engine is broken. The macro of the compilation selects
 * the fault, such as -DWRONG_ABI.
 */
#define embermark_engine logmap_engine
#include "logmap.c"
#undef embermark_engine

static struct embermark_key_value functions;
static struct embermark_tier tiers[3];
static struct logmap_engine engine;

/* Writes to an unmapped address, without a warning of the compiler. */
static int *volatile nowhere;
static void crash(void) { *nowhere = 1; }

#ifdef CRASHES_WHEN_LOADED
__attribute__((constructor)) static void loaded(void) { crash(); }
#endif

#ifdef PRINTS_AND_FORKS
#include <stdio.h>
#include <unistd.h>

/* Leaves a process behind that keeps all files of this one open. */
__attribute__((constructor)) static void loaded(void) {
    printf("printed by the library \033[31m\033]0;title\007\n");
    fflush(stdout);
    fprintf(stderr, "printed by the library \033[31m\n");
    if (fork() == 0) {
        setsid();
        for (;;) pause();
    }
}
#endif

#ifdef CALLS_HOME
#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>

/* When loaded, connects to the port in the environment. */
__attribute__((constructor)) static void loaded(void) {
    const char *port = getenv("HOSTILE_PORT");
    struct sockaddr_in home = {.sin_family = AF_INET, .sin_port = htons((uint16_t)(port ? atoi(port) : 0))};
    home.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int line = socket(AF_INET, SOCK_STREAM, 0);
    (void)!connect(line, (struct sockaddr *)&home, sizeof home);
}
#endif

int32_t crashes(client *client, uint32_t table, bytes key, bytes *value) {
    (void)client, (void)table, (void)key, (void)value;
    crash();
    return EMBERMARK_OK;
}

/* Returns the first byte of the stored value. */
int32_t lies(client *client, uint32_t table, bytes key, bytes *value) {
    int status = get(client, table, key, value);
    if (status == EMBERMARK_OK && value->size) value->size = 1;
    return status;
}

int32_t says_nonsense(client *client, uint32_t table, bytes key, bytes value) {
    (void)client, (void)table, (void)key, (void)value;
    return 77;
}

int32_t says_why(client *client, uint32_t table, bytes key, bytes value) {
    (void)table, (void)key, (void)value;
    return failed(client, "the moon is full");
}

int32_t opens_nothing(const struct embermark_options *options, client **client) {
    (void)options, (void)client;
    return EMBERMARK_OK;
}

int32_t does_not_open(const struct embermark_options *options, client **client) {
    (void)options, (void)client;
    return failed(NULL, "the door is locked");
}

int32_t syncs_never(client *client, embermark_take_setting take, void *context) {
    (void)client;
    take(context, "sync", "none");
    return EMBERMARK_OK;
}

int32_t tells_nothing(client *client, embermark_take_setting take, void *context) {
    (void)client, (void)take, (void)context;
    return EMBERMARK_OK;
}

/* The fault. */
static void spoil(void) {
#if defined WRONG_ABI
    engine.abi = 7;
#elif defined SHORT
    engine.size = 16;
#elif defined SHORT_FUNCTIONS
    functions.size = 24;
#elif defined NO_FUNCTIONS
    engine.key_value = NULL;
#elif defined NO_SQL_FUNCTIONS
    engine.family = EMBERMARK_SQL;
#elif defined NO_DIALECT
    engine.family = EMBERMARK_SQL;
    static struct embermark_sql sql = {.size = sizeof sql};
    engine.sql = &sql;
#elif defined NO_SCRIPT
    engine.family = EMBERMARK_SQL;
    static struct embermark_dialect dialect = {.size = sizeof dialect, .placeholder = "?"};
    static struct embermark_sql sql = {.size = sizeof sql, .dialect = &dialect};
    sql.begin = functions.begin;
    sql.commit = sql.undo = functions.commit;
    engine.sql = &sql;
#elif defined NO_GET
    functions.get = NULL;
#elif defined NO_OPEN
    engine.open = NULL;
#elif defined NO_NAME
    engine.name = NULL;
#elif defined PRINTS_AND_FORKS
    engine.name = "named \033[31m\033]0;title\007";
#elif defined NOT_UTF8
    engine.name = "\xff\xfe";
#elif defined STRANGE_ID
    engine.id = "My Engine";
#elif defined ID_OF_ANOTHER
    engine.id = "memory";
#elif defined ID_OF_ALL
    engine.id = "embedded";
#elif defined NO_TIERS
    engine.tiers = NULL;
#elif defined WEAK_TIER
    tiers[2].survives = EMBERMARK_PROCESS;
#elif defined NO_TIER
    tiers[2].survives = 9;
#elif defined MUTE_TIER
    tiers[2].setting = NULL;
#elif defined NO_FAMILY
    engine.family = 99;
#elif defined CRASHES_WHEN_ASKED
    crash();
#elif defined CRASHES_AT_GET
    functions.get = crashes;
#elif defined LIES
    functions.get = lies;
#elif defined NONSENSE
    functions.put = says_nonsense;
#elif defined FAILS
    functions.put = says_why;
#elif defined OPENS_NOTHING
    engine.open = opens_nothing;
#elif defined DOES_NOT_OPEN
    engine.open = does_not_open;
#elif defined SYNCS_NEVER
    engine.settings_of = syncs_never;
#elif defined TELLS_NOTHING
    engine.settings_of = tells_nothing;
#elif defined UNSUPPORTED_TIER
    tiers[2] = (struct embermark_tier){.unsupported = "nothing is ever synced"};
#elif defined UNPUBLISHABLE
    engine.flags |= EMBERMARK_FORBIDS_PUBLISHING;
#endif
}

#ifdef NO_ENTRY
#define embermark_engine something_else
#endif

EMBERMARK_EXPORT const struct logmap_engine *embermark_engine(uint32_t abi) {
#ifdef KNOWS_NO_VERSION
    (void)abi;
    return NULL;
#endif
    (void)abi;
    functions = KEY_VALUE;
    memcpy(tiers, TIERS, sizeof tiers);
    engine = ENGINE;
    engine.id = "hostile";
    engine.key_value = &functions;
    engine.tiers = tiers;
    spoil();
    return &engine;
}
