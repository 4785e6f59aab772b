/* A bare loop over a database library: the phases load and read of the calibration's workload file,
 * with the library's C functions and without embermark's code. */
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
struct lookup_key {
	int64_t ts;
	uint16_t sensor;
	unsigned char key[KEY_BYTES];
};

/* Result of reads: the number of rows found, and a sum over all of their bytes. */
struct row_sum {
	uint64_t rows, sum;
};

/* The functions of one library. Each returns 0, or prints what went wrong. */
struct loops {
	/* Opens a new database in an empty folder, with the settings of the adapter's tier `process`
	 * and a cache of this many bytes. */
	int (*open)(void **db, const char *directory, uint64_t memory);
	/* Empties the table in the same way as the adapter. */
	int (*clear)(void *db);
	/* Inserts every row one by one, in one transaction. */
	int (*load)(void *db, const struct row *rows, size_t count);
	/* Runs a checkpoint or a compaction. */
	int (*settle)(void *db);
	/* Reads every key one by one, in one read transaction. */
	int (*read)(void *db, const struct lookup_key *keys, size_t count, struct row_sum *found);
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

/* An operation: reads a whole record, or sets one field if `text` is not null. */
struct operation {
	const char *key, *text;
	size_t key_bytes, field;
};

/* The operations of YCSB on an open database. */
struct ycsb {
	/* Empties the table and inserts the records. */
	int (*load)(void *db, const struct record *records, size_t count);
	/* Runs operations one by one: all in one read transaction, or each in its own transaction. */
	int (*run)(void *db, const struct operation *operations, size_t count, int in_one, struct row_sum *found);
};

/* Adds the bytes of a field to the sum. */
static inline void add_field(struct row_sum *found, const void *field)
{
	uint64_t words[FIELD_BYTES / 8];
	uint32_t rest;
	memcpy(words, field, sizeof words);
	memcpy(&rest, (const char *)field + sizeof words, sizeof rest);
	for (size_t i = 0; i < FIELD_BYTES / 8; i++)
		found->sum += words[i];
	found->sum += rest;
}

/* Adds the bytes of a record to the sum. */
static inline void add_record(struct row_sum *found, const char *fields)
{
	found->rows++;
	for (int field = 0; field < FIELDS; field++)
		add_field(found, fields + field * FIELD_BYTES);
}

/* Adds all bytes of a stored value to the sum. Without this the read could skip the value. */
static inline void add_value(struct row_sum *found, const void *value)
{
	const unsigned char *bytes = value;
	uint64_t words[4];
	memcpy(words, bytes + 1, sizeof words);
	found->rows++;
	found->sum += bytes[0] + words[0] + words[1] + words[2] + words[3];
}

#endif
