"""LMDB by the package lmdb, with the LMDB that the package includes.

https://lmdb.readthedocs.io/en/release/: a transaction as a context manager for a single operation, and cursors that are
iterated for ranges.
"""

from functools import partial
from itertools import islice

import lmdb


def version():
    return f"lmdb {lmdb.__version__}, LMDB {'.'.join(map(str, lmdb.version()))}"


def open(connection):
    return Database(connection)


class Database:
    def __init__(self, connection):
        flags = connection["flags"].split()
        self.own = lmdb.open(
            connection["dir"],
            map_size=int(connection["map_bytes"]),
            max_dbs=40,
            create=False,
            sync="MDB_NOSYNC" not in flags,
            metasync="MDB_NOMETASYNC" not in flags,
            writemap="MDB_WRITEMAP" in flags,
            map_async="MDB_MAPASYNC" in flags,
            readahead="MDB_NORDAHEAD" not in flags,
            meminit="MDB_NOMEMINIT" not in flags,
        )
        self.tables, self.transaction = {}, None

    def settings(self, names):
        flags = self.own.flags()
        reported = {
            "MDB_NOSYNC": not flags["sync"],
            "MDB_NOMETASYNC": not flags["metasync"],
            "MDB_WRITEMAP": flags["writemap"],
            "MDB_MAPASYNC": flags["map_async"],
        }
        return {name: "on" if reported[name] else "off" for name in names if name in reported}

    def table(self, name):
        if name not in self.tables:
            self.tables[name] = self.own.open_db(name.encode(), create=False)
        return self.tables[name]

    def begin(self, writes):
        self.transaction = self.own.begin(write=writes)

    def commit(self):
        self.transaction.commit()
        self.transaction = None

    def get(self, table):
        table, begin = self.table(table), self.own.begin
        if self.transaction is not None:
            return partial(self.transaction.get, db=table)

        def get(key):
            with begin() as transaction:
                return transaction.get(key, db=table)

        return get

    def put(self, table):
        table, begin = self.table(table), self.own.begin
        if self.transaction is not None:
            put = self.transaction.put
            return lambda pair: put(*pair, db=table)

        def put(pair):
            with begin(write=True) as transaction:
                return transaction.put(*pair, db=table)

        return put

    def delete(self, table):
        table, begin = self.table(table), self.own.begin
        if self.transaction is not None:
            return partial(self.transaction.delete, db=table)

        def delete(key):
            with begin(write=True) as transaction:
                return transaction.delete(key, db=table)

        return delete

    def count(self, table):
        return self.reading(table, lambda transaction, table, params: transaction.stat(table)["entries"])

    def scan(self, table):
        return self.reading(table, scan)

    def reading(self, table, call):
        """Returns a function that does a call in the open transaction, or in its own."""
        table, begin, transaction = self.table(table), self.own.begin, self.transaction
        if transaction is not None:
            return lambda params: call(transaction, table, params)

        def alone(params):
            with begin() as transaction:
                return call(transaction, table, params)

        return alone

    def bulk(self, table, columns):
        table = self.table(table)

        def load(rows):
            # In the order of the keys, page after page without a search.
            with self.own.begin(write=True) as transaction, transaction.cursor(table) as cursor:
                return cursor.putmulti(rows, append=True)[1]

        return load

    def close(self):
        self.own.close()


def scan(transaction, table, params):
    low, high, way, most = params
    found = []
    with transaction.cursor(table) as cursor:
        if way > 0:
            there = cursor.first() if low is None else cursor.set_range(low)
            pairs = cursor.iternext() if there else ()
            for pair in islice(pairs, most):
                if high is not None and pair[0] >= high:
                    break
                found.append(pair)
            return found
        # From the last key below the upper end.
        there = cursor.prev() if high is not None and cursor.set_range(high) else cursor.last()
        pairs = cursor.iterprev() if there else ()
        for pair in islice(pairs, most):
            if low is not None and pair[0] < low:
                break
            found.append(pair)
    return found
