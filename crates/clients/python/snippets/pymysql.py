"""MariaDB by the package PyMySQL, as embermark measures it with the durability {{tier}}."""

import time
from urllib.parse import unquote, urlsplit

import pymysql

# The server's socket, or its URL.
SOCKET = "{{socket}}"
URL = urlsplit("{{url}}")
# Settings of the connection. The server's configuration keeps the durability.
SETTINGS = "{{settings}}"

# Open.
if SOCKET:
    server = {"unix_socket": SOCKET, "user": "root"}
else:
    server = {"host": URL.hostname, "port": URL.port or 3306}
    server |= {"user": unquote(URL.username or ""), "password": unquote(URL.password or "")}
db = pymysql.connect(**server, database="{{database}}", charset="utf8mb4", autocommit=True)
cursor = db.cursor()
cursor.execute(SETTINGS)

cursor.execute("""CREATE TABLE IF NOT EXISTS readings
    (sensor BIGINT, ts BIGINT, value DOUBLE, PRIMARY KEY (sensor, ts)) ENGINE = InnoDB""")
INSERT = "INSERT INTO readings (sensor, ts, value) VALUES (%s, %s, %s)"
now = time.time_ns() // 1_000_000

# One row with its own commit. The package has no prepared statements.
cursor.execute(INSERT, (1, now, 20.5))

# Several rows in one transaction, as one INSERT. db.rollback() when it fails.
cursor.execute("BEGIN")
cursor.executemany(INSERT, [(sensor, now, 20.0 + sensor) for sensor in range(2, 6)])
db.commit()

# Read a row back.
cursor.execute("SELECT * FROM readings WHERE sensor = %s AND ts = %s", (3, now))
print(cursor.fetchall())
db.close()
