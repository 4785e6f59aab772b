/*
 * The interface of an engine for embermark in a shared library: what such a library exports, and
 * what each part must do.
 *
 *     cc -O2 -shared -fPIC -I crates/abi/include -o libmine.so mine.c
 *     embermark verify mine --engine-library ./libmine.so
 *
 * docs/engine-library.md is a guide. examples/engine-c/logmap.c and examples/engine-sql-c/sqlite.c
 * are complete engines.
 *
 * Rules for all parts:
 *
 * - A function pointer that is called optional may be NULL. The others must not be.
 * - Texts are UTF-8 and NUL-terminated. Those in the structs here live as long as the library.
 * - Bytes, texts and structs that a function gets are valid until it returns. So are those that it
 *   passes to a callback. Anything else that a function returns is valid until the next call with
 *   that client.
 * - One thread at a time uses a client. Only a client of `open_client` moves to another thread.
 *   Several databases may be open at once, with clients of different threads.
 * - A struct that begins with its size may get further members at its end in later versions of this
 *   header. Set `size` to its `sizeof`, and members beyond that count as zero. Numbers called
 *   `reserved` are zero.
 * - Nothing may be thrown or unwound out of a function here.
 */
#ifndef EMBERMARK_ENGINE_H
#define EMBERMARK_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface. With another version a library must be adapted and recompiled. */
#define EMBERMARK_ABI 2u

/* Return values of functions. Any other value counts as a failure. */
enum embermark_status {
    /* Success. */
    EMBERMARK_OK = 0,
    /* The key does not exist. This is not an error. */
    EMBERMARK_NOT_FOUND = 1,
    /* Nothing was done because of another client, and the call may be repeated. embermark repeats
     * it for at most a minute if the operation is its own transaction, and a read-modify-write as
     * a whole. Any other batch fails instead. */
    EMBERMARK_CONFLICT = 2,
    /* The engine does not support it, or not in this tier or with these settings. `error` gives the
     * reason. */
    EMBERMARK_UNSUPPORTED = 3,
    /* It failed. `error` gives the reason. */
    EMBERMARK_FAILED = 4
};

/* What a commit survives, from the weakest to the strongest. */
enum embermark_durability {
    /* Nothing is promised. */
    EMBERMARK_NONE = 0,
    /* The death of the process that made the commit. */
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

/* Properties of an engine. Add the numbers. */
enum embermark_flags {
    /* An operation outside `begin` and `commit` is its own transaction. When it returns, it is
     * committed with the tier's durability. Without this flag embermark puts each one between
     * `begin` and `commit`. */
    EMBERMARK_AUTOCOMMIT = 1,
    /* `get`, `scan`, `count` and `del` in a batch see the changes of the batch. Without this flag
     * embermark keeps the changes of a batch in its own map from the first read on. */
    EMBERMARK_READS_BATCH = 2,
    /* `del` does not report whether the key existed, and always returns EMBERMARK_OK. embermark
     * then reads before each one, and counts the time for the engine. */
    EMBERMARK_BLIND_DELETE = 4,
    /* The licence forbids publishing figures without the vendor's consent. The engine then runs
     * only with --accept-license, and its figures are marked. */
    EMBERMARK_FORBIDS_PUBLISHING = 8,
    /* For an SQL engine: rows are only added and read. Tables have no key and no index, and phases
     * that change or delete rows are unsupported. */
    EMBERMARK_APPENDS_ONLY = 16
};

/* `size` bytes at `at`. The pointer is arbitrary if there are none. */
struct embermark_bytes {
    const void *at;
    size_t size;
};

/* A name and a value. In a list, a pair with the name NULL is the end. */
struct embermark_pair {
    const char *name;
    const char *value;
};

/* A durability tier: the engine's cheapest setting that keeps at least what the tier promises. */
struct embermark_tier {
    /* What an acknowledged commit really survives with this setting, of `enum
     * embermark_durability`. It is no less than the tier promises. */
    uint32_t survives;
    uint32_t reserved;
    /* The setting in the engine's own words, for readers. NULL if the tier is not offered. */
    const char *setting;
    /* Page of the engine's manual that defines what the setting keeps. */
    const char *manual;
    /* If the tier is not offered: the reason, according to the manual. Otherwise NULL. */
    const char *unsupported;
    /* Values that `settings_of` must report if the tier is kept. A name may occur several times,
     * with every value that keeps the tier. embermark compares them after `open`, and refuses the
     * database if they differ. NULL if the engine reports nothing. */
    const struct embermark_pair *read_back;
};

/* Values that a setting takes. */
enum embermark_takes {
    /* Anything that the engine accepts. `open` reports what it does not accept. */
    EMBERMARK_ANY = 0,
    /* A whole number. */
    EMBERMARK_NUMBER = 1,
    /* One of a list of words. */
    EMBERMARK_WORD = 2
};

/* A setting that users may change with --configuration. In a list, a setting with the name NULL is
 * the end. */
struct embermark_setting {
    /* Name in the engine's manual. */
    const char *name;
    /* Of `enum embermark_takes`. */
    uint32_t takes;
    uint32_t reserved;
    /* The words, NULL-terminated, if it takes words. Otherwise NULL. */
    const char *const *words;
    /* The engine's default, if the library sets another value. Otherwise NULL. */
    const char *by_default;
};

/* Options for opening a database. */
struct embermark_options {
    /* Size of this struct in bytes. */
    uint32_t size;
    /* The requested tier, of `enum embermark_durability`. It determines what a commit survives. */
    uint32_t tier;
    /* Absolute path of the database's folder. It is empty, or has the files that the same engine
     * left there, however it ended. The engine keeps all its files in it. */
    const char *dir;
    /* Cache in bytes that the engine may use, including write buffers. It is the same for every
     * engine. */
    uint64_t memory;
    /* Number of clients of this process that will use the database at the same time. */
    uint32_t clients;
    /* 1 if only the client that opens the database will use it. The engine may then lock it once
     * for the whole time. Otherwise 0. */
    uint32_t alone;
    /* Settings of a configuration, which override those of the library and of the tier. They are
     * among the engine's `settings`. The last one has the name NULL. The pointer itself is never
     * NULL. */
    const struct embermark_pair *settings;
};

/* A client of an open database. The library defines it. */
struct embermark_client;

/* Receives a setting of an open database: its name and its value. */
typedef void (*embermark_take_setting)(void *context, const char *name, const char *value);

/* Receives a problem that a check has found, in the engine's words. */
typedef void (*embermark_take_finding)(void *context, const char *finding);

/* Visits a pair of a scan. If it returns anything but 0, the scan ends successfully. */
typedef int32_t (*embermark_visit)(void *context, struct embermark_bytes key, struct embermark_bytes value);

/* Changes a value in place and keeps its length. */
typedef void (*embermark_change)(void *context, void *value, size_t size);

/* Supplies the next pair of a bulk load, valid until the next call, and returns 1. Returns 0 at the
 * end. */
typedef int32_t (*embermark_next_pair)(void *context, struct embermark_bytes *key, struct embermark_bytes *value);

/* The range of a scan: the keys from `from` (inclusive) to `to` (exclusive), compared as bytes. */
struct embermark_range {
    /* Lowest key of the range. Empty if there is no lower bound. */
    struct embermark_bytes from;
    /* Lowest key above the range, if `has_to` is 1. It is greater than `from`. */
    struct embermark_bytes to;
    uint32_t has_to;
    /* 1 to visit keys in descending order, from the highest. Otherwise 0. */
    uint32_t backward;
};

/* Kinds of scopes. */
enum embermark_scope {
    /* Reads of one state of the database, without changes. */
    EMBERMARK_SNAPSHOT = 0,
    /* One transaction that reads and writes, over any number of tables. */
    EMBERMARK_BATCH = 1
};

/* Functions of a key-value engine. Keys compare byte by byte, and a prefix comes before longer
 * keys. A table is identified by the number that `table` returned. */
struct embermark_key_value {
    /* Size of this struct in bytes. */
    uint32_t size;
    uint32_t reserved;

    /* Enters a scope, of `enum embermark_scope`. A client has at most one at a time. */
    int32_t (*begin)(struct embermark_client *client, uint32_t scope);
    /* Ends the scope. All changes of a batch are then committed, with the tier's durability. After
     * a failure the scope has ended too, and none of its changes are kept. */
    int32_t (*commit)(struct embermark_client *client);
    /* Ends the scope, and undoes the changes of a batch. */
    int32_t (*undo)(struct embermark_client *client);

    /* Returns the value of a key, without a copy if the engine can. */
    int32_t (*get)(struct embermark_client *client, uint32_t table, struct embermark_bytes key,
                   struct embermark_bytes *value);
    /* Sets the value of a key, whether it exists or not. */
    int32_t (*put)(struct embermark_client *client, uint32_t table, struct embermark_bytes key,
                   struct embermark_bytes value);
    /* Removes a key. EMBERMARK_NOT_FOUND if it does not exist. See EMBERMARK_BLIND_DELETE. */
    int32_t (*del)(struct embermark_client *client, uint32_t table, struct embermark_bytes key);
    /* Visits the pairs of a range in the order of their keys, or in reverse. Until it returns, the
     * client gets no other call. */
    int32_t (*scan)(struct embermark_client *client, uint32_t table, const struct embermark_range *range,
                    embermark_visit visit, void *context);

    /* The following functions are optional. */

    /* Returns the number of the table with this name, and creates it if it does not exist. Names
     * are letters and digits. When the database is opened again, the name finds the same table,
     * possibly under another number. Numbers are below 65536. `key_length` is the length of every
     * key in bytes, or 0 if they differ. Called outside of scopes. Without this function every
     * table is stored in number 0, with a byte before its keys. */
    int32_t (*table)(struct embermark_client *client, const char *name, uint32_t key_length, uint32_t *table);
    /* Removes every pair of a table, and frees its space. Called outside of scopes. Without this
     * function the keys are deleted in batches, and the database is maintained. */
    int32_t (*clear)(struct embermark_client *client, uint32_t table);
    /* Loads the pairs of `next`, which are in key order, into an empty table. It makes one commit,
     * and uses the fastest way in the engine's manual. Called outside of scopes. Without this
     * function they are put in one batch. */
    int32_t (*bulk)(struct embermark_client *client, uint32_t table, embermark_next_pair next, void *context);
    /* Changes the value of a key. `change` is called once with a copy of the value, or with the
     * value in place. What it leaves there becomes the value. EMBERMARK_NOT_FOUND if the key does
     * not exist. Without this function embermark gets, changes and puts. */
    int32_t (*modify)(struct embermark_client *client, uint32_t table, struct embermark_bytes key,
                      embermark_change change, void *context);
    /* Returns the number of keys of a table, if the engine stores that number. It must not count
     * them. */
    int32_t (*count)(struct embermark_client *client, uint32_t table, uint64_t *keys);
};

/* Kinds of values. */
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

/* Content of a value. */
union embermark_content {
    int64_t integer;
    double number;
    const void *at;
};

/* A parameter of a statement, a value of a row to load, or a value of a result row. */
struct embermark_value {
    /* Of `enum embermark_kind`. */
    uint32_t kind;
    uint32_t reserved;
    /* Determined by the kind. Arbitrary if that is NULL. */
    union embermark_content content;
    /* Length of a text or of bytes. */
    size_t size;
};

/* Types of columns. */
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
    /* 1 if the column may be NULL. Otherwise 0. */
    uint32_t nullable;
};

/* A table: its description for creating and loading it. */
struct embermark_table {
    const char *name;
    /* Columns in their order. The last one has the name NULL. */
    const struct embermark_column *columns;
    /* Columns of the primary key, NULL-terminated. If empty, the table has no primary key. */
    const char *const *key;
};

/* Features of a dialect. Add the numbers. 8 has no meaning. */
enum embermark_has {
    /* `(a, b) >= (?, ?)` is evaluated as a range of a key of `a` and `b`. Without this flag
     * embermark writes it out. */
    EMBERMARK_ROW_VALUES = 1,
    /* Window functions. */
    EMBERMARK_WINDOWS = 2,
    /* A query may read from another query: a subquery in FROM, or WITH. */
    EMBERMARK_DERIVED_TABLES = 4,
    /* The newest rows of a few groups are found faster with a short query per group over the
     * primary key than with one query that scans the table. */
    EMBERMARK_SEEKS_BY_KEY = 16,
    /* MAX over the columns of a key, grouped by the columns before, jumps from group to group in
     * the key. */
    EMBERMARK_SKIPS_IN_GROUPS = 32
};

/* The engine's SQL where the standard leaves a choice. In each text, {1} and {2} are replaced by
 * the first and the second argument. For NULL, the default in brackets applies. */
struct embermark_dialect {
    /* Size of this struct in bytes. */
    uint32_t size;
    /* Of `enum embermark_has`. */
    uint32_t has;
    /* Placeholder of a parameter. Argument: its number, from 1. Never NULL. */
    const char *placeholder;

    /* The following members may be NULL. */

    /* Types of columns, in the order of `enum embermark_type` [INTEGER, BIGINT, DOUBLE PRECISION,
     * TEXT, BLOB]. */
    const char *type_int;
    const char *type_big;
    const char *type_double;
    const char *type_text;
    const char *type_bytes;
    /* Unsigned integers of 16 and 32 bits, or types of one bit less [SMALLINT, INTEGER]. */
    const char *unsigned_16;
    const char *unsigned_32;
    /* Texts and bytes in a key or an index [as in other columns]. */
    const char *indexed_text;
    const char *indexed_bytes;
    /* Texts that are documents, which may be longer than a page and are read and written whole [as
     * other texts]. */
    const char *long_text;
    /* Texts and bytes of known maximum length. Argument: that length in bytes [as in other
     * columns]. */
    const char *sized_text;
    const char *sized_bytes;
    /* Largest number of bytes that `type_text` and `type_bytes` take. 0 if unlimited. */
    uint64_t longest;
    /* JSON documents as text, whose fields the engine can read [unsupported]. */
    const char *json;
    /* JSON documents in a binary form [unsupported], and the conversion from a text. Argument: its
     * placeholder. */
    const char *binary_json;
    const char *binary_json_of;
    /* The number, and the text, in a field of either form. Arguments: column and field. The value
     * is NULL if the field does not exist. */
    const char *json_number;
    const char *json_text;
    /* Year and month, as 202401, of a time. Argument: milliseconds since 1970-01-01 UTC
     * [unsupported]. */
    const char *month;
    /* Name of a table or a column in a statement. Argument: the name [{1}]. */
    const char *name;
    /* A type without NULL. Argument: the type [{1} NOT NULL]. */
    const char *not_null;
    /* Beginning of a statement that creates a table [CREATE TABLE]. */
    const char *create_table;
    /* Text after the columns of a table in that statement: NULL, or a text that lives as long as
     * the library [nothing]. */
    const char *(*table_options)(const struct embermark_table *table);
    /* Statement that drops a table if it exists. Argument: its name [DROP TABLE IF EXISTS {1}]. */
    const char *drop_table;
    /* Query for the names of a table's indexes, one per row. Argument: the table's name in
     * embermark [unknown]. */
    const char *index_names;
    /* Integer division of non-negative integers, rounded down, and its remainder, with the sign of
     * the dividend. Arguments: both numbers [{1} / {2}, {1} % {2}]. */
    const char *integer_division;
    const char *remainder;
    /* Mean of a column of integers, with its fraction. Argument: the column [AVG({1})]. */
    const char *mean;
    /* End of a query that limits its rows. Argument: the number of rows [LIMIT {1}]. */
    const char *limit;
    /* Query for the value of an expression. Argument: the expression [SELECT {1}]. */
    const char *value;
    /* Sample standard deviation. Argument: the column [unsupported]. */
    const char *sample_deviation;
    /* Pearson's correlation, which is NULL if a column does not vary. Arguments: both columns
     * [unsupported]. */
    const char *correlation;
};

/* A prepared statement. The library defines it. */
struct embermark_statement;

/* Rows of a result. They and their texts and bytes are valid until the next call with their
 * statement. */
struct embermark_rows {
    /* Values in the order of the columns, row after row. */
    const struct embermark_value *values;
    /* Number of columns. */
    size_t columns;
    /* Number of rows. */
    size_t rows;
};

/* Supplies the next row to load, valid until the next call, with one value per column in their
 * order. Returns NULL at the end. */
typedef const struct embermark_value *(*embermark_next_row)(void *context);

/* Requirements of an SQL engine. Add the numbers. */
enum embermark_wants {
    /* Rows to load are in the order of their primary key. */
    EMBERMARK_BULK_SORTED = 1
};

/* Functions of an SQL engine. A statement outside `begin` and `commit` is its own transaction. When
 * it returns, it is committed with the tier's durability, whatever the flags of the engine are. A
 * function that fails may end the transaction or not. embermark undoes it in either case. */
struct embermark_sql {
    /* Size of this struct in bytes. */
    uint32_t size;
    /* Of `enum embermark_wants`. */
    uint32_t wants;
    /* Its SQL where the standard leaves a choice. */
    const struct embermark_dialect *dialect;

    /* Begins a transaction, of `enum embermark_scope`. A client has at most one at a time. */
    int32_t (*begin)(struct embermark_client *client, uint32_t scope);
    /* Commits all of the transaction, with the tier's durability. */
    int32_t (*commit)(struct embermark_client *client);
    /* Undoes the transaction. If an error has already ended it, there is nothing to undo, which is
     * not a failure. */
    int32_t (*undo)(struct embermark_client *client);

    /* Runs statements that are separated by ';' and have no parameters and no results. */
    int32_t (*script)(struct embermark_client *client, const char *sql);
    /* Prepares one statement, which lives until `finish`. Any other number of statements is a
     * failure. */
    int32_t (*prepare)(struct embermark_client *client, const char *sql, struct embermark_statement **statement);
    /* Ends a prepared statement. All of them are ended before their client is closed. */
    int32_t (*finish)(struct embermark_client *client, struct embermark_statement *statement);
    /* Runs a statement without result rows to its end, and reports the number of changed rows.
     * `count` must be its number of parameters, otherwise it fails. EMBERMARK_CONFLICT means that
     * nothing was done. */
    int32_t (*execute)(struct embermark_client *client, struct embermark_statement *statement,
                       const struct embermark_value *parameters, size_t count, uint64_t *changed);
    /* Begins to run a statement with result rows. Its parameters stay in memory until `end_query`,
     * which is called whatever this returns. */
    int32_t (*query)(struct embermark_client *client, struct embermark_statement *statement,
                     const struct embermark_value *parameters, size_t count);
    /* Returns the next rows: as many as are ready, or none at the end. It may return
     * EMBERMARK_CONFLICT before the first rows, and the query is then begun again. */
    int32_t (*fetch)(struct embermark_client *client, struct embermark_statement *statement,
                     struct embermark_rows *rows);
    /* Ends a query, however far it went and however it ended. It then holds no lock and no row. */
    int32_t (*end_query)(struct embermark_client *client, struct embermark_statement *statement);

    /* The following function is optional. */

    /* Loads the rows of `next` in an open transaction, with the fastest way in the engine's manual.
     * The table has no rows with these keys. Without this function embermark runs a prepared INSERT
     * for each row. */
    int32_t (*bulk)(struct embermark_client *client, const struct embermark_table *table, embermark_next_row next,
                    void *context);
};

/* An engine. */
struct embermark_engine {
    /* Size of this struct in bytes. */
    uint32_t size;
    /* EMBERMARK_ABI of the header with which the library was compiled. */
    uint32_t abi;

    /* Name on the command line and in results: lower-case letters, digits, '-' and '_'. It must not
     * be a name that embermark has. */
    const char *id;
    /* Full name. */
    const char *name;
    /* Version, as reported by the engine. All figures of one column are of one version. */
    const char *version;
    /* Its licence. */
    const char *licence;
    /* Of `enum embermark_family`. */
    uint32_t family;
    /* Of `enum embermark_flags`. */
    uint32_t flags;
    /* Three tiers, in the order of `enum embermark_durability`. */
    const struct embermark_tier *tiers;
    /* Settings that users may change. Optional. */
    const struct embermark_setting *settings;
    /* Functions of a key-value engine. Otherwise NULL. */
    const struct embermark_key_value *key_value;

    /* Opens the database in a folder, and returns its first client. Creates the database if it does
     * not exist, and recovers it if a process died with it open. */
    int32_t (*open)(const struct embermark_options *options, struct embermark_client **client);
    /* Closes a client, even if that fails. The client of `open` is closed after all others. It
     * closes the database, and leaves no thread and no open file. */
    int32_t (*close)(struct embermark_client *client);

    /* The following members are optional. */

    /* Returns the reason why the last call with this client failed. Without a client, returns the
     * reason for the last `open` or `close` of this thread. It is valid until the next call with
     * this client, or of these two functions. */
    const char *(*error)(struct embermark_client *client);
    /* Returns another client of the database that `first` has opened, with the same tier and
     * settings, for another thread. It is called by the thread of `first`, before the other thread
     * gets the client, and outside of scopes. Without this function the engine has one client at a
     * time. */
    int32_t (*open_client)(struct embermark_client *first, struct embermark_client **client);
    /* Reports the settings that matter, including those that a tier or a configuration sets, with
     * the values that the engine returns. If it does not return a value, the one that was set is
     * reported, followed by " (as set)". */
    int32_t (*settings_of)(struct embermark_client *client, embermark_take_setting take, void *context);
    /* Does what the manual advises after many changes, like a checkpoint or a compaction. No other
     * client is open. */
    int32_t (*maintain)(struct embermark_client *client);
    /* Returns the size of the log's files in bytes. Without this function the engine has no log. */
    int32_t (*log_bytes)(struct embermark_client *client, uint64_t *bytes);
    /* Makes `close` leave the database as if the process died: without a checkpoint, and without
     * flushing anything that no commit flushed. Without this function recovery is not measured. */
    int32_t (*crash_on_close)(struct embermark_client *client);
    /* Stops automatic checkpoints until the database is closed, so that the log has every change
     * from now on. These will be about `bytes` bytes of keys and values. Without this function
     * checkpoints cannot be stopped. */
    int32_t (*suspend_checkpoints)(struct embermark_client *client, uint64_t bytes);
    /* Makes the engine check its stored data. Problems that it finds are reported, and are not a
     * failure. No other client is open. Without this function the engine has no check. */
    int32_t (*check)(struct embermark_client *client, embermark_take_finding take, void *context);
    /* Name of the check in the engine's manual, if there is one. */
    const char *check_name;
    /* Reason why no second process can use the database at the same time, according to the manual.
     * (With this version of the interface, none ever does.) */
    const char *exclusive;
    /* Functions of an SQL engine. Otherwise NULL. */
    const struct embermark_sql *sql;
};

/* Attribute of the one function that a library exports. */
#if defined(__GNUC__)
#define EMBERMARK_EXPORT __attribute__((visibility("default")))
#else
#define EMBERMARK_EXPORT
#endif

/* Returns the engine of the library, which lives as long as the library, or NULL if it does not
 * know this version of the interface. It is called once per process, before anything else. It opens
 * nothing and starts nothing. */
EMBERMARK_EXPORT const struct embermark_engine *embermark_engine(uint32_t abi);

#ifdef __cplusplus
}
#endif

#endif
