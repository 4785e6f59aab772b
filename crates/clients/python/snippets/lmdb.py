"""LMDB by the package lmdb, as embermark measures it with the durability {{tier}}."""

import struct
import time

import lmdb

DIR = "{{dir}}"
# These flags keep the durability. With none, each commit is synced.
FLAGS = "{{flags}}".split()

# Open, or create. The file can grow up to map_size.
env = lmdb.open(
    DIR,
    map_size=int("{{map_bytes}}"),
    max_dbs=40,
    sync="MDB_NOSYNC" not in FLAGS, metasync="MDB_NOMETASYNC" not in FLAGS,
    writemap="MDB_WRITEMAP" in FLAGS, map_async="MDB_MAPASYNC" in FLAGS,
    readahead="MDB_NORDAHEAD" not in FLAGS, meminit="MDB_NOMEMINIT" not in FLAGS,
)
readings = env.open_db(b"readings", create=True)
# Big-endian keys sort by sensor, then ts.
KEY, VALUE = struct.Struct(">QQ"), struct.Struct("<d")
now = time.time_ns() // 1_000_000

# One pair with its own commit.
with env.begin(write=True) as transaction:
    transaction.put(KEY.pack(1, now), VALUE.pack(20.5), db=readings)

# Several pairs in one transaction, which an exception aborts.
with env.begin(write=True) as transaction:
    for sensor in range(2, 6):
        transaction.put(KEY.pack(sensor, now), VALUE.pack(20.0 + sensor), db=readings)

# Read a pair back.
with env.begin() as transaction:
    print(3, now, *VALUE.unpack(transaction.get(KEY.pack(3, now), db=readings)))
env.close()
