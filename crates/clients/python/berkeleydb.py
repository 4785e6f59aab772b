"""Berkeley DB by the package berkeleydb, compiled for the library that embermark drives.

https://docs.jcea.es/berkeleydb/latest/: an environment, a B-tree for each table, a cursor for ranges.
"""

from functools import partial

from berkeleydb import db


def version():
    return f"berkeleydb {db.__version__}, Berkeley DB {'.'.join(map(str, db.version()))}"


def open(connection):
    return Database(connection)


class Database:
    def __init__(self, connection):
        flags = connection["flags"].split()
        self.transactional = "DB_INIT_TXN" in flags
        self.own = db.DBEnv()
        self.own.set_cachesize(*divmod(int(connection["cache_bytes"]), 1 << 30), 1)
        opened = db.DB_CREATE | db.DB_PRIVATE | db.DB_INIT_MPOOL
        if self.transactional:
            opened |= db.DB_INIT_LOG | db.DB_INIT_TXN | db.DB_RECOVER
            self.own.set_lg_bsize(int(connection["log_buffer"]))
            self.own.log_set_config(db.DB_LOG_AUTO_REMOVE, "DB_LOG_AUTO_REMOVE" in flags)
            self.own.set_flags(db.DB_TXN_WRITE_NOSYNC, "DB_TXN_WRITE_NOSYNC" in flags)
        self.own.open(connection["dir"], opened)
        self.tables, self.transaction = {}, None

    def settings(self, names):
        reported = {"DB_INIT_TXN": self.own.get_open_flags() & db.DB_INIT_TXN}
        for name in ("DB_TXN_WRITE_NOSYNC", "DB_TXN_NOSYNC"):
            reported[name] = self.own.get_flags() & getattr(db, name)
        return {name: "on" if reported[name] else "off" for name in names if name in reported}

    def table(self, name):
        if name not in self.tables:
            table = self.tables[name] = db.DB(self.own)
            table.open(f"{name}.db", dbtype=db.DB_BTREE, flags=db.DB_AUTO_COMMIT if self.transactional else 0)
        return self.tables[name]

    def begin(self, writes):
        self.transaction = self.own.txn_begin() if writes and self.transactional else None

    def commit(self):
        if self.transaction is not None:
            self.transaction.commit()
            self.transaction = None

    def get(self, table):
        return partial(self.table(table).get, txn=self.transaction)

    def put(self, table):
        put, transaction = self.table(table).put, self.transaction

        def write(params):
            put(params[0], params[1], txn=transaction)
            return 1

        return write

    def delete(self, table):
        delete, transaction = self.table(table).delete, self.transaction

        def remove(key):
            try:
                delete(key, txn=transaction)
            except db.DBNotFoundError:
                return 0
            return 1

        return remove

    def scan(self, table):
        table, transaction = self.table(table), self.transaction

        def read(params):
            cursor = table.cursor(txn=transaction)
            try:
                return scan(cursor, *params)
            finally:
                cursor.close()

        return read

    def bulk(self, table, columns):
        table = self.table(table)

        def load(rows):
            # Pages that are new to the file are written when it commits, and not logged.
            transaction = self.own.txn_begin(flags=db.DB_TXN_BULK) if self.transactional else None
            for key, value in rows:
                table.put(key, value, txn=transaction)
            if transaction is not None:
                transaction.commit()
            return len(rows)

        return load

    def close(self):
        if self.transactional:
            self.own.txn_checkpoint()
        for table in self.tables.values():
            table.close()
        self.own.close()


def scan(cursor, low, high, way, most):
    found = []
    if way > 0:
        pair = cursor.first() if low is None else cursor.set_range(low)
        while pair is not None and (high is None or pair[0] < high):
            found.append(pair)
            pair = cursor.next() if len(found) != most else None
        return found
    # From the last key below the upper end.
    there = high is not None and cursor.set_range(high) is not None
    pair = cursor.prev() if there else cursor.last()
    while pair is not None and (low is None or pair[0] >= low):
        found.append(pair)
        pair = cursor.prev() if len(found) != most else None
    return found
