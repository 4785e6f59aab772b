"""LevelDB by the package plyvel, as embermark measures it with the durability {{tier}}."""

import struct
import time

import plyvel

DIR = "{{dir}}"
# This option of each write keeps the durability.
SYNC = "{{sync}}" == "true"
# Sizes of buffers, caches and files. Empty ones are LevelDB's own.
SIZES = {
    "write_buffer_size": "{{write_buffer_size}}",
    "lru_cache_size": "{{lru_cache_size}}",
    "bloom_filter_bits": "{{bloom_filter_bits}}",
    "block_size": "{{block_size}}",
    "block_restart_interval": "{{block_restart_interval}}",
    "max_file_size": "{{max_file_size}}",
    "max_open_files": "{{max_open_files}}",
}

# Open, or create.
sizes = {name: int(size) for name, size in SIZES.items() if size}
db = plyvel.DB(DIR, create_if_missing=True, **sizes)
PREFIX = b"\x01"  # of the keys of this table
readings = db.prefixed_db(PREFIX)
# Big-endian keys sort by sensor, then ts.
KEY, VALUE = struct.Struct(">QQ"), struct.Struct("<d")
now = time.time_ns() // 1_000_000

# One pair with its own commit.
readings.put(KEY.pack(1, now), VALUE.pack(20.5), sync=SYNC)

# Several pairs at once, all or none.
with db.write_batch(transaction=True, sync=SYNC) as batch:
    for sensor in range(2, 6):
        batch.put(PREFIX + KEY.pack(sensor, now), VALUE.pack(20.0 + sensor))

# Read a pair back.
print(3, now, *VALUE.unpack(readings.get(KEY.pack(3, now))))
db.close()
