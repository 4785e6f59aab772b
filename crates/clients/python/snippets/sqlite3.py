"""SQLite by Python's own module sqlite3, as embermark measures it with the durability {{tier}}."""

import sqlite3
import time

FILE = "{{file}}"
# These settings keep the durability.
PRAGMAS = "{{pragmas}}"

# Open. With isolation_level=None the module begins no transaction by itself.
db = sqlite3.connect(FILE, isolation_level=None)
for pragma in PRAGMAS.split("; "):
    db.execute(f"PRAGMA {pragma}")

db.execute("""CREATE TABLE IF NOT EXISTS readings
    (sensor INTEGER, ts INTEGER, value REAL, PRIMARY KEY (sensor, ts))""")

# The connection keeps statements prepared by their text: use the same text again.
INSERT = "INSERT INTO readings (sensor, ts, value) VALUES (?, ?, ?)"
SELECT = "SELECT sensor, ts, value FROM readings WHERE sensor = ? AND ts = ?"
now = time.time_ns() // 1_000_000

# One row with its own commit.
db.execute(INSERT, (1, now, 20.5))

# Several rows in one transaction. ROLLBACK when one of them fails.
db.execute("BEGIN IMMEDIATE")
db.executemany(INSERT, [(sensor, now, 20.0 + sensor) for sensor in range(2, 6)])
db.execute("COMMIT")

# Read a row back.
print(db.execute(SELECT, (3, now)).fetchall())

db.close()
