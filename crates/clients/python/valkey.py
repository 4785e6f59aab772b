"""Valkey by the package valkey.

https://valkey-py.readthedocs.io/en/stable/: a row is a string, the set of a table's keys is sorted as bytes; what belongs
together is a pipeline that is a transaction (https://valkey.io/topics/transactions/).
"""

import valkey

# Rows of a command, and of a transaction of a load.
AT_A_TIME, ROWS = 500, 10_000
# Pairs that a scan reads at first and at most.
FIRST, MOST = 16, 1024


def version():
    return f"valkey {valkey.__version__}"


def open(connection):
    return Database(connection)


class Database:
    def __init__(self, connection):
        if "socket" in connection:
            self.own = valkey.Valkey(unix_socket_path=connection["socket"])
        else:
            self.own = valkey.Valkey.from_url(connection["url"])
        self.prefix, self.tables, self.batch = connection["prefix"].encode(), {}, None

    def settings(self, names):
        known = self.own.config_get(*names)
        return {name: known[name] for name in names if name in known}

    def table(self, name):
        """Returns the key of the set of a table's keys, and the prefix of its rows' keys."""
        # Asked once: a phase has a function for each of its blocks, which may be single operations.
        if name not in self.tables:
            keys = self.prefix + self.own.hget(self.prefix + b"tables", name)
            self.tables[name] = keys, keys + b":"
        return self.tables[name]

    def begin(self, writes):
        self.batch = self.own.pipeline(transaction=True) if writes else None

    def commit(self):
        if self.batch is not None:
            self.batch.execute()
            self.batch = None

    def get(self, table):
        (_, rows), get = self.table(table), self.own.get
        return lambda key: get(rows + key)

    def count(self, table):
        keys, _ = self.table(table)
        return lambda params: self.own.zcard(keys)

    def changing(self, change):
        """Returns a function that makes a change in the open transaction, or in its own."""
        batch = self.batch
        if batch is not None:

            def add(params):
                change(batch, params)
                return -1

            return add

        def alone(params):
            with self.own.pipeline(transaction=True) as pipeline:
                change(pipeline, params)
                return int(pipeline.execute()[0])

        return alone

    def put(self, table):
        keys, rows = self.table(table)

        def put(pipeline, params):
            pipeline.set(rows + params[0], params[1])
            pipeline.zadd(keys, {params[0]: 0})

        return self.changing(put)

    def delete(self, table):
        keys, rows = self.table(table)

        def delete(pipeline, key):
            pipeline.delete(rows + key)
            pipeline.zrem(keys, key)

        return self.changing(delete)

    def scan(self, table):
        keys, rows = self.table(table)
        return lambda params: list(scan(self.own, keys, rows, *params))

    def bulk(self, table, columns):
        keys, rows = self.table(table)

        def load(pairs):
            for begin in range(0, len(pairs), ROWS):
                with self.own.pipeline(transaction=True) as pipeline:
                    some = pairs[begin:begin + ROWS]
                    for at in range(0, len(some), AT_A_TIME):
                        part = some[at:at + AT_A_TIME]
                        pipeline.mset({rows + key: value for key, value in part})
                        pipeline.zadd(keys, {key: 0 for key, _ in part})
                    pipeline.execute()
            return len(pairs)

        return load

    def close(self):
        self.own.close()


def scan(own, keys, rows, low, high, way, most):
    """Yields the pairs of a range: the keys of a step, then their values."""
    low, high = b"-" if low is None else b"[" + low, b"+" if high is None else b"(" + high
    first, last = (low, high) if way > 0 else (high, low)
    step, left = FIRST, most
    while left is None or left > 0:
        step = step if left is None else min(step, left)
        found = own.zrange(keys, first, last, desc=way < 0, bylex=True, offset=0, num=step)
        if found:
            yield from zip(found, own.mget([rows + key for key in found]))
        if len(found) < step:
            return
        first, step = b"(" + found[-1], min(step * 8, MOST)
        left = left if left is None else left - len(found)
