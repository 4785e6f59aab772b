/* Puts rows into an LMDB database with one commit per row: lmdb FOLDER ROWS. Then puts as many rows
 * again, and prints the mean time of these commits in nanoseconds. The flags are lines of C in the
 * file that SETTINGS names. */
#include <lmdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void check(int failed) {
    if (failed) {
        fprintf(stderr, "lmdb: %s\n", mdb_strerror(failed));
        exit(1);
    }
}

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(int count, char **words) {
    if (count != 3) return 2;
    uint64_t rows = strtoull(words[2], NULL, 10);
    unsigned flags = 0;
    MDB_env *env;
    MDB_dbi dbi;
    MDB_txn *txn;
    check(mdb_env_create(&env));
    check(mdb_env_set_mapsize(env, (size_t)1 << 30));
#include SETTINGS
    check(mdb_env_open(env, words[1], flags, 0644));
    check(mdb_txn_begin(env, NULL, 0, &txn));
    check(mdb_dbi_open(txn, NULL, MDB_CREATE, &dbi));
    check(mdb_txn_commit(txn));
    uint64_t began = 0;
    for (uint64_t row = 0; row < 2 * rows; row++) {
        if (row == rows) began = now();
        unsigned char key[10] = {0, (unsigned char)(row % 54)};
        for (int byte = 0; byte < 8; byte++) key[2 + byte] = (unsigned char)(row * 5000000 >> (56 - 8 * byte));
        double value[4] = {19.5 + (double)(row % 7), 38.25, (double)row * 0.5, 2.75};
        MDB_val k = {sizeof key, key}, v = {sizeof value, value};
        check(mdb_txn_begin(env, NULL, 0, &txn));
        check(mdb_put(txn, dbi, &k, &v, 0));
        check(mdb_txn_commit(txn));
    }
    printf("%llu\n", (unsigned long long)((now() - began) / rows));
    mdb_env_close(env);
    return 0;
}
