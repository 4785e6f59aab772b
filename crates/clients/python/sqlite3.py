"""SQLite by the module sqlite3 of Python's standard library, with the SQLite that it was built with.

https://docs.python.org/3/library/sqlite3.html: shortcut methods of the connection, which keeps prepared statements by their
text; autocommit mode with transactions begun and ended by statements; executemany for many rows in one.
"""

import sqlite3


def version():
    return f"sqlite3, SQLite {sqlite3.sqlite_version}"


def open(connection):
    return Database(connection)


class Database:
    def __init__(self, connection):
        self.own = sqlite3.connect(connection["file"], isolation_level=None)
        for pragma in connection["pragmas"].split("; "):
            self.own.execute(f"PRAGMA {pragma}")

    def settings(self, names):
        return {name: self.own.execute(f"PRAGMA {name}").fetchone()[0] for name in names}

    def begin(self, writes):
        self.own.execute("BEGIN IMMEDIATE" if writes else "BEGIN")

    def commit(self):
        self.own.execute("COMMIT")

    def run(self, text):
        execute = self.own.execute
        return lambda params: execute(text, params).rowcount

    def query(self, text):
        execute = self.own.execute
        return lambda params: execute(text, params).fetchall()

    def many(self, text):
        executemany = self.own.executemany
        return lambda rows: executemany(text, rows).rowcount

    def bulk(self, table, columns):
        names, places = ", ".join(f'"{name}"' for name in columns), ", ".join("?" for _ in columns)
        insert = self.many(f'INSERT INTO "{table}" ({names}) VALUES ({places})')

        def load(rows):
            self.begin(True)
            loaded = insert(rows)
            self.commit()
            return loaded

        return load

    def close(self):
        self.own.close()
