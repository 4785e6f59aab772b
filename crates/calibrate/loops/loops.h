/* What a bare loop over a database library does: the phases load and read of the calibration's file,
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

/* A record of YCSB: a key, and ten fields of a hundred bytes, one after the other. */
#define FIELDS 10
#define FIELD_BYTES 100
#define RECORD_BYTES (FIELDS * FIELD_BYTES)

struct record {
	const char *key, *fields;
	size_t key_bytes;
};

/* Reads a whole record, or where there is a text sets one field to it. */
struct operation {
	const char *key, *text;
	size_t key_bytes, field;
};

/* What YCSB does, on a database that is open. */
struct ycsb {
	/* Empties the table and puts the records in. */
	int (*load)(void *db, const struct record *records, size_t count);
	/* Operations one by one: all in one reading transaction, or each in one of its own. */
	int (*run)(void *db, const struct operation *operations, size_t count, int in_one, struct found *found);
};

/* Takes a field in. */
static inline void take_field(struct found *found, const void *field)
{
	uint64_t words[FIELD_BYTES / 8];
	uint32_t rest;
	memcpy(words, field, sizeof words);
	memcpy(&rest, (const char *)field + sizeof words, sizeof rest);
	for (size_t i = 0; i < FIELD_BYTES / 8; i++)
		found->sum += words[i];
	found->sum += rest;
}

/* Takes a record in. */
static inline void take_record(struct found *found, const char *fields)
{
	found->rows++;
	for (int field = 0; field < FIELDS; field++)
		take_field(found, fields + field * FIELD_BYTES);
}

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
