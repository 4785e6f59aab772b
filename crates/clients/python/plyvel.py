"""LevelDB by the package plyvel, with the LevelDB that the package includes.

https://plyvel.readthedocs.io/en/latest/user.html: a prefixed database for each table, iterators over ranges, write batches.
"""

from itertools import islice

import plyvel


def version():
    return f"plyvel {plyvel.__version__}"


def open(connection):
    return Database(connection)


class Database:
    def __init__(self, connection):
        sizes = {name: int(connection[name]) for name in connection if name not in ("dir", "sync")}
        self.own = plyvel.DB(connection["dir"], **sizes)
        self.sync = connection["sync"] == "true"
        self.prefixes, self.batch = {}, None

    def settings(self, names):
        return {}

    def prefix(self, table):
        # The number of each table is the value of its name after a zero byte.
        if table not in self.prefixes:
            self.prefixes[table] = self.own.get(b"\0" + table.encode())
        return self.prefixes[table]

    def table(self, name):
        return self.own.prefixed_db(self.prefix(name))

    def begin(self, writes):
        if writes:
            self.batch = self.own.write_batch(transaction=True, sync=self.sync)

    def commit(self):
        if self.batch is not None:
            self.batch.write()
            self.batch = None

    def get(self, table):
        return self.table(table).get

    def put(self, table):
        if self.batch is not None:
            put, prefix = self.batch.put, self.prefix(table)

            def write(params):
                put(prefix + params[0], params[1])
                return 1

            return write
        put, sync = self.table(table).put, self.sync

        def write(params):
            put(params[0], params[1], sync=sync)
            return 1

        return write

    def delete(self, table):
        if self.batch is not None:
            delete, prefix = self.batch.delete, self.prefix(table)
            return lambda key: delete(prefix + key) or -1
        delete, sync = self.table(table).delete, self.sync
        return lambda key: delete(key, sync=sync) or -1

    def scan(self, table):
        iterator = self.table(table).iterator

        def scan(params):
            low, high, way, most = params
            with iterator(start=low, stop=high, reverse=way < 0) as pairs:
                return list(islice(pairs, most))

        return scan

    def close(self):
        self.own.close()
