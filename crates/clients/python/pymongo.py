"""MongoDB by the package pymongo.

https://pymongo.readthedocs.io/en/4.20.1/tutorial.html: a `MongoClient`, documents as dicts, `insert_one`, `find` and
`find_one`, `insert_many` for loads, unordered
(https://www.mongodb.com/docs/languages/python/pymongo-driver/current/crud/bulk-write/), and `aggregate`. Everything that is
not set here is as the package has it. It stores an integer that fits in 32 bits in 32 bits.
"""

import base64
import json
from datetime import datetime, timedelta
from urllib.parse import quote

import pymongo
from bson import json_util
from bson.decimal128 import Decimal128
from pymongo.write_concern import WriteConcern

EPOCH = datetime(1970, 1, 1)
MS = timedelta(milliseconds=1)


def version():
    return f"pymongo {pymongo.version} ({'C' if pymongo.has_c() else 'Python'})"


def open(connection):
    return Database(connection)


class Database:
    def __init__(self, connection):
        url = connection.get("url")
        if url is None:
            url = f"mongodb://{quote(connection['socket'], safe='')}/?directConnection=true"
        # A write is tried once, because a retried write would be measured as a single one.
        self.client = pymongo.MongoClient(url, retryWrites=False, retryReads=False)
        concern = connection["writeConcern"]
        concern = WriteConcern(**json.loads(concern)) if concern else None
        self.own = self.client.get_database(connection["database"], write_concern=concern)

    def settings(self, names):
        reported = {}
        if "storage.journal" in names:
            log = self.client.admin.command("serverStatus")["wiredTiger"]["log"]
            reported["storage.journal"] = "true" if log["maximum log file size"] > 0 else "false"
        if "writeConcern" in names:
            # The server does not know it, because each write carries it.
            concern = self.own.write_concern.document
            reported["writeConcern"] = f"w: {concern['w']}, j: {json.dumps(concern['j'])} (as set)"
        return reported

    def prepared(self, call, table, rows):
        """Returns the arguments of the package's functions."""
        prepare = {"insert": document, "bulk": document, "upsert": replacement, "find": search, "update": update,
                   "remove": removal, "ask": question}[call]
        return [prepare(table, *map(parsed if call != "ask" else str, params)) for params in rows]

    def rows(self, answer):
        places, documents = answer
        return [tuple(value_at(document, place) for place in places) for document in documents]

    def insert(self, table):
        insert_one = self.own[table].insert_one

        def insert(document):
            insert_one(document)
            return 1

        return insert

    def upsert(self, table):
        replace_one = self.own[table].replace_one

        def upsert(arguments):
            replace_one(*arguments, upsert=True)
            return 1

        return upsert

    def bulk(self, table, columns):
        insert_many = self.own[table].insert_many
        return lambda documents: len(insert_many(documents, ordered=False).inserted_ids)

    def find(self, table):
        find, find_one = self.own[table].find, self.own[table].find_one

        def found(search):
            places, is_one, filter, options = search
            if is_one:
                document = find_one(filter, **options)
                return places, () if document is None else (document,)
            return places, find(filter, **options).to_list()

        return found

    def update(self, table):
        update_one, update_many = self.own[table].update_one, self.own[table].update_many

        def update(arguments):
            is_one, filter, change = arguments
            return (update_one if is_one else update_many)(filter, change).matched_count

        return update

    def remove(self, table):
        delete_one, delete_many = self.own[table].delete_one, self.own[table].delete_many

        def remove(arguments):
            is_one, filter = arguments
            return (delete_one if is_one else delete_many)(filter).deleted_count

        return remove

    def ask(self, table):
        aggregate = self.own[table].aggregate

        def ask(question):
            places, pipeline = question
            return places, aggregate(pipeline, allowDiskUse=True).to_list()

        return ask

    def close(self):
        self.client.close()


def parsed(text):
    """A parameter, which is JSON."""

    def value(of):
        if "$date" in of:
            return EPOCH + of["$date"] * MS
        if "$binary" in of:
            return base64.b64decode(of["$binary"])
        if "$numberDouble" in of:
            return float(of["$numberDouble"])
        return of

    return json.loads(text, object_hook=value)


def identity(key, values):
    """A key as MongoDB's `_id`: its only value, or a document."""
    return next(iter(values.values())) if len(key) == 1 else values


def document(table, values, fields):
    """Returns a document without its nulls, because an absent field reads the same."""
    own = {"_id": identity(table["key"], values)} if values else {}
    return own | present(fields)


def present(fields):
    return {
        name: present(value) if isinstance(value, dict) else value for name, value in fields.items() if value is not None
    }


def replacement(table, values, fields):
    return {"_id": identity(table["key"], values)}, present(fields)


def place(key, field):
    """Returns the path of a field in a document."""
    if field not in key:
        return field
    return "_id" if len(key) == 1 else f"_id.{field}"


def filtered(key, filter):
    """Converts a filter to MongoDB's form."""
    [(kind, of)] = filter.items()
    if kind == "all":
        return {}
    if kind == "key":
        return {"_id": identity(key, of)}
    if kind == "keys":
        ends = {"$gte": of["from"], "$lt": of["to"]}
        ends = {compare: identity(key, end) for compare, end in ends.items() if end}
        return {"_id": ends} if ends else {}
    if kind == "every":
        return {"$and": [filtered(key, each) for each in of]}
    [(field, value)] = of.items()
    return {place(key, field): value if kind == "equal" else {"$gte": value[0], "$lt": value[1]}}


def search(table, find):
    key, columns, order, limit = table["key"], find["columns"], find["order"], find["limit"]
    is_one = "key" in find["filter"] or limit == 1
    wants_key = not key or any(name in key for name in columns)
    options = {}
    if not wants_key or not set(table["columns"]) <= set(columns):
        # A projection may not name both a field and a field within it.
        chosen = [name for name in columns if name not in key and not any(name.startswith(f"{of}.") for of in columns)]
        options["projection"] = {"_id": wants_key and bool(key)} | {name: True for name in chosen}
    if order is not None and "key" not in find["filter"]:
        options["sort"] = [("_id" if order[0] is None else order[0], order[1])]
    if limit is not None and not is_one:
        options["limit"] = limit
    places = [place(key, name).split(".") for name in columns]
    return places, is_one, filtered(key, find["filter"]), options


def update(table, filter, fields):
    change = {"$set": {name: value for name, value in fields.items() if value is not None}}
    change["$unset"] = {name: True for name, value in fields.items() if value is None}
    change = {name: fields for name, fields in change.items() if fields}
    return "key" in filter, filtered(table["key"], filter), change


def removal(table, filter):
    return "key" in filter, filtered(table["key"], filter)


def question(table, text, columns):
    return [name.split(".") for name in json.loads(columns)], json_util.loads(text)


def value_at(of, place):
    for name in place:
        of = of.get(name) if isinstance(of, dict) else None
    return plain(of)


def plain(of):
    """A value as an answer has it: a date in milliseconds."""
    if isinstance(of, datetime):
        return (of - EPOCH) // MS
    if isinstance(of, Decimal128):
        return of.to_decimal()
    if isinstance(of, dict):
        of = list(of.values())
    return [plain(each) for each in of] if isinstance(of, list) else of
