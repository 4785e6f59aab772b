"""Puts rows into a SQLite database, a commit each, with pragmas from a file: sqlite.py PRAGMAS FOLDER ROWS.

Prints how many nanoseconds a commit took.
"""

import sqlite3
import sys
import time

pragmas, folder, rows = sys.argv[1], sys.argv[2], int(sys.argv[3])
connection = sqlite3.connect(f"{folder}/readings.db", isolation_level=None)
with open(pragmas) as text:
    connection.executescript(text.read())
connection.execute(
    "CREATE TABLE readings (sensor INTEGER, ts INTEGER, temperature REAL, humidity REAL, light REAL, voltage REAL,"
    " PRIMARY KEY (sensor, ts)) WITHOUT ROWID"
)
insert = "INSERT INTO readings VALUES (?, ?, ?, ?, ?, ?)"
began = time.perf_counter_ns()
for row in range(rows):
    connection.execute(insert, (row % 54, row * 5_000_000, 19.5 + row % 7, 38.25, row * 0.5, 2.75))
print((time.perf_counter_ns() - began) // rows)
