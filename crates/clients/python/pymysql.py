"""MariaDB by the package PyMySQL, which is written in Python.

https://pymysql.readthedocs.io/en/latest/user/examples.html: a cursor whose parameters the package writes into the text;
`executemany` makes one INSERT of many rows. It has no prepared statements.
"""

from urllib.parse import unquote, urlsplit

import pymysql


def version():
    return f"PyMySQL {pymysql.__version__}"


def open(connection):
    return Database(connection)


class Database:
    def __init__(self, connection):
        if "socket" in connection:
            server = {"unix_socket": connection["socket"], "user": "root"}
        else:
            url = urlsplit(connection["url"])
            server = {"host": url.hostname, "port": url.port or 3306, "user": unquote(url.username or "")}
            server["password"] = unquote(url.password or "")
        self.own = pymysql.connect(**server, database=connection["database"], charset="utf8mb4", autocommit=True)
        self.cursor = self.own.cursor()
        self.cursor.execute(connection["settings"])

    def settings(self, names):
        self.cursor.execute("SHOW VARIABLES")
        return {name: value for name, value in self.cursor.fetchall() if name in names}

    def begin(self, writes):
        self.cursor.execute("BEGIN" if writes else "START TRANSACTION WITH CONSISTENT SNAPSHOT")

    def commit(self):
        self.own.commit()

    def run(self, text):
        execute, text = self.cursor.execute, formatted(text)
        return lambda params: execute(text, params)

    def query(self, text):
        cursor, text = self.cursor, formatted(text)

        def query(params):
            cursor.execute(text, params)
            return cursor.fetchall()

        return query

    def many(self, text):
        executemany, text = self.cursor.executemany, formatted(text)
        return lambda rows: executemany(text, rows)

    def bulk(self, table, columns):
        names, places = ", ".join(f"`{name}`" for name in columns), ", ".join("?" for _ in columns)
        insert = self.many(f"INSERT INTO `{table}` ({names}) VALUES ({places})")

        def load(rows):
            self.begin(True)
            loaded = insert(rows)
            self.commit()
            return loaded

        return load

    def close(self):
        self.own.close()


def formatted(text):
    """Returns the text with the package's own placeholders for parameters."""
    return text.replace("%", "%%").replace("?", "%s")
