/*
 * logmap: a key-value engine in one file. All pairs are in memory, in one skip list per table.
 * Every commit is a record at the end of a log, which is read from its beginning when the database
 * is opened.
 *
 *     cc -std=c11 -O2 -shared -fPIC -I crates/abi/include -o liblogmap.so examples/engine-c/logmap.c -lpthread
 *     embermark verify logmap --engine-library ./liblogmap.so
 *
 * It has durability tiers that differ in what they do, batches that can be undone, several clients
 * behind one lock, recovery, compaction, and its own check. It lacks what a program would want:
 * more data than memory, and readers next to a writer.
 */
#define _GNU_SOURCE
#include <embermark_engine.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct embermark_bytes bytes;

/* Largest number of levels of a skip list, which is enough for 4 to the power of 16 keys. */
#define LEVELS 16
/* Largest number of tables. */
#define TABLES 256
/* Bytes that are collected before they are written if `sync` is none. */
#define BUFFERED_BYTES (64 * 1024)
/* Bytes of a record in a compacted log. */
#define TOGETHER (1024 * 1024)
/* Beginning of a log. */
static const char MAGIC[8] = "logmap1";

/* ---- Growing buffers ---- */

struct buffer {
    uint8_t *at;
    size_t size, room;
};

/* Makes room for more bytes. Returns 0 without memory. */
static int reserve(struct buffer *buffer, size_t more) {
    if (buffer->size + more <= buffer->room) return 1;
    size_t room = (buffer->size + more) * 2;
    uint8_t *at = realloc(buffer->at, room);
    if (!at) return 0;
    buffer->at = at;
    buffer->room = room;
    return 1;
}

/* Adds bytes, for which there is room. */
static void add(struct buffer *buffer, const void *at, size_t size) {
    if (size) memcpy(buffer->at + buffer->size, at, size);
    buffer->size += size;
}

static void add_number(struct buffer *buffer, uint32_t number) { add(buffer, &number, sizeof number); }

/* ---- Skip lists ---- */

struct node {
    struct node *before; /* Node with the next lower key. */
    uint8_t *value;
    uint32_t key_size, value_size, levels;
    struct node *next[]; /* The key follows them. */
};

struct table {
    char *name;
    struct node *head; /* The node before the first pair. */
    uint64_t keys;
};

static bytes key_of(const struct node *node) {
    return (bytes){(const uint8_t *)(node->next + node->levels), node->key_size};
}

static bytes value_of(const struct node *node) { return (bytes){node->value, node->value_size}; }

static int compare(bytes a, bytes b) {
    int order = memcmp(a.at, b.at, a.size < b.size ? a.size : b.size);
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

static struct node *new_node(bytes key, uint32_t levels) {
    struct node *node = malloc(sizeof *node + levels * sizeof *node->next + key.size);
    if (!node) return NULL;
    *node = (struct node){.key_size = (uint32_t)key.size, .levels = levels};
    memset(node->next, 0, levels * sizeof *node->next);
    if (key.size) memcpy(node->next + levels, key.at, key.size);
    return node;
}

static void free_node(struct node *node) {
    free(node->value);
    free(node);
}

/* Finds the last node with a lower key on each level. Returns the first node with no lower key. */
static struct node *seek(struct table *table, bytes key, struct node *lower[LEVELS]) {
    struct node *at = table->head;
    for (int level = LEVELS; level-- > 0;) {
        while (at->next[level] && compare(key_of(at->next[level]), key) < 0) at = at->next[level];
        lower[level] = at;
    }
    return at->next[0];
}

static struct node *find(struct table *table, bytes key) {
    struct node *lower[LEVELS], *found = seek(table, key, lower);
    return found && compare(key_of(found), key) == 0 ? found : NULL;
}

static struct node *last(struct table *table) {
    struct node *at = table->head;
    for (int level = LEVELS; level-- > 0;)
        while (at->next[level]) at = at->next[level];
    return at == table->head ? NULL : at;
}

static void link_node(struct table *table, struct node *node) {
    struct node *lower[LEVELS], *above = seek(table, key_of(node), lower);
    for (uint32_t level = 0; level < node->levels; level++) {
        node->next[level] = lower[level]->next[level];
        lower[level]->next[level] = node;
    }
    node->before = lower[0];
    if (above) above->before = node;
    table->keys++;
}

static void unlink_node(struct table *table, struct node *node) {
    struct node *lower[LEVELS];
    seek(table, key_of(node), lower);
    for (uint32_t level = 0; level < node->levels; level++) lower[level]->next[level] = node->next[level];
    if (node->next[0]) node->next[0]->before = node->before;
    table->keys--;
}

static void free_pairs(struct table *table) {
    for (struct node *node = table->head->next[0], *next; node; node = next) {
        next = node->next[0];
        free_node(node);
    }
    memset(table->head->next, 0, LEVELS * sizeof *table->head->next);
    table->keys = 0;
}

/* ---- Databases and clients ---- */

/* What a commit does with its record. */
enum sync { BUFFER, WRITE, FDATASYNC };
static const char *const SYNCS[] = {"none", "write", "fdatasync", NULL};

struct database {
    pthread_rwlock_t lock;
    int single_client; /* Only one client: no locks, and no copies of values. */
    char *dir;
    int lock_file, log;
    enum sync sync;
    uint64_t log_size;        /* Bytes of the log that are written. */
    struct buffer unwritten;  /* Bytes that follow them. */
    int broken;               /* Writing the log failed: no further commits. */
    int crashes;              /* Unwritten bytes are dropped at close. */
    _Atomic uint32_t tables; /* Added under the lock. Existing tables do not move. */
    struct table table[TABLES];
    uint32_t random;
};

/* A change of a batch, by which it can be undone. */
struct change {
    enum { SET, INSERTED, REMOVED } kind;
    struct table *table;
    struct node *node;
    uint8_t *value; /* For SET, the old value. */
    uint32_t value_size;
};

struct embermark_client {
    struct database *database;
    int is_first;
    int scope;             /* An `enum embermark_scope`, or NO_SCOPE. */
    struct buffer record;  /* For a batch, its record for the log. */
    struct change *changes;
    size_t changed, room;
    struct buffer value; /* The value that was returned last. */
    char error[256];
};
#define NO_SCOPE (-1)
typedef struct embermark_client client;

static _Thread_local char open_error[256];

static int failed(client *client, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(client ? client->error : open_error, sizeof open_error, format, arguments);
    va_end(arguments);
    return EMBERMARK_FAILED;
}

static int no_memory(client *client) { return failed(client, "out of memory"); }

static const char *error_of(client *client) { return client ? client->error : open_error; }

static void lock_for(client *client, int writes) {
    struct database *database = client->database;
    if (database->single_client) return;
    if (writes) pthread_rwlock_wrlock(&database->lock);
    else pthread_rwlock_rdlock(&database->lock);
}

static void unlock(client *client) {
    if (!client->database->single_client) pthread_rwlock_unlock(&client->database->lock);
}

/* ---- The log: records with a size, a checksum and changes ---- */

enum { MAKE_TABLE = 1, PUT, DELETE, CLEAR };

struct header {
    uint64_t size; /* Never 0. */
    uint32_t crc, reserved;
};

/* CRC-32C, four bits at a time. */
static uint32_t crc32c(const uint8_t *at, size_t size) {
    static const uint32_t OF[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1,
        0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
        0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
        0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
    };
    uint32_t crc = ~0u;
    while (size--) {
        crc ^= *at++;
        crc = crc >> 4 ^ OF[crc & 15];
        crc = crc >> 4 ^ OF[crc & 15];
    }
    return ~crc;
}

/* Begins a record. Its header is filled in at the end. */
static int begin_record(struct buffer *record) {
    record->size = 0;
    if (!reserve(record, sizeof(struct header))) return 0;
    record->size = sizeof(struct header);
    return 1;
}

/* Fills in the header. Returns 0 if the record is empty. */
static int end_record(struct buffer *record) {
    struct header header = {.size = record->size - sizeof header};
    if (!header.size) return 0;
    header.crc = crc32c(record->at + sizeof header, header.size);
    memcpy(record->at, &header, sizeof header);
    return 1;
}

/* Adds a change to a record. */
static int add_change(struct buffer *record, uint8_t kind, uint32_t table, bytes key, bytes value) {
    if (!reserve(record, 1 + 3 * sizeof table + key.size + value.size)) return 0;
    add(record, &kind, 1);
    add_number(record, table);
    add_number(record, (uint32_t)key.size);
    add_number(record, (uint32_t)value.size);
    add(record, key.at, key.size);
    add(record, value.at, value.size);
    return 1;
}

static int write_all(int file, const uint8_t *at, size_t size, uint64_t offset) {
    while (size) {
        ssize_t done = pwrite(file, at, size, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return 0;
        at += done, size -= (size_t)done, offset += (uint64_t)done;
    }
    return 1;
}

/* Writes bytes to the end of the log. After a failure nothing more is written, because the content
 * of the file is unknown. */
static int write_log(client *client, struct database *database, const uint8_t *at, size_t size) {
    if (!write_all(database->log, at, size, database->log_size)) {
        database->broken = 1;
        return failed(client, "cannot write the log: %s", strerror(errno));
    }
    database->log_size += size;
    return EMBERMARK_OK;
}

static int write_buffered(client *client, struct database *database) {
    struct buffer *unwritten = &database->unwritten;
    int status = unwritten->size ? write_log(client, database, unwritten->at, unwritten->size) : EMBERMARK_OK;
    if (status == EMBERMARK_OK) unwritten->size = 0;
    return status;
}

/* Appends a record, as far as the setting of the commit requires. */
static int append(client *client, const struct buffer *record) {
    struct database *database = client->database;
    if (database->broken) return failed(client, "the log could not be written before");
    if (database->sync == BUFFER && record->size < BUFFERED_BYTES) {
        if (!reserve(&database->unwritten, record->size)) return no_memory(client);
        add(&database->unwritten, record->at, record->size);
        return database->unwritten.size < BUFFERED_BYTES ? EMBERMARK_OK : write_buffered(client, database);
    }
    int status = write_buffered(client, database);
    if (status == EMBERMARK_OK) status = write_log(client, database, record->at, record->size);
    if (status == EMBERMARK_OK && database->sync == FDATASYNC && fdatasync(database->log) != 0) {
        database->broken = 1;
        status = failed(client, "cannot sync the log: %s", strerror(errno));
    }
    return status;
}

/* ---- Changes in memory ---- */

/* Returns the number of levels of a new node. Each level has a quarter of the nodes of the one
 * below. */
static uint32_t levels(struct database *database) {
    uint32_t levels = 1, random = database->random;
    random ^= random << 13, random ^= random >> 17, random ^= random << 5;
    database->random = random;
    for (; levels < LEVELS && (random & 3) == 0; random >>= 2) levels++;
    return levels;
}

/* Returns a copy. NULL for a value with bytes means that there is no memory. */
static uint8_t *copy_bytes(bytes value) {
    uint8_t *copy = value.size ? malloc(value.size) : NULL;
    if (copy) memcpy(copy, value.at, value.size);
    return copy;
}

/* Sets a value. `change` is filled with what undoes it. Returns 0 without memory. */
static int set(struct database *database, struct table *table, bytes key, bytes value, struct change *change) {
    uint8_t *copy = copy_bytes(value);
    if (!copy && value.size) return 0;
    struct node *node = find(table, key);
    *change = (struct change){.kind = SET, .table = table, .node = node};
    if (node) {
        change->value = node->value, change->value_size = node->value_size;
    } else {
        node = new_node(key, levels(database));
        if (!node) return free(copy), 0;
        change->kind = INSERTED, change->node = node;
        link_node(table, node);
    }
    node->value = copy, node->value_size = (uint32_t)value.size;
    return 1;
}

static int make_table(struct database *database, bytes name) {
    if (database->tables == TABLES) return 0;
    struct table *table = &database->table[database->tables];
    table->name = strndup(name.at, name.size);
    table->head = new_node((bytes){"", 0}, LEVELS);
    if (!table->name || !table->head) return free(table->name), free(table->head), 0;
    table->keys = 0;
    database->tables++;
    return 1;
}

/* ---- Recovery, compaction, check ---- */

static uint32_t number_at(const uint8_t *at) {
    uint32_t number;
    memcpy(&number, at, sizeof number);
    return number;
}

/* Makes the changes of a record. Returns 0 if they are invalid, or without memory. */
static int replay(struct database *database, const uint8_t *at, uint64_t size) {
    while (size) {
        if (size < 13) return 0;
        uint32_t number = number_at(at + 1);
        bytes key = {at + 13, number_at(at + 5)}, value = {at + 13 + key.size, number_at(at + 9)};
        uint64_t all = 13 + (uint64_t)key.size + value.size;
        if (size < all || (*at != MAKE_TABLE && number >= database->tables)) return 0;
        struct table *table = &database->table[number];
        struct change change = {0};
        struct node *gone;
        switch (*at) {
        case MAKE_TABLE:
            if (!make_table(database, key)) return 0;
            break;
        case PUT:
            if (!set(database, table, key, value, &change)) return 0;
            if (change.kind == SET) free(change.value);
            break;
        case DELETE:
            if ((gone = find(table, key))) unlink_node(table, gone), free_node(gone);
            break;
        case CLEAR:
            free_pairs(table);
            break;
        default:
            return 0;
        }
        at += all, size -= all;
    }
    return 1;
}

/* Returns the record at `offset` in a log of `bytes` bytes. NULL if it is incomplete or damaged. */
static const uint8_t *record_at(const uint8_t *log, uint64_t bytes, uint64_t offset, uint64_t *size) {
    struct header header;
    if (bytes - offset < sizeof header) return NULL;
    memcpy(&header, log + offset, sizeof header);
    if (!header.size || header.size > bytes - offset - sizeof header) return NULL;
    const uint8_t *record = log + offset + sizeof header;
    if (crc32c(record, header.size) != header.crc) return NULL;
    *size = header.size;
    return record;
}

/* Reads the records of the log, and makes their changes if `replays` is set. `end` is where the
 * first invalid record begins, or the end of the log. */
static int read_log(client *client, struct database *database, int replays, uint64_t *end) {
    struct stat facts;
    if (fstat(database->log, &facts) != 0) return failed(client, "cannot look at the log: %s", strerror(errno));
    uint64_t all = (uint64_t)facts.st_size, offset = sizeof MAGIC, size;
    const uint8_t *log = mmap(NULL, all, PROT_READ, MAP_PRIVATE, database->log, 0), *record;
    if (log == MAP_FAILED) return failed(client, "cannot read the log: %s", strerror(errno));
    int status = EMBERMARK_OK;
    if (all < sizeof MAGIC || memcmp(log, MAGIC, sizeof MAGIC) != 0) {
        status = failed(client, "the file `log` is no log of logmap");
    }
    while (status == EMBERMARK_OK && (record = record_at(log, all, offset, &size))) {
        if (replays && !replay(database, record, size)) {
            status = failed(client, "the record at byte %llu of the log cannot be replayed", (unsigned long long)offset);
        }
        offset += sizeof(struct header) + size;
    }
    munmap((void *)log, all);
    *end = offset;
    return status;
}

static int sync_folder(const char *dir) {
    int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return -1;
    int done = fsync(folder);
    close(folder);
    return done;
}

/* Writes the pairs as a new log, with many pairs in each record. */
static int write_pairs(struct database *database, int file, uint64_t *size) {
    struct buffer record = {0};
    int done = write_all(file, (const uint8_t *)MAGIC, sizeof MAGIC, 0);
    *size = sizeof MAGIC;
    for (uint32_t n = 0; done && n < database->tables; n++) {
        struct table *table = &database->table[n];
        struct node *node = table->head->next[0];
        bytes name = {table->name, strlen(table->name)}, none = {"", 0};
        done = begin_record(&record) && add_change(&record, MAKE_TABLE, n, name, none);
        while (done) {
            for (; done && node && record.size < TOGETHER; node = node->next[0]) {
                done = add_change(&record, PUT, n, key_of(node), value_of(node));
            }
            if (!done || !end_record(&record)) break;
            done = write_all(file, record.at, record.size, *size);
            *size += record.size;
            done = done && begin_record(&record);
        }
    }
    free(record.at);
    return done;
}

/* Replaces the log by a new one with the current pairs. One of the two exists at any time. */
static int compact(client *client, struct database *database) {
    char fresh[4096], old[4096];
    if (snprintf(fresh, sizeof fresh, "%s/log.new", database->dir) >= (int)sizeof fresh) {
        return failed(client, "the name of the folder is too long");
    }
    snprintf(old, sizeof old, "%s/log", database->dir);
    int file = open(fresh, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) return failed(client, "cannot make %s: %s", fresh, strerror(errno));
    uint64_t size;
    if (!write_pairs(database, file, &size) || fsync(file) != 0 || rename(fresh, old) != 0) {
        int status = failed(client, "cannot write %s: %s", fresh, strerror(errno));
        close(file);
        return status;
    }
    if (database->log >= 0) close(database->log);
    database->log = file;
    database->log_size = size;
    database->unwritten.size = 0;
    if (sync_folder(database->dir) == 0) return EMBERMARK_OK;
    database->broken = 1;
    return failed(client, "cannot sync %s: %s", database->dir, strerror(errno));
}

static int maintain(client *client) {
    lock_for(client, 1);
    int status = compact(client, client->database);
    unlock(client);
    return status;
}

static int check(client *client, embermark_take_finding take, void *context) {
    struct database *database = client->database;
    uint64_t end;
    lock_for(client, 1);
    int status = write_buffered(client, database);
    if (status == EMBERMARK_OK) status = read_log(client, database, 0, &end);
    if (status != EMBERMARK_OK) {
        /* A log that cannot be read is a finding. */
        take(context, client->error);
    } else if (end != database->log_size) {
        char text[128];
        snprintf(text, sizeof text, "the record at byte %llu of the log is damaged", (unsigned long long)end);
        take(context, text);
    }
    unlock(client);
    return EMBERMARK_OK;
}

/* ---- Opening and closing ---- */

static void free_database(struct database *database) {
    for (uint32_t n = 0; n < database->tables; n++) {
        free_pairs(&database->table[n]);
        free(database->table[n].head);
        free(database->table[n].name);
    }
    if (database->log >= 0) close(database->log);
    if (database->lock_file >= 0) close(database->lock_file);
    pthread_rwlock_destroy(&database->lock);
    free(database->unwritten.at);
    free(database->dir);
    free(database);
}

static client *new_client(struct database *database) {
    client *client = calloc(1, sizeof *client);
    if (client) client->database = database, client->scope = NO_SCOPE;
    return client;
}

static void free_client(client *client) {
    free(client->record.at);
    free(client->changes);
    free(client->value.at);
    free(client);
}

/* Returns the setting of the configuration, or else of the tier. */
static int sync_of(const struct embermark_options *options, enum sync *sync) {
    static const enum sync OF_TIER[] = {BUFFER, WRITE, FDATASYNC};
    *sync = OF_TIER[options->tier];
    for (const struct embermark_pair *own = options->settings; own->name; own++) {
        int word = 0;
        while (SYNCS[word] && strcasecmp(SYNCS[word], own->value) != 0) word++;
        if (strcmp(own->name, "sync") != 0 || !SYNCS[word]) {
            return failed(NULL, "there is no %s=%s", own->name, own->value);
        }
        *sync = (enum sync)word;
    }
    return EMBERMARK_OK;
}

/* Opens the files of a database, and reads them. */
static int open_files(struct database *database) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s/lock", database->dir) >= (int)sizeof path) {
        return failed(NULL, "the name of the folder is too long");
    }
    database->lock_file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (database->lock_file < 0) return failed(NULL, "cannot open %s: %s", path, strerror(errno));
    if (flock(database->lock_file, LOCK_EX | LOCK_NB) != 0) {
        return failed(NULL, "another process has %s locked", path);
    }
    snprintf(path, sizeof path, "%s/log", database->dir);
    database->log = open(path, O_RDWR | O_CLOEXEC);
    if (database->log < 0 && errno == ENOENT) return compact(NULL, database);
    if (database->log < 0) return failed(NULL, "cannot open %s: %s", path, strerror(errno));
    int status = read_log(NULL, database, 1, &database->log_size);
    if (status != EMBERMARK_OK) return status;
    /* Removes an invalid record of a crash, so that the next record does not follow it. */
    if (ftruncate(database->log, (off_t)database->log_size) != 0 || fdatasync(database->log) != 0) {
        return failed(NULL, "cannot cut %s: %s", path, strerror(errno));
    }
    return EMBERMARK_OK;
}

static int open_database(const struct embermark_options *options, client **opened) {
    enum sync sync;
    int status = sync_of(options, &sync);
    if (status != EMBERMARK_OK) return status;
    struct database *database = calloc(1, sizeof *database);
    if (!database) return no_memory(NULL);
    pthread_rwlock_init(&database->lock, NULL);
    database->log = database->lock_file = -1;
    database->single_client = (int)options->alone;
    database->sync = sync;
    database->random = 0x9e3779b9u;
    database->dir = strdup(options->dir);
    client *client = database->dir ? new_client(database) : NULL;
    status = client ? open_files(database) : no_memory(NULL);
    if (status != EMBERMARK_OK) {
        if (client) free_client(client);
        free_database(database);
        return status;
    }
    client->is_first = 1;
    *opened = client;
    return EMBERMARK_OK;
}

static int open_client(client *first, client **opened) {
    if (first->database->single_client) return failed(first, "it was opened for only one client");
    *opened = new_client(first->database);
    return *opened ? EMBERMARK_OK : no_memory(first);
}

static int undo(client *client);

static int close_client(client *client) {
    int status = client->scope == NO_SCOPE ? EMBERMARK_OK : undo(client);
    if (client->is_first) {
        struct database *database = client->database;
        if (!database->crashes) status = write_buffered(NULL, database);
        free_database(database);
    }
    free_client(client);
    return status;
}

static int settings_of(client *client, embermark_take_setting take, void *context) {
    take(context, "sync", SYNCS[client->database->sync]);
    return EMBERMARK_OK;
}

static int log_bytes(client *client, uint64_t *bytes) {
    *bytes = client->database->log_size;
    return EMBERMARK_OK;
}

/* Whether every commit is in the log. */
static int check_all_logged(client *client) {
    if (client->database->sync != BUFFER) return EMBERMARK_OK;
    failed(client, "a log of every commit with sync=none, which gathers them");
    return EMBERMARK_UNSUPPORTED;
}

static int crash_on_close(client *client) {
    int status = check_all_logged(client);
    client->database->crashes = status == EMBERMARK_OK;
    return status;
}

/* The engine compacts only on request. */
static int suspend_checkpoints(client *client, uint64_t bytes) {
    (void)bytes;
    return check_all_logged(client);
}

/* ---- Scopes ---- */

static int begin(client *client, uint32_t scope) {
    if (scope == EMBERMARK_BATCH && !begin_record(&client->record)) return no_memory(client);
    client->changed = 0;
    client->scope = (int)scope;
    lock_for(client, scope == EMBERMARK_BATCH);
    return EMBERMARK_OK;
}

static int undo(client *client) {
    while (client->changed) {
        struct change *change = &client->changes[--client->changed];
        switch (change->kind) {
        case SET:
            free(change->node->value);
            change->node->value = change->value, change->node->value_size = change->value_size;
            break;
        case INSERTED:
            unlink_node(change->table, change->node);
            free_node(change->node);
            break;
        case REMOVED:
            link_node(change->table, change->node);
            break;
        }
    }
    client->scope = NO_SCOPE;
    unlock(client);
    return EMBERMARK_OK;
}

static int commit(client *client) {
    if (client->scope == EMBERMARK_BATCH && end_record(&client->record)) {
        int status = append(client, &client->record);
        if (status != EMBERMARK_OK) return undo(client), status;
    }
    for (; client->changed; client->changed--) {
        struct change *change = &client->changes[client->changed - 1];
        if (change->kind == SET) free(change->value);
        if (change->kind == REMOVED) free_node(change->node);
    }
    client->scope = NO_SCOPE;
    unlock(client);
    return EMBERMARK_OK;
}

/* Makes room for an entry that undoes a change. */
static struct change *next_change(client *client) {
    if (client->changed == client->room) {
        size_t room = client->room ? client->room * 2 : 16;
        struct change *changes = realloc(client->changes, room * sizeof *changes);
        if (!changes) return NULL;
        client->changes = changes, client->room = room;
    }
    return &client->changes[client->changed];
}

/* ---- Operations. One outside any scope is its own batch. ---- */

static int is_table(client *client, uint32_t table) {
    return table < client->database->tables || failed(client, "there is no table %u", table) == EMBERMARK_OK;
}

/* Begins a batch for a change, unless there is one. `own_scope` is set if it did. */
static int begin_operation(client *client, uint32_t table, int *own_scope) {
    *own_scope = client->scope == NO_SCOPE;
    if (client->scope == EMBERMARK_SNAPSHOT) return failed(client, "a snapshot is not changed");
    if (!is_table(client, table)) return EMBERMARK_FAILED;
    return *own_scope ? begin(client, EMBERMARK_BATCH) : EMBERMARK_OK;
}

/* Ends the batch. */
static int end_operation(client *client, int own_scope, int status) {
    if (!own_scope) return status;
    if (status == EMBERMARK_OK) return commit(client);
    undo(client);
    return status;
}

/* Returns bytes in place, or a copy if another client may change them from now on. */
static int return_value(client *client, bytes found, bytes *value) {
    *value = found;
    if (client->scope != NO_SCOPE || client->database->single_client) return EMBERMARK_OK;
    client->value.size = 0;
    if (!reserve(&client->value, found.size + 1)) return no_memory(client);
    add(&client->value, found.at, found.size);
    value->at = client->value.at;
    return EMBERMARK_OK;
}

static int get(client *client, uint32_t table, bytes key, bytes *value) {
    if (!is_table(client, table)) return EMBERMARK_FAILED;
    int own_scope = client->scope == NO_SCOPE;
    if (own_scope) lock_for(client, 0);
    struct node *found = find(&client->database->table[table], key);
    int status = found ? return_value(client, value_of(found), value) : EMBERMARK_NOT_FOUND;
    if (own_scope) unlock(client);
    return status;
}

static int put_in_batch(client *client, uint32_t table, bytes key, bytes value) {
    struct database *database = client->database;
    struct change *change = next_change(client);
    if (!change || key.size > UINT32_MAX || value.size > UINT32_MAX) return no_memory(client);
    size_t before = client->record.size;
    if (!add_change(&client->record, PUT, table, key, value)) return no_memory(client);
    if (!set(database, &database->table[table], key, value, change)) {
        client->record.size = before;
        return no_memory(client);
    }
    client->changed++;
    return EMBERMARK_OK;
}

static int put(client *client, uint32_t table, bytes key, bytes value) {
    int own_scope, status = begin_operation(client, table, &own_scope);
    return status == EMBERMARK_OK ? end_operation(client, own_scope, put_in_batch(client, table, key, value)) : status;
}

static int del_in_batch(client *client, uint32_t table, bytes key) {
    struct table *in = &client->database->table[table];
    struct node *node = find(in, key);
    if (!node) return EMBERMARK_NOT_FOUND;
    struct change *change = next_change(client);
    if (!change || !add_change(&client->record, DELETE, table, key, (bytes){"", 0})) return no_memory(client);
    unlink_node(in, node);
    *change = (struct change){.kind = REMOVED, .table = in, .node = node};
    client->changed++;
    return EMBERMARK_OK;
}

static int del(client *client, uint32_t table, bytes key) {
    int own_scope, status = begin_operation(client, table, &own_scope);
    return status == EMBERMARK_OK ? end_operation(client, own_scope, del_in_batch(client, table, key)) : status;
}

static int modify_in_batch(client *client, uint32_t table, bytes key, embermark_change change, void *context) {
    struct node *node = find(&client->database->table[table], key);
    if (!node) return EMBERMARK_NOT_FOUND;
    struct buffer *value = &client->value;
    value->size = 0;
    if (!reserve(value, node->value_size + 1)) return no_memory(client);
    add(value, node->value, node->value_size);
    change(context, value->at, value->size);
    return put_in_batch(client, table, key, (bytes){value->at, value->size});
}

static int modify(client *client, uint32_t table, bytes key, embermark_change change, void *context) {
    int own_scope, status = begin_operation(client, table, &own_scope);
    if (status != EMBERMARK_OK) return status;
    return end_operation(client, own_scope, modify_in_batch(client, table, key, change, context));
}

static void visit_range(struct table *table, const struct embermark_range *range, embermark_visit visit,
                        void *context) {
    struct node *lower[LEVELS], *node;
    if (!range->backward) {
        for (node = seek(table, range->from, lower); node; node = node->next[0]) {
            if (range->has_to && compare(key_of(node), range->to) >= 0) return;
            if (visit(context, key_of(node), value_of(node))) return;
        }
        return;
    }
    if (range->has_to) seek(table, range->to, lower), node = lower[0];
    else node = last(table);
    for (; node && node != table->head; node = node->before) {
        if (compare(key_of(node), range->from) < 0) return;
        if (visit(context, key_of(node), value_of(node))) return;
    }
}

static int scan(client *client, uint32_t table, const struct embermark_range *range, embermark_visit visit,
                void *context) {
    if (!is_table(client, table)) return EMBERMARK_FAILED;
    int own_scope = client->scope == NO_SCOPE;
    if (own_scope) lock_for(client, 0);
    visit_range(&client->database->table[table], range, visit, context);
    if (own_scope) unlock(client);
    return EMBERMARK_OK;
}

static int count(client *client, uint32_t table, uint64_t *keys) {
    if (!is_table(client, table)) return EMBERMARK_FAILED;
    int own_scope = client->scope == NO_SCOPE;
    if (own_scope) lock_for(client, 0);
    *keys = client->database->table[table].keys;
    if (own_scope) unlock(client);
    return EMBERMARK_OK;
}

/* Returns the table with this name. Creates it with its own record if it does not exist. */
static int table(client *client, const char *name, uint32_t key_length, uint32_t *number) {
    struct database *database = client->database;
    (void)key_length;
    lock_for(client, 1);
    for (*number = 0; *number < database->tables; ++*number) {
        if (strcmp(database->table[*number].name, name) == 0) return unlock(client), EMBERMARK_OK;
    }
    int status = no_memory(client);
    bytes bytes_of_name = {name, strlen(name)};
    if (database->tables == TABLES) {
        status = failed(client, "it has %d tables at most", TABLES);
    } else if (begin_record(&client->record) &&
               add_change(&client->record, MAKE_TABLE, *number, bytes_of_name, (bytes){"", 0}) &&
               make_table(database, bytes_of_name)) {
        end_record(&client->record);
        status = append(client, &client->record);
    }
    unlock(client);
    return status;
}

static int clear(client *client, uint32_t number) {
    if (!is_table(client, number)) return EMBERMARK_FAILED;
    int status = no_memory(client);
    lock_for(client, 1);
    if (begin_record(&client->record) && add_change(&client->record, CLEAR, number, (bytes){"", 0}, (bytes){"", 0})) {
        end_record(&client->record);
        status = append(client, &client->record);
    }
    if (status == EMBERMARK_OK) free_pairs(&client->database->table[number]);
    unlock(client);
    return status;
}

/* ---- The interface ---- */

#define MANUAL "examples/engine-c/logmap.c"

static const struct embermark_pair ANY_SYNC[] = {
    {"sync", "none"}, {"sync", "write"}, {"sync", "fdatasync"}, {NULL, NULL}};

static const struct embermark_tier TIERS[] = {
    {
        .survives = EMBERMARK_NONE,
        .setting = "sync=none: commits are gathered, 64 KiB of them, before they are written",
        .manual = MANUAL,
        .read_back = ANY_SYNC,
    },
    {
        .survives = EMBERMARK_PROCESS,
        .setting = "sync=write: a commit is handed to the operating system before it returns",
        .manual = MANUAL,
        .read_back = ANY_SYNC + 1,
    },
    {
        .survives = EMBERMARK_POWER,
        .setting = "sync=fdatasync: a commit is synced before it returns",
        .manual = MANUAL,
        .read_back = ANY_SYNC + 2,
    },
};

static const struct embermark_setting SETTINGS[] = {
    {.name = "sync", .takes = EMBERMARK_WORD, .words = SYNCS},
    {.name = NULL},
};

static const struct embermark_key_value KEY_VALUE = {
    .size = sizeof KEY_VALUE,
    .begin = begin,
    .commit = commit,
    .undo = undo,
    .get = get,
    .put = put,
    .del = del,
    .scan = scan,
    .table = table,
    .clear = clear,
    .modify = modify,
    .count = count,
};

static const struct embermark_engine ENGINE = {
    .size = sizeof ENGINE,
    .abi = EMBERMARK_ABI,
    .id = "logmap",
    .name = "logmap, an example in C",
    .version = "1.0",
    .licence = "MIT or Apache-2.0",
    .family = EMBERMARK_KEY_VALUE,
    .flags = EMBERMARK_AUTOCOMMIT | EMBERMARK_READS_BATCH,
    .tiers = TIERS,
    .settings = SETTINGS,
    .key_value = &KEY_VALUE,
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
    .check_name = "the checksums of the log",
    .exclusive = "its folder is locked (examples/engine-c/logmap.c, open_files)",
};

EMBERMARK_EXPORT const struct embermark_engine *embermark_engine(uint32_t abi) {
    return abi == EMBERMARK_ABI ? &ENGINE : NULL;
}
