"""Berkeley DB by the package berkeleydb, as embermark measures it with the durability {{tier}}."""

import os
import struct
import time

from berkeleydb import db

DIR = "{{dir}}"
# These flags keep the durability. Without DB_INIT_TXN there is no log.
FLAGS = "{{flags}}".split()
TRANSACTIONS = "DB_INIT_TXN" in FLAGS

# Open, or create. Recovery runs first where there is a log.
os.makedirs(DIR, exist_ok=True)
env = db.DBEnv()
env.set_cachesize(*divmod(int("{{cache_bytes}}"), 1 << 30), 1)
opened = db.DB_CREATE | db.DB_PRIVATE | db.DB_INIT_MPOOL
if TRANSACTIONS:
    opened |= db.DB_INIT_LOG | db.DB_INIT_TXN | db.DB_RECOVER
    env.set_lg_bsize(int("{{log_buffer}}"))
    env.log_set_config(db.DB_LOG_AUTO_REMOVE, "DB_LOG_AUTO_REMOVE" in FLAGS)
    env.set_flags(db.DB_TXN_WRITE_NOSYNC, "DB_TXN_WRITE_NOSYNC" in FLAGS)
env.open(DIR, opened)
readings = db.DB(env)
readings.set_pagesize(int("{{page_size}}"))
readings.open("readings.db", dbtype=db.DB_BTREE, flags=db.DB_CREATE | (db.DB_AUTO_COMMIT if TRANSACTIONS else 0))
# Big-endian keys sort by sensor, then ts.
KEY, VALUE = struct.Struct(">QQ"), struct.Struct("<d")
now = time.time_ns() // 1_000_000

# One pair with its own commit.
readings.put(KEY.pack(1, now), VALUE.pack(20.5))

# Several pairs in one transaction.
transaction = env.txn_begin() if TRANSACTIONS else None
for sensor in range(2, 6):
    readings.put(KEY.pack(sensor, now), VALUE.pack(20.0 + sensor), txn=transaction)
if transaction is not None:
    transaction.commit()

# Read a pair back. A checkpoint lets the library remove old logs.
print(3, now, *VALUE.unpack(readings.get(KEY.pack(3, now))))
if TRANSACTIONS:
    env.txn_checkpoint()
readings.close()
env.close()
