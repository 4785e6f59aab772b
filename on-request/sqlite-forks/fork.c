/*
 * Forks of SQLite as engines of embermark_engine.h: the SQLite example with the differences,
 * compiled with the sources of a fork (scripts/deps.sh).
 *
 *     make sqlcipher libsql
 *     embermark verify sqlcipher --engine-library .deps/sqlcipher/libembermark_sqlcipher.so
 *     embermark verify libsql --engine-library .deps/libsql/libembermark_libsql.so
 */
#if defined(FORK_SQLCIPHER)
/*
 * SQLite with encrypted pages. The key is a raw key of 32 bytes, like one from a device's secret
 * store. A passphrase would be hashed 256,000 times at each opening
 * (https://www.zetetic.net/sqlcipher/sqlcipher-api/#key).
 */
#define ENGINE_ID "sqlcipher"
#define ENGINE_NAME "SQLCipher"
#define ENGINE_LICENCE "BSD-3-Clause"
#define FIRST "PRAGMA key = \"x'000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f'\""
#define FURTHER_SETTINGS , "cipher_version", "cipher_provider", "cipher_page_size", "cipher_use_hmac"
#elif defined(FORK_LIBSQL)
#define ENGINE_ID "libsql"
#define ENGINE_NAME "libSQL"
#define ENGINE_LICENCE "MIT"
#define ENGINE_VERSION LIBSQL_VERSION ", SQLite " SQLITE_VERSION
#define FIRST ""
#define FURTHER_SETTINGS
#else
#error "define FORK_SQLCIPHER or FORK_LIBSQL"
#endif
#include "../../examples/engine-sql-c/sqlite.c"
