/*
 * An engine for embermark in a shared library: what such a library exports, and what each part of it owes.
 *
 *     cc -O2 -shared -fPIC -I crates/abi/include -o libmine.so mine.c
 *     embermark verify mine --engine-library ./libmine.so
 *
 * docs/engine-library.md walks through it; examples/engine-c/logmap.c and examples/engine-sql-c/sqlite.c are
 * whole engines.
 *
 * Rules for all of it:
 *
 * - A function pointer that is said to be optional may be NULL; the others may not.
 * - Texts are UTF-8 and end with a NUL. Those in the structs here live as long as the library.
 * - Bytes, texts and structs that are handed to a function are valid until it returns; so are those that a
 *   function hands to a callback. What a function hands out otherwise is valid until the next call with that
 *   client.
 * - A client is used by one thread at a time, and only `open_client` hands one over to another. Several
 *   databases may be open at once, by clients of different threads.
 * - A struct that begins with its size may have further fields at its end in a later version of this header:
 *   set `size` to `sizeof` of it, and what is behind it counts as zero. Numbers called `reserved` are zero.
 * - Nothing may be thrown or unwound out of a function here.
 */
#ifndef EMBERMARK_ENGINE_H
#define EMBERMARK_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. Another one means that a library has to be written and compiled anew. */
#define EMBERMARK_ABI 2u

/* What a function returns. Anything else is taken for a failure. */
enum embermark_status {
    /* It is done. */
    EMBERMARK_OK = 0,
    /* There is no such key. No error. */
    EMBERMARK_NOT_FOUND = 1,
    /* Nothing was done, for the sake of another client: the same may be tried again. Embermark does so, for a
     * minute at most, where an operation is a transaction of its own; of a batch it is the end. */
    EMBERMARK_CONFLICT = 2,
    /* The engine has no such thing, or not in this tier or with these settings: `error` says why. */
    EMBERMARK_UNSUPPORTED = 3,
    /* It failed: `error` says why. */
    EMBERMARK_FAILED = 4
};

/* What a commit survives, from the weakest on. */
enum embermark_durability {
    /* Nothing is promised. */
    EMBERMARK_NONE = 0,
    /* The death of the process that made it. */
    EMBERMARK_PROCESS = 1,
    /* A power cut. */
    EMBERMARK_POWER = 2
};

/* The data model of an engine. */
enum embermark_family {
    /* Ordered pairs of bytes: `key_value` has its functions. */
    EMBERMARK_KEY_VALUE = 1,
    /* Tables and statements: `sql` has its functions. */
    EMBERMARK_SQL = 2
};

/* What an engine is like: numbers to be added. */
enum embermark_flags {
    /* An operation outside of `begin` and `commit` is a transaction of its own, committed in the tier's
     * durability when it returns. Without this flag embermark puts each between `begin` and `commit`. */
    EMBERMARK_AUTOCOMMIT = 1,
    /* `get`, `scan`, `count` and `del` in a batch see what the batch has changed. Without this flag embermark
     * keeps the changes of a batch in a map of its own from the first read on. */
    EMBERMARK_READS_BATCH = 2,
    /* `del` does not tell whether the key was there, and always returns EMBERMARK_OK. Embermark then reads
     * before each, and the time for that is the engine's. */
    EMBERMARK_BLIND_DELETE = 4,
    /* Its licence forbids publishing figures without its vendor's consent: it runs only for who says
     * --accept-license, and its figures are marked. */
    EMBERMARK_FORBIDS_PUBLISHING = 8,
    /* Of an SQL engine: its rows are only added and read. A table has no key and no index, and phases that change
     * or delete rows are unsupported. */
    EMBERMARK_APPENDS_ONLY = 16
};

/* `size` bytes at `at`, which may be anything where there are none. */
struct embermark_bytes {
    const void *at;
    size_t size;
};

/* A name and a value. Where there are several, one with the name NULL ends them. */
struct embermark_pair {
    const char *name;
    const char *value;
};

/* How a durability tier is made: the cheapest setting of the engine that keeps at least what the tier
 * promises. */
struct embermark_tier {
    /* What an acknowledged commit really survives with it, of `enum embermark_durability`: no less than the
     * tier promises. */
    uint32_t survives;
    uint32_t reserved;
    /* What is set, in the engine's own words, for a reader. NULL where the tier is not offered. */
    const char *setting;
    /* The page of the engine's manual that says what the setting keeps. */
    const char *manual;
    /* Where the tier is not offered: why, as the manual has it. Else NULL. */
    const char *unsupported;
    /* What `settings` has to give back for the tier to be kept; a name may be there several times, with every
     * value that keeps the tier. Embermark compares them after `open`, and refuses the database where they
     * differ. NULL where the engine gives nothing back. */
    const struct embermark_pair *read_back;
};

/* The values that a setting takes. */
enum embermark_takes {
    /* What the engine takes, which says itself at `open` what it does not. */
    EMBERMARK_ANY = 0,
    /* A whole number. */
    EMBERMARK_NUMBER = 1,
    /* One of some words. */
    EMBERMARK_WORD = 2
};

/* A setting that a user may give a value with --configuration. Where there are several, one with the name NULL
 * ends them. */
struct embermark_setting {
    /* As the engine's manual calls it. */
    const char *name;
    /* Of `enum embermark_takes`. */
    uint32_t takes;
    uint32_t reserved;
    /* The words, the last one NULL, where it takes words. Else NULL. */
    const char *const *words;
    /* The engine's own value, where the library sets another one. Else NULL. */
    const char *by_default;
};

/* How a database is to be opened. */
struct embermark_options {
    /* Bytes of this struct. */
    uint32_t size;
    /* The tier to make, of `enum embermark_durability`: it decides what a commit survives. */
    uint32_t tier;
    /* The folder of the database, an absolute path: empty, or with what the same engine has left there, however
     * it ended. Everything is to be in it. */
    const char *dir;
    /* Bytes of cache that the engine may take, write buffers among them: the same for every engine. */
    uint64_t memory;
    /* Clients of this process that will use it at the same time. */
    uint32_t clients;
    /* 1 where nobody but the client that opens it will: it may then be locked once and for all. Else 0. */
    uint32_t alone;
    /* Settings of a configuration, which are among `settings` of the engine and win over those of the library
     * and the tier: ended by one with the name NULL, never NULL itself. */
    const struct embermark_pair *settings;
};

/* A client of an open database: what the library makes of it. */
struct embermark_client;

/* Takes a setting of an open database: its name and its value. */
typedef void (*embermark_take_setting)(void *context, const char *name, const char *value);

/* Takes something that a check has found wrong, in the engine's words. */
typedef void (*embermark_take_finding)(void *context, const char *finding);

/* Visits a pair of a scan. Anything but 0: the scan ends here, well. */
typedef int32_t (*embermark_visit)(void *context, struct embermark_bytes key, struct embermark_bytes value);

/* Changes a value where it lies, keeping its length. */
typedef void (*embermark_change)(void *context, void *value, size_t size);

/* Gives the next pair of a bulk load, valid until the next call, and returns 1; 0 when there is none left. */
typedef int32_t (*embermark_next_pair)(void *context, struct embermark_bytes *key, struct embermark_bytes *value);

/* What a scan visits: the keys from `from` on up to but without `to`, as bytes compare. */
struct embermark_range {
    /* The lowest key that belongs to it; no bytes where there is no lower end. */
    struct embermark_bytes from;
    /* The lowest key above it that does not belong to it, where `has_to` is 1. It is above `from`. */
    struct embermark_bytes to;
    uint32_t has_to;
    /* 1 where descending keys are to be visited, from the highest on. Else 0. */
    uint32_t backward;
};

/* What a scope covers. */
enum embermark_scope {
    /* Reads of one state of the database; nothing is changed. */
    EMBERMARK_SNAPSHOT = 0,
    /* One transaction that reads and writes, over as many tables as it likes. */
    EMBERMARK_BATCH = 1
};

/* The functions of a key-value engine. Keys compare byte by byte, a shorter one before the longer ones that begin
 * with it. A table is known by the number that `table` gave it. */
struct embermark_key_value {
    /* Bytes of this struct. */
    uint32_t size;
    uint32_t reserved;

    /* Enters a scope, of `enum embermark_scope`. There is one at a time. */
    int32_t (*begin)(struct embermark_client *client, uint32_t scope);
    /* Ends the scope. What a batch has changed is then committed: all of it, in the tier's durability. After a
     * failure the scope is ended as well, and nothing of it is kept. */
    int32_t (*commit)(struct embermark_client *client);
    /* Ends the scope, and undoes what a batch has changed. */
    int32_t (*undo)(struct embermark_client *client);

    /* Hands out the value of a key: without a copy, where the engine can. */
    int32_t (*get)(struct embermark_client *client, uint32_t table, struct embermark_bytes key,
                   struct embermark_bytes *value);
    /* Sets the value of a key, whether it is there or not. */
    int32_t (*put)(struct embermark_client *client, uint32_t table, struct embermark_bytes key,
                   struct embermark_bytes value);
    /* Removes a key; EMBERMARK_NOT_FOUND where there is none. See EMBERMARK_BLIND_DELETE. */
    int32_t (*del)(struct embermark_client *client, uint32_t table, struct embermark_bytes key);
    /* Visits the pairs of a range in the order of their keys, or against it. Meanwhile nothing else is asked of
     * the client. */
    int32_t (*scan)(struct embermark_client *client, uint32_t table, const struct embermark_range *range,
                    embermark_visit visit, void *context);

    /* What follows is optional. */

    /* The number of the table of that name, which is made where there is none; names are letters and digits. It
     * is found by its name when the database is opened again, by whatever number. Numbers are small: below
     * 65536. `key_length` is the length of every key in bytes, or 0 where they differ. Outside of any scope.
     * Without this function every table is kept in number 0, its keys behind a byte. */
    int32_t (*table)(struct embermark_client *client, const char *name, uint32_t key_length, uint32_t *table);
    /* Removes every pair of a table and gives its space back. Outside of any scope. Without this function the
     * keys are deleted, in batches, and the database is maintained. */
    int32_t (*clear)(struct embermark_client *client, uint32_t table);
    /* Loads the pairs that `next` gives, in the order of their keys, into a table that is empty: as one commit,
     * by the fastest way that the engine's manual has for that. Outside of any scope. Without this function
     * they are put in one batch. */
    int32_t (*bulk)(struct embermark_client *client, uint32_t table, embermark_next_pair next, void *context);
    /* Changes the value of a key: `change` is called once with a copy of it, or with where it lies, and the
     * value is then what `change` has left there. EMBERMARK_NOT_FOUND where there is no such key. Without this
     * function embermark gets, changes and puts. */
    int32_t (*modify)(struct embermark_client *client, uint32_t table, struct embermark_bytes key,
                      embermark_change change, void *context);
    /* How many keys a table has, where the engine keeps their number: not by going through them. */
    int32_t (*count)(struct embermark_client *client, uint32_t table, uint64_t *keys);
};

/* What a value holds. */
enum embermark_kind {
    /* NULL. */
    EMBERMARK_NULL = 0,
    /* `integer`: 64 bits, signed. */
    EMBERMARK_INTEGER = 1,
    /* `number`. */
    EMBERMARK_DOUBLE = 2,
    /* `size` bytes of UTF-8 at `at`, without a NUL at their end. */
    EMBERMARK_TEXT = 3,
    /* `size` bytes at `at`. */
    EMBERMARK_BLOB = 4
};

/* The content of a value. */
union embermark_content {
    int64_t integer;
    double number;
    const void *at;
};

/* A parameter of a statement, a value of a row to load, or one of a row of a result. */
struct embermark_value {
    /* Of `enum embermark_kind`. */
    uint32_t kind;
    uint32_t reserved;
    /* Of its kind; anything where that is NULL. */
    union embermark_content content;
    /* Bytes of a text or of bytes. */
    size_t size;
};

/* The types of columns. */
enum embermark_type {
    /* 32 bits, signed. */
    EMBERMARK_TYPE_INT = 1,
    /* 64 bits, signed. */
    EMBERMARK_TYPE_BIG = 2,
    /* Double precision. */
    EMBERMARK_TYPE_DOUBLE = 3,
    /* A text, compared byte by byte. */
    EMBERMARK_TYPE_TEXT = 4,
    /* Bytes, compared one by one. */
    EMBERMARK_TYPE_BYTES = 5
};

/* A column of a table. */
struct embermark_column {
    const char *name;
    /* Of `enum embermark_type`. */
    uint32_t holds;
    /* 1 where NULL may stand in it. Else 0. */
    uint32_t nullable;
};

/* A table: what is needed to create it and to load it. */
struct embermark_table {
    const char *name;
    /* In their order; one with the name NULL ends them. */
    const struct embermark_column *columns;
    /* The columns of the primary key, the last one NULL. There may be none: the table has no such key. */
    const char *const *key;
};

/* What a dialect has: numbers to be added. */
enum embermark_has {
    /* `(a, b) >= (?, ?)` is found as a range of a key of `a` and `b`. Without this flag embermark writes it
     * out. */
    EMBERMARK_ROW_VALUES = 1,
    /* Window functions. */
    EMBERMARK_WINDOWS = 2,
    /* A query may read from another query: a subquery in FROM, or WITH. */
    EMBERMARK_DERIVED_TABLES = 4,
    /* GROUP BY takes an expression, written out. */
    EMBERMARK_GROUP_BY_EXPRESSION = 8,
    /* The newest rows of a few groups are found faster by one short query a group over the primary key than by
     * one query that scans the table. */
    EMBERMARK_SEEKS_BY_KEY = 16,
    /* MAX over the columns of a key, grouped by those before, is found by going from group to group in it. */
    EMBERMARK_SKIPS_IN_GROUPS = 32
};

/* How an engine writes what SQL leaves open. In each text {1} stands for the first of what is said to be given,
 * {2} for the second. NULL: what is said in brackets. */
struct embermark_dialect {
    /* Bytes of this struct. */
    uint32_t size;
    /* Of `enum embermark_has`. */
    uint32_t has;
    /* The place of a parameter, given its number from 1 on. Never NULL. */
    const char *placeholder;

    /* What follows may be NULL. */

    /* The types of columns, in the order of `enum embermark_type` [INTEGER, BIGINT, DOUBLE PRECISION, TEXT,
     * BLOB]. */
    const char *type_int;
    const char *type_big;
    const char *type_double;
    const char *type_text;
    const char *type_bytes;
    /* Unsigned integers of 16 and 32 bits, or what holds those of one bit less [SMALLINT, INTEGER]. */
    const char *unsigned_16;
    const char *unsigned_32;
    /* Texts and bytes in a key or an index [as elsewhere]. */
    const char *indexed_text;
    const char *indexed_bytes;
    /* Texts that are documents, longer than a page perhaps, read and written whole [as other texts]. */
    const char *long_text;
    /* Texts and bytes of which the longest is known, given its bytes [as elsewhere]. */
    const char *sized_text;
    const char *sized_bytes;
    /* How many bytes are taken at most by `type_text` and `type_bytes`; 0 where there is no end. */
    uint64_t longest;
    /* JSON documents kept as texts, whose fields the engine reads [it has none]. */
    const char *json;
    /* JSON documents in a binary form [it has none], and what makes one of a text, given its place. */
    const char *binary_json;
    const char *binary_json_of;
    /* The number, and the text, in a field of either form, given column and field; NULL where there is none. */
    const char *json_number;
    const char *json_text;
    /* The year and the month, 202401, of milliseconds since 1970-01-01 UTC, given those [it has none]. */
    const char *month;
    /* How a statement names a table or a column, given the name [as it is]. */
    const char *name;
    /* A type without NULL, given the type [{1} NOT NULL]. */
    const char *not_null;
    /* What a statement that creates a table begins with [CREATE TABLE]. */
    const char *create_table;
    /* What stands behind the columns of a table in that statement, NULL or a text that lives as long as the
     * library [nothing]. */
    const char *(*table_options)(const struct embermark_table *table);
    /* The statement that removes a table where it is there, given its name [DROP TABLE IF EXISTS {1}]. */
    const char *drop_table;
    /* A query of the names of a table's indexes, one a row, given its name as embermark has it [nothing tells]. */
    const char *index_names;
    /* Integer division of non-negative integers, rounding down, and what it leaves, with the sign of the
     * dividend, given both [{1} / {2}, {1} % {2}]. */
    const char *integer_division;
    const char *remainder;
    /* The mean of a column of integers, with its fraction, given the column [AVG({1})]. */
    const char *mean;
    /* What ends a query that gives so many rows at most, given those [LIMIT {1}]. */
    const char *limit;
    /* The query of an expression's value, given that [SELECT {1}]. */
    const char *value;
    /* Sample standard deviation, given the column [it has none]. */
    const char *sample_deviation;
    /* Pearson's correlation, given both columns; NULL where one does not vary [it has none]. */
    const char *correlation;
};

/* A prepared statement: what the library makes of it. */
struct embermark_statement;

/* Rows of a result. They are valid, with the texts and bytes in them, until the next call with their statement. */
struct embermark_rows {
    /* The values of each row in the order of the columns, one row behind the other. */
    const struct embermark_value *values;
    /* How many columns a row has. */
    size_t columns;
    /* How many rows there are. */
    size_t rows;
};

/* Gives the next row to load: as many values as the table has columns, in their order, valid until the next
 * call; NULL when there is none left. */
typedef const struct embermark_value *(*embermark_next_row)(void *context);

/* What an SQL engine wants: numbers to be added. */
enum embermark_wants {
    /* Rows to load in the order of their primary key. */
    EMBERMARK_BULK_SORTED = 1
};

/* The functions of an SQL engine. Outside of `begin` and `commit` a statement is a transaction of its own, committed
 * in the tier's durability when it returns, whatever the flags of the engine say. A function that fails may end the
 * transaction or not: embermark undoes it in either case. */
struct embermark_sql {
    /* Bytes of this struct. */
    uint32_t size;
    /* Of `enum embermark_wants`. */
    uint32_t wants;
    /* How it writes what SQL leaves open. */
    const struct embermark_dialect *dialect;

    /* Begins a transaction, of `enum embermark_scope`. There is one at a time. */
    int32_t (*begin)(struct embermark_client *client, uint32_t scope);
    /* Commits it: all of it, in the tier's durability. */
    int32_t (*commit)(struct embermark_client *client);
    /* Undoes it. After an error that has ended it already there is nothing to undo, and that is no failure. */
    int32_t (*undo)(struct embermark_client *client);

    /* Runs statements, with ';' between them, that have no parameters and no results. */
    int32_t (*script)(struct embermark_client *client, const char *sql);
    /* Prepares one statement, which lives until `finish`. Another number of statements is a failure. */
    int32_t (*prepare)(struct embermark_client *client, const char *sql, struct embermark_statement **statement);
    /* Ends a prepared statement: all of them, before their client is closed. */
    int32_t (*finish)(struct embermark_client *client, struct embermark_statement *statement);
    /* Runs a statement that returns no rows, to its end, with `count` parameters: as many as it has, or it is a
     * failure. Tells how many rows it has changed. EMBERMARK_CONFLICT: nothing was done. */
    int32_t (*execute)(struct embermark_client *client, struct embermark_statement *statement,
                       const struct embermark_value *parameters, size_t count, uint64_t *changed);
    /* Begins to run a statement that returns rows, with its parameters, which stay where they are until
     * `end_query`. That is called whatever this returns. */
    int32_t (*query)(struct embermark_client *client, struct embermark_statement *statement,
                     const struct embermark_value *parameters, size_t count);
    /* Hands out the next rows: as many as are at hand, or none where there is none left. EMBERMARK_CONFLICT, where
     * none was handed out yet: the query may be begun again. */
    int32_t (*fetch)(struct embermark_client *client, struct embermark_statement *statement,
                     struct embermark_rows *rows);
    /* Ends a query, however far it has come and however it ended: it holds no lock and no row any more. */
    int32_t (*end_query)(struct embermark_client *client, struct embermark_statement *statement);

    /* What follows is optional. */

    /* Loads the rows that `next` gives, in a transaction that was begun, by the fastest way that the engine's
     * manual has for that. The table holds no row of these keys. Without this function embermark runs a prepared
     * INSERT for each row. */
    int32_t (*bulk)(struct embermark_client *client, const struct embermark_table *table, embermark_next_row next,
                    void *context);
};

/* An engine. */
struct embermark_engine {
    /* Bytes of this struct. */
    uint32_t size;
    /* EMBERMARK_ABI of the header that the library was compiled with. */
    uint32_t abi;

    /* Its name on the command line and in results: lower-case letters, digits, '-' and '_', and no name that
     * embermark has. */
    const char *id;
    /* Its own name for itself. */
    const char *name;
    /* Its version, as it says itself: figures of two versions never stand in one result. */
    const char *version;
    /* Its licence. */
    const char *licence;
    /* Of `enum embermark_family`. */
    uint32_t family;
    /* Of `enum embermark_flags`. */
    uint32_t flags;
    /* How it makes the tiers: three, in the order of `enum embermark_durability`. */
    const struct embermark_tier *tiers;
    /* What a user may set. Optional. */
    const struct embermark_setting *settings;
    /* The functions of a key-value engine. Else NULL. */
    const struct embermark_key_value *key_value;

    /* Opens the database in a folder, making it where there is none, and hands out its first client. What a
     * process that died has left there is recovered. */
    int32_t (*open)(const struct embermark_options *options, struct embermark_client **client);
    /* Closes a client, whatever comes of it. That of `open` is closed after all the others, and closes the
     * database, so that no thread and no open file of it is left. */
    int32_t (*close)(struct embermark_client *client);

    /* What follows is optional. */

    /* Why the last call with that client failed; without a client, why the last `open` or `close` of this thread
     * did. Valid until the next call with that client, or of those two. */
    const char *(*error)(struct embermark_client *client);
    /* Hands out a further client of the database that `first` has opened, of the same tier and settings, for
     * another thread: called by the thread of `first`, before the other one has it. Outside of any scope.
     * Without this function the engine has one client at a time. */
    int32_t (*open_client)(struct embermark_client *first, struct embermark_client **client);
    /* Tells the settings that matter, those that a tier or a configuration sets among them, as the engine gives
     * them back. A value that it does not give back is told as it was set, followed by " (as set)". */
    int32_t (*settings_of)(struct embermark_client *client, embermark_take_setting take, void *context);
    /* What the manual advises after many changes: a checkpoint, a compaction. No other client is open. */
    int32_t (*maintain)(struct embermark_client *client);
    /* Bytes of the files of its log. Without this function it has no log. */
    int32_t (*log_bytes)(struct embermark_client *client, uint64_t *bytes);
    /* Has `close` leave the database as its process does that dies: no checkpoint, nothing flushed that a commit
     * did not. Without this function there is nothing to recover by. */
    int32_t (*crash_on_close)(struct embermark_client *client);
    /* Has the engine take no checkpoint by itself until the database is closed, so that its log holds every
     * change from now on: about so many bytes of keys and values. Without this function it cannot be told. */
    int32_t (*suspend_checkpoints)(struct embermark_client *client, uint64_t bytes);
    /* Has the engine check what it has stored. What it finds wrong is told and no failure. No other client is
     * open. Without this function it has no check. */
    int32_t (*check)(struct embermark_client *client, embermark_take_finding take, void *context);
    /* The check as the engine's manual calls it, where there is one. */
    const char *check_name;
    /* Why no second process can use the database meanwhile, as the manual has it. (With this version of the
     * interface none ever does.) */
    const char *exclusive;
    /* The functions of an SQL engine. Else NULL. */
    const struct embermark_sql *sql;
};

/* What marks the one function that a library exports. */
#if defined(__GNUC__)
#define EMBERMARK_EXPORT __attribute__((visibility("default")))
#else
#define EMBERMARK_EXPORT
#endif

/* The engine of the library, which lives as long as the library; NULL where it does not know this version of the
 * interface. Called once in a process, before anything else: it opens nothing and starts nothing. */
EMBERMARK_EXPORT const struct embermark_engine *embermark_engine(uint32_t abi);

#ifdef __cplusplus
}
#endif

#endif
