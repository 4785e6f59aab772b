"""RocksDB by the package rocksdict, with the RocksDB that the package includes.

https://github.com/rocksdict/RocksDict: a database of another program is opened with the options that it has written
("raw mode"); a write batch is what a transaction is.
"""

import importlib.metadata

from rocksdict import Options, Rdict, ReadOptions, WriteBatch, WriteOptions


def version():
    return f"rocksdict {importlib.metadata.version('rocksdict')}"


def open(connection):
    return Database(connection)


class Database:
    def __init__(self, connection):
        # Skips options that a later RocksDB has written and this one does not know.
        options, families = Options.load_latest(connection["dir"], ignore_unknown_options=True)
        try:
            self.own = Rdict(connection["dir"], options=options, column_families=families)
        except Exception as error:
            if "format_version" not in str(error):
                raise
            raise Unsupported(
                "the RocksDB of rocksdict does not read the tables of this release: give embermark an older library too (docs/clients.md)"
            ) from error
        self.options = WriteOptions()
        self.options.sync = connection["sync"] == "true"
        self.options.disable_wal = connection["wal"] == "false"
        self.own.set_write_options(self.options)
        self.families, self.batch = {}, None

    def settings(self, names):
        return {}

    def family(self, table):
        if table not in self.families:
            family = self.own.get_column_family(f"table {table}")
            family.set_write_options(self.options)
            self.families[table] = family
        return self.families[table]

    def begin(self, writes):
        if writes:
            self.batch = WriteBatch(raw_mode=True)

    def commit(self):
        if self.batch is not None:
            self.own.write(self.batch, self.options)
            self.batch = None

    def get(self, table):
        return self.family(table).get

    def put(self, table):
        if self.batch is not None:
            put, family = self.batch.put, self.own.get_column_family_handle(f"table {table}")
            self.family(table)

            def write(params):
                put(params[0], params[1], family)
                return 1

            return write
        put = self.family(table).put

        def write(params):
            put(params[0], params[1])
            return 1

        return write

    def delete(self, table):
        if self.batch is not None:
            delete, family = self.batch.delete, self.own.get_column_family_handle(f"table {table}")
            return lambda key: delete(key, family) or -1
        delete = self.family(table).delete
        return lambda key: delete(key) or -1

    def scan(self, table):
        family = self.family(table)

        def scan(params):
            low, high, way, most = params
            found, iterator = [], family.iter(ReadOptions())
            if way > 0:
                iterator.seek_to_first() if low is None else iterator.seek(low)
            elif high is None:
                iterator.seek_to_last()
            else:
                iterator.seek_for_prev(high)
                if iterator.valid() and iterator.key() == high:
                    iterator.prev()
            while iterator.valid():
                key = iterator.key()
                if (way > 0 and high is not None and key >= high) or (way < 0 and low is not None and key < low):
                    break
                found.append((key, iterator.value()))
                if len(found) == most:
                    break
                iterator.next() if way > 0 else iterator.prev()
            return found

        return scan

    def close(self):
        for family in self.families.values():
            family.close()
        self.own.close()
