"""Valkey by the package valkey, as embermark measures it with the durability {{tier}}."""

import struct
import time

import valkey

SOCKET, URL = "{{socket}}", "{{url}}"

# The durability is the server's: appendonly and appendfsync in its configuration.
own = valkey.Valkey(unix_socket_path=SOCKET) if SOCKET else valkey.Valkey.from_url(URL)
print("appendonly, appendfsync:", own.config_get("appendonly", "appendfsync"))
# Big-endian keys sort by sensor, then ts. The set has the keys in order, for ranges.
KEY, VALUE = struct.Struct(">QQ"), struct.Struct("<d")
ROWS, KEYS = b"readings:", b"readings"
now = time.time_ns() // 1_000_000


def put(pipeline, sensor, value):
    key = KEY.pack(sensor, now)
    pipeline.set(ROWS + key, VALUE.pack(value))
    pipeline.zadd(KEYS, {key: 0})


# One row with its own commit: a value and its place in the set, in a transaction.
with own.pipeline(transaction=True) as pipeline:
    put(pipeline, 1, 20.5)
    pipeline.execute()

# Several rows in one transaction.
with own.pipeline(transaction=True) as pipeline:
    for sensor in range(2, 6):
        put(pipeline, sensor, 20.0 + sensor)
    pipeline.execute()

# Read a row back.
print(3, now, *VALUE.unpack(own.get(ROWS + KEY.pack(3, now))))
own.close()
