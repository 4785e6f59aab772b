"""Puts rows into a SQLite database, a commit each, with pragmas from a file: sqlite.py PRAGMAS FOLDER ROWS.

Then puts as many more, and prints how many nanoseconds a commit of those took: a log that is there has its size.
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
for row in range(2 * rows):
    if row == rows:
        began = time.perf_counter_ns()
    connection.execute(insert, (row % 54, row * 5_000_000, 19.5 + row % 7, 38.25, row * 0.5, 2.75))
print((time.perf_counter_ns() - began) // rows)
