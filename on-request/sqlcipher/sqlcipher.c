/*
 * SQLCipher, which is SQLite with encrypted pages, as an engine of embermark_engine.h: the example of SQLite, with a key.
 *
 *     make sqlcipher
 *     embermark verify sqlcipher --engine-library .deps/sqlcipher/libembermark_sqlcipher.so
 *
 * The key is given as it is, 32 bytes, as a device has it from where it keeps its secrets: a passphrase would be hashed
 * 256,000 times at each opening (https://www.zetetic.net/sqlcipher/sqlcipher-api/#key).
 */
#define ENGINE_ID "sqlcipher"
#define ENGINE_NAME "SQLCipher"
#define ENGINE_LICENCE "BSD-3-Clause"
#define FIRST "PRAGMA key = \"x'000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f'\""
#define FURTHER_SETTINGS , "cipher_version", "cipher_provider", "cipher_page_size", "cipher_use_hmac"
#include "../../examples/engine-sql-c/sqlite.c"
