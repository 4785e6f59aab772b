"""PostgreSQL by the package psycopg.

https://www.psycopg.org/psycopg3/docs/: autocommit, prepared statements
(https://www.psycopg.org/psycopg3/docs/advanced/prepare.html), the server's own `$1` by RawCursor, COPY row by row
(https://www.psycopg.org/psycopg3/docs/basic/copy.html).
"""

import psycopg


def version():
    return f"psycopg {psycopg.__version__} ({psycopg.pq.__impl__})"


def open(connection):
    return Database(connection)


class Database:
    def __init__(self, connection):
        self.own = psycopg.connect(connection["conninfo"], autocommit=True)
        self.cursor = psycopg.RawCursor(self.own)
        if connection["settings"]:
            self.own.execute(connection["settings"])

    def settings(self, names):
        read = "SELECT current_setting(%s, true)"
        return {name: self.own.execute(read, (name,)).fetchone()[0] for name in names}

    def begin(self, writes):
        self.own.execute("BEGIN" if writes else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def commit(self):
        self.own.execute("COMMIT")

    def run(self, text):
        execute = self.cursor.execute
        return lambda params: execute(text, params, prepare=True).rowcount

    def query(self, text):
        execute = self.cursor.execute
        return lambda params: execute(text, params, prepare=True).fetchall()

    def many(self, text):
        def many(rows):
            self.cursor.executemany(text, rows)
            return self.cursor.rowcount

        return many

    def bulk(self, table, columns):
        names = ", ".join(f'"{name}"' for name in columns)
        text = f'COPY "{table}" ({names}) FROM STDIN'

        def load(rows):
            with self.own.cursor() as cursor, cursor.copy(text) as copy:
                for row in rows:
                    copy.write_row(row)
            return len(rows)

        return load

    def close(self):
        self.own.close()
