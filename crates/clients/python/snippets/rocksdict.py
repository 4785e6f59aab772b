"""RocksDB by the package rocksdict, as embermark measures it with the durability {{tier}}."""

import os
import struct
import time

from rocksdict import Options, Rdict, WriteBatch, WriteOptions

DIR = "{{dir}}"
# These options keep the durability: every write needs them.
write_options = WriteOptions()
write_options.sync = "{{sync}}" == "true"
write_options.disable_wal = "{{wal}}" == "false"

# Open with the options that the database was written with, or create it with the defaults.
FAMILY = "table readings"
options, families = Options(raw_mode=True), {"default": Options(raw_mode=True)}
if os.path.exists(os.path.join(DIR, "CURRENT")):
    options, families = Options.load_latest(DIR, ignore_unknown_options=True)
options.create_missing_column_families(True)
families.setdefault(FAMILY, Options(raw_mode=True))  # keys and values are bytes
db = Rdict(DIR, options=options, column_families=families)
readings, handle = db.get_column_family(FAMILY), db.get_column_family_handle(FAMILY)
readings.set_write_options(write_options)
# Big-endian keys sort by sensor, then ts.
KEY, VALUE = struct.Struct(">QQ"), struct.Struct("<d")
now = time.time_ns() // 1_000_000

# One pair with its own commit.
readings.put(KEY.pack(1, now), VALUE.pack(20.5))

# Several pairs at once, all or none.
batch = WriteBatch(raw_mode=True)
for sensor in range(2, 6):
    batch.put(KEY.pack(sensor, now), VALUE.pack(20.0 + sensor), handle)
db.write(batch, write_options)

# Read a pair back.
print(3, now, *VALUE.unpack(readings.get(KEY.pack(3, now))))
readings.close()
db.close()
