"""DuckDB by its package duckdb.

https://duckdb.org/docs/stable/clients/python/dbapi: `execute` with parameters, `executemany` for many rows of one
statement, `fetchall`; for loads a query over an Arrow table, as the page warns of `executemany` for large ones
(https://duckdb.org/docs/stable/clients/python/data_ingestion).
"""

import json

import duckdb


def version():
    return f"duckdb {duckdb.__version__}"


def open(connection):
    return Database(connection)


class Database:
    def __init__(self, connection):
        settings = json.loads(connection["settings"])
        if connection["attach"]:
            self.own = duckdb.connect(":memory:", config=settings)
            file = connection["file"].replace("'", "''")
            self.own.execute(f"ATTACH '{file}' AS embermark ({connection['attach']}); USE embermark")
        else:
            self.own = duckdb.connect(connection["file"], config=settings)
        for name, value in json.loads(connection["set"]).items():
            self.own.execute(f"SET {name} = '{value}'")
        self.connection = connection

    def settings(self, names):
        found = self.own.execute("SELECT name, value FROM duckdb_settings()").fetchall()
        return {name: value for name, value in found if name in names}

    def expect(self, kind):
        if self.connection[kind]:
            self.own.execute(self.connection[kind])

    def begin(self, writes):
        self.own.begin()

    def commit(self):
        self.own.commit()

    def run(self, text):
        execute = self.own.execute

        def run(params):
            counted = execute(text, params).fetchone()
            return counted[0] if counted else -1

        return run

    def query(self, text):
        execute = self.own.execute
        return lambda params: execute(text, params).fetchall()

    def many(self, text):
        executemany = self.own.executemany

        def many(rows):
            executemany(text, rows)
            return -1

        return many

    def bulk(self, table, columns):
        try:
            import pyarrow
        except ImportError as error:
            raise Unsupported("a load by Arrow, as pyarrow is not installed") from error
        names = ", ".join(f'"{name}"' for name in columns)

        def load(rows):
            own_rows = pyarrow.table({name: pyarrow.array(values) for name, values in zip(columns, zip(*rows))})
            self.own.register("own_rows", own_rows)
            loaded = self.own.execute(f'INSERT INTO "{table}" ({names}) SELECT {names} FROM own_rows').fetchone()
            self.own.unregister("own_rows")
            return loaded[0]

        return load

    def close(self):
        self.own.close()
