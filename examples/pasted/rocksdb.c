/* Puts rows into a RocksDB database with one synced write per row: rocksdb OPTIONS FOLDER ROWS.
 * OPTIONS is a file for rocksdb_get_options_from_string. Then puts as many rows again, and prints
 * the mean time of these writes in nanoseconds. The functions of rocksdb/c.h are declared here, so
 * that only the library is needed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct rocksdb_t rocksdb_t;
typedef struct rocksdb_options_t rocksdb_options_t;
typedef struct rocksdb_writeoptions_t rocksdb_writeoptions_t;
rocksdb_options_t *rocksdb_options_create(void);
void rocksdb_options_set_create_if_missing(rocksdb_options_t *, unsigned char);
void rocksdb_get_options_from_string(const rocksdb_options_t *, const char *, rocksdb_options_t *, char **);
rocksdb_t *rocksdb_open(const rocksdb_options_t *, const char *, char **);
rocksdb_writeoptions_t *rocksdb_writeoptions_create(void);
void rocksdb_writeoptions_set_sync(rocksdb_writeoptions_t *, unsigned char);
void rocksdb_put(rocksdb_t *, const rocksdb_writeoptions_t *, const char *, size_t, const char *, size_t, char **);
void rocksdb_close(rocksdb_t *);

static void check(const char *error) {
    if (error) {
        fprintf(stderr, "rocksdb: %s\n", error);
        exit(1);
    }
}

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(int count, char **words) {
    if (count != 4) return 2;
    char text[4096], *error = NULL;
    size_t read = 0;
    FILE *file = fopen(words[1], "r");
    if (!file) return 2;
    /* Lines that begin with # are comments. */
    while (fgets(text + read, (int)(sizeof text - read), file))
        if (text[read] != '#') read += strcspn(text + read, "\n");
    text[read] = 0;
    fclose(file);
    uint64_t rows = strtoull(words[3], NULL, 10);
    rocksdb_options_t *base = rocksdb_options_create(), *options = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(base, 1);
    rocksdb_get_options_from_string(base, text, options, &error);
    check(error);
    rocksdb_t *db = rocksdb_open(options, words[2], &error);
    check(error);
    rocksdb_writeoptions_t *synced = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(synced, 1);
    uint64_t began = 0;
    for (uint64_t row = 0; row < 2 * rows; row++) {
        if (row == rows) began = now();
        unsigned char key[10] = {0, (unsigned char)(row % 54)};
        for (int byte = 0; byte < 8; byte++) key[2 + byte] = (unsigned char)(row * 5000000 >> (56 - 8 * byte));
        double value[4] = {19.5 + (double)(row % 7), 38.25, (double)row * 0.5, 2.75};
        rocksdb_put(db, synced, (const char *)key, sizeof key, (const char *)value, sizeof value, &error);
        check(error);
    }
    printf("%llu\n", (unsigned long long)((now() - began) / rows));
    rocksdb_close(db);
    return 0;
}
