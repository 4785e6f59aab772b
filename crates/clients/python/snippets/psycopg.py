"""PostgreSQL by the package psycopg, as embermark measures it with the durability {{tier}}."""

import time

import psycopg

CONNINFO = "{{conninfo}}"
# These statements keep the durability, together with the server's configuration.
SETTINGS = "{{settings}}"

# Open. With autocommit the package begins no transaction by itself.
db = psycopg.connect(CONNINFO, autocommit=True)
cursor = psycopg.RawCursor(db)  # parameters are the server's own $1, $2
if SETTINGS:
    db.execute(SETTINGS)

db.execute("""CREATE TABLE IF NOT EXISTS readings
    (sensor bigint, ts bigint, value double precision, PRIMARY KEY (sensor, ts))""")
INSERT = "INSERT INTO readings (sensor, ts, value) VALUES ($1, $2, $3)"
SELECT = "SELECT sensor, ts, value FROM readings WHERE sensor = $1 AND ts = $2"
now = time.time_ns() // 1_000_000

# One row with its own commit. The statement is prepared at its first use.
cursor.execute(INSERT, (1, now, 20.5), prepare=True)

# Several rows in one transaction. ROLLBACK when one of them fails.
db.execute("BEGIN")
cursor.executemany(INSERT, [(sensor, now, 20.0 + sensor) for sensor in range(2, 6)])
db.execute("COMMIT")

# Read a row back.
print(cursor.execute(SELECT, (3, now), prepare=True).fetchall())
db.close()
