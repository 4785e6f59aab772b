"""A client in Python: runs the operations of a phase instead of embermark, and times them with its own clock.

docs/client-protocol.md describes the messages. The code for each package is in a file of its own in this folder. Such a
file has `version()` and `open(connection)`, which returns an object with

- `settings(names)`: the values of settings, as the database reports them;
- optionally `expect(kind)`: "point" for many short statements, "analytic" for few over many rows;
- `begin(writes)`, `commit()`: a transaction;
- for pairs `get(table)` and `delete(table)`: functions of a key. `get` returns the value or None. They are the package's own
  functions if possible, which saves a Python call;
- for SQL `run(text)` and `query(text)`, for pairs `put(table)` and `scan(table)`, for
  documents `insert(table)`, `upsert(table)`, `find(table)`, `update(table)`, `remove(table)` and `ask(table)`: a function of
  a tuple of parameters that does the call and returns its answer, the number of rows changed or the rows;
- optionally `prepared(call, table, rows)`, which converts the tuples of a call to the form that its function takes, before
  the clock starts, with the table as `prepare` describes it; and `rows(answer)`, which converts an answer to rows after the
  clock has stopped;
- if the package has one, `many(text)`: a function that does many calls at once, within a transaction;
- `bulk(table, columns)`: a function that loads a list of rows by the fastest path that the package documents;
- `close()`.
"""

import sys

# `python3 -c` would take a file of the current folder for a module of its name.
sys.path = [folder for folder in sys.path if folder]

import gc
import json
import struct
import types
from array import array
from decimal import Decimal
from time import perf_counter_ns

NAMES = (None, "run", "query", "bulk", "get", "put", "delete", "scan", "insert", "upsert", "find", "update", "remove", "ask", "count")
RUN, QUERY, BULK = 1, 2, 3
# Calls whose only parameter is a key.
KEY_CALLS = {"get", "delete"}
# Calls that answer with a number of rows.
CHANGES = {"run", "bulk", "put", "delete", "insert", "upsert", "update", "remove", "count"}


class Unsupported(Exception):
    """An error for what the package cannot do, with the reason."""


class Reader:
    """Reads the file of operations."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data, self.at = memoryview(file.read()), 0

    def words(self, n):
        end = self.at + 8 * n
        words = array("q")
        words.frombytes(self.data[self.at:end])
        if sys.byteorder == "big":
            words.byteswap()
        self.at = end
        return words

    def padded(self, n):
        piece = self.data[self.at:self.at + n]
        self.at += (n + 7) // 8 * 8
        return piece

    def column(self, n):
        kind, has_nulls = self.words(2)
        if kind == 0:
            return [None] * n
        nulls = self.padded(n) if has_nulls else None
        if kind == 1:
            values = self.words(n).tolist()
        elif kind == 2:
            values = array("d", self.words(n).tobytes()).tolist()
        else:
            ends = self.words(n + 1)
            piece = bytes(self.padded(ends[n]))
            if kind == 3:
                values = [str(piece[a:b], "utf-8") for a, b in zip(ends, ends[1:])]
            else:
                values = [piece[a:b] for a, b in zip(ends, ends[1:])]
        if nulls is not None:
            values = [None if null else value for value, null in zip(values, nulls)]
        return values


class Block:
    """Operations that make the same calls with different values."""

    def __init__(self, reader):
        self.transaction, self.writes, self.operations, calls = reader.words(4)
        self.calls = []
        for _ in range(calls):
            code, target, columns = reader.words(3)
            values = [reader.column(self.operations) for _ in range(columns)]
            of_keys = NAMES[code] in KEY_CALLS
            rows = values[0] if of_keys else list(zip(*values)) if values else [()] * self.operations
            self.calls.append((code, target, rows))


class Phase:
    """The operations of a phase on an open database."""

    def __init__(self, database, message):
        reader = Reader(message["operations"])
        if bytes(reader.padded(8)) != b"embmops1":
            raise ValueError("the file of operations is of another version")
        self.database, self.message = database, message
        if hasattr(database, "expect"):
            database.expect(message["expected"])
        self.blocks = [Block(reader) for _ in range(reader.words(1)[0])]
        for block in self.blocks:
            for code, target, _ in block.calls:
                self.function(code, target)
            if hasattr(database, "prepared"):
                block.calls = [
                    (code, target, database.prepared(NAMES[code], message["tables"][target], rows))
                    for code, target, rows in block.calls
                ]
        self.answers = self.samples = None
        if message["warm_up"]:
            self.once(None)

    def function(self, code, target):
        """Returns the function that does a call."""
        database, message = self.database, self.message
        name = NAMES[code]
        make = getattr(database, name, None)
        if make is None:
            raise Unsupported(f"this client has no {name}")
        if code == BULK:
            return make(message["tables"][target]["name"], message["tables"][target]["columns"])
        return make(message["statements"][target] if code in (RUN, QUERY) else message["tables"][target]["name"])

    def go(self, most_ns):
        repeat_ns = self.message["repeat_ns"]
        gc.collect()
        gc.freeze()
        began = perf_counter_ns()
        most = None if most_ns is None else began + most_ns
        operations, capped = self.once(most)
        if repeat_ns is not None:
            while not capped and perf_counter_ns() - began < repeat_ns:
                more, capped = self.once(most)
                operations += more
        elapsed = perf_counter_ns() - began
        gc.unfreeze()
        return {"elapsed_ns": elapsed, "operations": operations, "capped": capped}

    def once(self, most):
        """Does every operation once. Returns how many were done, and whether `most` ended them."""
        database, open_transaction, done, capped = self.database, 0, 0, False
        self.answers, samples = [], []
        for block in self.blocks:
            if block.transaction != open_transaction or not block.transaction:
                if open_transaction:
                    database.commit()
                    open_transaction = 0
                if done and most is not None and perf_counter_ns() >= most:
                    capped = True
                    break
                if block.transaction:
                    database.begin(bool(block.writes))
                    open_transaction = block.transaction
            did, answers = self.work(block, most, samples)
            self.answers.append(answers)
            done += did
            if did < block.operations:
                capped = True
                break
        if open_transaction:
            database.commit()
        self.samples = samples
        return done, capped

    def work(self, block, most, samples):
        """Does the operations of a block. Returns how many were done, and their answers: a list per call, or one for all."""
        code, target, rows = block.calls[0]
        if code == BULK:
            return block.operations, [self.function(code, target)(rows)]
        if len(block.calls) > 1:
            return self.several(block, most, samples)
        if code == RUN and block.transaction and block.operations > 1 and hasattr(self.database, "many"):
            return block.operations, [self.database.many(self.message["statements"][target])(rows)]
        operation = self.function(code, target)
        answers = []
        did = loop(operation, rows, answers.append, most, samples)
        return did, [answers]

    def several(self, block, most, samples):
        calls = [self.function(code, target) for code, target, _ in block.calls]
        rows = list(zip(*(rows for _, _, rows in block.calls)))

        def operation(params):
            return [call(own) for call, own in zip(calls, params)]

        answers = []
        did = loop(operation, rows, answers.append, most, samples)
        return did, [list(own) for own in zip(*answers)]

    def write(self):
        """Writes the answers to their file."""
        rows = getattr(self.database, "rows", None)
        with open(self.message["answers"], "r+b") as file:
            file.write(b"embmans1")
            file.write(struct.pack("<Q", len(self.samples)))
            file.write(struct.pack(f"<{len(self.samples)}Q", *self.samples))
            file.write(struct.pack("<Q", len(self.answers)))
            for block, answers in zip(self.blocks, self.answers):
                codes = [code for code, _, _ in block.calls]
                if not isinstance(answers[0], list):
                    file.write(struct.pack("<QQq", 1, block.operations, answers[0]))
                    continue
                done = len(answers[0])
                file.write(struct.pack("<QQ", 0, done))
                for n in range(done):
                    for code, own in zip(codes, answers):
                        file.write(answer(NAMES[code], own[n], rows))


def loop(operation, rows, keep, most, samples):
    """Does an operation with each of these parameters, and times some of them. Returns how many were done."""
    every, cost, timed, at, count = 1, None, [], 0, len(rows)
    clock = perf_counter_ns
    while at < count:
        began = clock()
        keep(operation(rows[at]))
        ended = clock()
        timed.append(ended - began)
        at += 1
        if most is not None and ended >= most:
            break
        if at == 8:
            # Reading the clock may cost half a percent.
            cost = -2 * max(clock() - clock() for _ in range(8))
            every = int(cost / (0.005 * max(sorted(timed)[4], 1))) | 1
        for params in rows[at:at + every - 1] if every > 1 else ():
            keep(operation(params))
        at = min(at + every - 1, count)
    samples.extend(timed)
    return at


def answer(name, found, rows):
    """Returns the bytes of an answer. `rows` of the package's file converts it to rows first, if it exists."""
    if name in CHANGES:
        return struct.pack("<q", found)
    if name == "get":
        found = [] if found is None else [(found,)]
    elif rows:
        found = rows(found)
    columns = len(found[0]) if found else 0
    parts = [struct.pack("<QQ", len(found), columns)]
    parts.extend(value(of) for row in found for of in row)
    return b"".join(parts)


def value(of):
    if of is None:
        return b"\0"
    if isinstance(of, float):
        return struct.pack("<Bd", 2, of)
    if isinstance(of, int):
        return struct.pack("<Bq", 1, of) if -(1 << 63) <= of < 1 << 63 else struct.pack("<Bd", 2, of)
    if isinstance(of, str):
        text = of.encode()
        return struct.pack("<BI", 3, len(text)) + text
    if isinstance(of, (bytes, bytearray, memoryview)):
        return struct.pack("<BI", 4, len(of)) + bytes(of)
    if isinstance(of, Decimal):
        return value(int(of) if of == of.to_integral_value() else float(of))
    if isinstance(of, dict):
        of = list(of.values())
    if isinstance(of, list):
        return struct.pack("<BI", 5, len(of)) + b"".join(map(value, of))
    if hasattr(of, "isoformat"):
        return value(of.isoformat(" ") if hasattr(of, "hour") else of.isoformat())
    raise TypeError(f"an answer has a value of type {type(of).__name__}")


def floor(operations):
    """Times an empty operation in the loop of all others."""
    rows, samples, answers = [()] * operations, [], []
    began = perf_counter_ns()
    loop(lambda params: 0, rows, answers.append, None, samples)
    return {"elapsed_ns": perf_counter_ns() - began, "operations": operations, "capped": False}


def load(message):
    binding = types.ModuleType(message["binding"]["name"])
    binding.Unsupported = Unsupported
    exec(compile(message["binding"]["source"], f"{binding.__name__}.py", "exec"), binding.__dict__)
    return binding


def main():
    out = sys.stdout
    sys.stdout = sys.stderr

    def say(what):
        out.write(json.dumps(what) + "\n")
        out.flush()

    binding = database = phase = None
    say({"protocol": 1})
    for line in sys.stdin:
        message = json.loads(line)
        do = message["do"]
        try:
            if do == "load":
                binding = load(message)
                version = ".".join(map(str, sys.version_info[:3]))
                say({"version": f"Python {version}, {binding.version()}"})
            elif do == "open":
                database = binding.open(message["connection"])
                say({"settings": database.settings(message["read_back"])})
            elif do == "prepare":
                phase = Phase(database, message)
                say({})
            elif do == "go":
                say(phase.go(message["most_ns"]))
            elif do == "answer":
                phase.write()
                phase = None
                say({})
            elif do == "close":
                database.close()
                database = phase = None
                say({})
            elif do == "floor":
                say(floor(message["operations"]))
            else:
                say({"error": f"unknown request '{do}' in this version of the protocol"})
        except Unsupported as error:
            say({"unsupported": str(error)})
        except Exception as error:
            say({"error": f"{type(error).__name__}: {error}"})


main()
