"""DuckDB by the package duckdb, as embermark measures it with the durability {{tier}}."""

import json
import time

import duckdb

FILE = "{{file}}"
# These settings keep the durability. ATTACH is empty where the file is opened directly.
SETTINGS = json.loads("{{settings}}")
SET = json.loads("{{set}}")
ATTACH = "{{attach}}"

# Open the file, or attach it to a database in memory.
db = duckdb.connect(":memory:" if ATTACH else FILE, config=SETTINGS)
if ATTACH:
    file = FILE.replace("'", "''")
    db.execute(f"ATTACH '{file}' AS embermark ({ATTACH}); USE embermark")
for name, setting in SET.items():
    db.execute(f"SET {name} = '{setting}'")
# Short statements are fastest on one thread. Before long questions: RESET threads.
db.execute("SET threads = 1")

db.execute("""CREATE TABLE IF NOT EXISTS readings
    (sensor BIGINT, ts BIGINT, value DOUBLE, PRIMARY KEY (sensor, ts))""")
INSERT = "INSERT INTO readings (sensor, ts, value) VALUES (?, ?, ?)"
now = time.time_ns() // 1_000_000

# One row with its own commit.
db.execute(INSERT, (1, now, 20.5))

# Several rows in one transaction; db.rollback() when one of them fails. Load many thousands from
# an Arrow table instead.
db.begin()
db.executemany(INSERT, [(sensor, now, 20.0 + sensor) for sensor in range(2, 6)])
db.commit()

# Read a row back.
print(db.execute("SELECT * FROM readings WHERE sensor = ? AND ts = ?", (3, now)).fetchall())
db.close()
