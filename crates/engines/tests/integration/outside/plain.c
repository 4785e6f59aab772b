/* The example that answers SQL, without anything that is optional: rows to load are inserted one by one. */
#define embermark_engine sqlite_engine
#include "sqlite.c"
#undef embermark_engine

EMBERMARK_EXPORT const struct sqlite_engine *embermark_engine(uint32_t abi) {
    static struct embermark_sql plain;
    if (!sqlite_engine(abi)) return NULL;
    plain = SQL;
    plain.wants = 0;
    plain.bulk = NULL;
    engine.id = "sqlite-plain";
    engine.sql = &plain;
    return &engine;
}
