"""MongoDB by the package pymongo, as embermark measures it with the durability {{tier}}."""

import json
import time
from urllib.parse import quote

import pymongo
from pymongo.write_concern import WriteConcern

# The server's socket, or its URL.
SOCKET = "{{socket}}"
URL = "{{url}}" or f"mongodb://{quote(SOCKET, safe='')}/?directConnection=true"
# This keeps the durability: each write waits for it. Where it is empty, the server's own is used.
WRITE_CONCERN = "{{writeConcern}}"

# Open. A write is tried once, as measured. Leave retryWrites out where the network may fail.
client = pymongo.MongoClient(URL, retryWrites=False, retryReads=False)
concern = WriteConcern(**json.loads(WRITE_CONCERN)) if WRITE_CONCERN else None
db = client.get_database("{{database}}", write_concern=concern)

# The first insert creates the collection. The key of a reading is its _id.
readings = db["readings"]
now = time.time_ns() // 1_000_000

# One document with its own commit.
readings.insert_one({"_id": {"sensor": 1, "ts": now}, "value": 20.5})

# Several documents in one command. Each of them is committed by itself.
documents = [{"_id": {"sensor": n, "ts": now}, "value": 20.0 + n} for n in range(2, 6)]
readings.insert_many(documents, ordered=False)

# Read a document back.
print(readings.find_one({"_id": {"sensor": 3, "ts": now}}))
client.close()
