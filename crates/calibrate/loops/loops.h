/* What a bare loop over a database library does: the phases load and read of the workload sensors,
 * by the library's own C functions, with nothing of embermark in between. */
#ifndef LOOPS_H
#define LOOPS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define KEY_BYTES 10
#define VALUE_BYTES 33

/* A row, as columns and as the pair that a key-value store keeps of it. */
struct row {
	int64_t ts;
	double values[4];
	uint16_t sensor;
	/* Bit i is set where values[i] is present. */
	uint16_t present;
	unsigned char key[KEY_BYTES];
	unsigned char value[VALUE_BYTES];
};

/* A key to look for, in both forms. */
struct wanted {
	int64_t ts;
	uint16_t sensor;
	unsigned char key[KEY_BYTES];
};

/* What was found: how many rows, and a sum over all of their bytes. */
struct found {
	uint64_t rows, sum;
};

/* The functions of one library. Each returns 0, or prints what went wrong. */
struct loops {
	/* A new database in an empty directory, with the settings of the adapter's tier `process`
	 * and so many bytes of cache. */
	int (*open)(void **db, const char *directory, uint64_t memory);
	/* Makes the table empty, by the means that the adapter uses. */
	int (*clear)(void *db);
	/* Every row one by one, in one transaction. */
	int (*load)(void *db, const struct row *rows, size_t count);
	/* Checkpoint or compaction. */
	int (*settle)(void *db);
	/* Every key one by one, in one reading transaction. */
	int (*read)(void *db, const struct wanted *keys, size_t count, struct found *found);
	int (*close)(void *db);
};

/* Takes a stored value in, to its last byte: a read that looks at nothing is none. */
static inline void take(struct found *found, const void *value)
{
	const unsigned char *bytes = value;
	uint64_t words[4];
	memcpy(words, bytes + 1, sizeof words);
	found->rows++;
	found->sum += bytes[0] + words[0] + words[1] + words[2] + words[3];
}

#endif
