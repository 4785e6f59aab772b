// MongoDB by the npm package mongodb.
//
// https://www.mongodb.com/docs/drivers/node/current/crud/: `insertOne`, `insertMany` for loads, unordered, `find` and
// `findOne`, and `aggregate`. The package stores a Number that is an integer of 32 bits as one and every other as a double:
// a larger integer is a `Long` and a float a `Double`. All other options have the package's defaults.

import { BSON, MongoClient } from "mongodb";

const { Binary, Double, EJSON, Long } = BSON;

export const isAsync = true;

export const version = (of) => `mongodb ${of("mongodb")}`;

export async function open({ socket, url, database, writeConcern }) {
  // A write is tried once, because a retried write would be measured as a single one.
  const client = new MongoClient(url ?? `mongodb://${encodeURIComponent(socket)}/?directConnection=true`, {
    retryWrites: false,
    retryReads: false,
  });
  await client.connect();
  const own = client.db(database, writeConcern ? { writeConcern: JSON.parse(writeConcern) } : {});

  return {
    async settings(names) {
      const reported = {};
      if (names.includes("storage.journal")) {
        const { wiredTiger } = await client.db("admin").command({ serverStatus: 1 });
        reported["storage.journal"] = String(wiredTiger.log["maximum log file size"] > 0);
      }
      if (names.includes("writeConcern")) {
        // The server does not know it, because each write carries it.
        const { w, j, journal } = own.writeConcern;
        reported.writeConcern = `w: ${w}, j: ${j ?? journal} (as set)`;
      }
      return reported;
    },

    // Returns the arguments of the package's functions.
    prepared(call, table, rows) {
      const prepare = { insert: document, bulk: document, upsert: replacement, find: search, update, remove: removal }[call];
      if (call === "ask") return rows.map(([text, columns]) => question(text, JSON.parse(columns)));
      return rows.map((params) => prepare(table, ...params.map(parsed)));
    },

    rows: ({ places, documents }) =>
      documents.map((document) => places.map((place) => plain(place.reduce((of, name) => of?.[name], document)))),

    insert(table) {
      const collection = own.collection(table);
      return async (document) => {
        await collection.insertOne(document);
        return 1;
      };
    },

    upsert(table) {
      const collection = own.collection(table);
      return async ({ filter, fields }) => {
        await collection.replaceOne(filter, fields, { upsert: true });
        return 1;
      };
    },

    bulk(table) {
      const collection = own.collection(table);
      return async (documents) => (await collection.insertMany(documents, { ordered: false })).insertedCount;
    },

    find(table) {
      const collection = own.collection(table);
      return async ({ places, isOne, filter, options }) => {
        if (!isOne) return { places, documents: await collection.find(filter, options).toArray() };
        const document = await collection.findOne(filter, options);
        return { places, documents: document === null ? [] : [document] };
      };
    },

    update(table) {
      const collection = own.collection(table);
      return async ({ isOne, filter, change }) => {
        const { matchedCount } = await (isOne ? collection.updateOne(filter, change) : collection.updateMany(filter, change));
        return matchedCount;
      };
    },

    remove(table) {
      const collection = own.collection(table);
      return async ({ isOne, filter }) => {
        const { deletedCount } = await (isOne ? collection.deleteOne(filter) : collection.deleteMany(filter));
        return deletedCount;
      };
    },

    ask(table) {
      const collection = own.collection(table);
      return async ({ places, pipeline }) => {
        const documents = await collection.aggregate(pipeline, { allowDiskUse: true }).toArray();
        return { places, documents };
      };
    },

    close: () => client.close(),
  };
}

// A parameter, which is JSON: a number by its digits, because 1.0 and 1 are the same Number.
function parsed(text) {
  return JSON.parse(text, (_, of, { source }) => {
    if (typeof of === "number") {
      if (/[.eE]/.test(source)) return new Double(of);
      return Math.abs(of) < 2 ** 31 ? of : Long.fromString(source);
    }
    if (of === null || typeof of !== "object") return of;
    if ("$date" in of) return new Date(Number(of.$date));
    if ("$binary" in of) return new Binary(Buffer.from(of.$binary, "base64"));
    if ("$numberDouble" in of) return new Double(Number(of.$numberDouble));
    return of;
  });
}

const isPlain = (of) => of !== null && of !== undefined && Object.getPrototypeOf(of) === Object.prototype;

// Removes nulls, because an absent field reads the same.
function present(fields) {
  const own = Object.entries(fields).filter(([, value]) => value !== null);
  return Object.fromEntries(own.map(([name, value]) => [name, isPlain(value) ? present(value) : value]));
}

// A key as MongoDB's `_id`: its only value, or a document.
const identity = (key, values) => key.length === 1 ? Object.values(values)[0] : values;

const document = ({ key }, values, fields) =>
  key.length > 0 ? { _id: identity(key, values), ...present(fields) } : present(fields);

const replacement = ({ key }, values, fields) => ({ filter: { _id: identity(key, values) }, fields: present(fields) });

// Returns the path of a field in a document.
const place = (key, field) => !key.includes(field) ? field : key.length === 1 ? "_id" : `_id.${field}`;

// Converts a filter to MongoDB's form.
function filtered(key, filter) {
  const [[kind, of]] = Object.entries(filter);
  if (kind === "all") return {};
  if (kind === "key") return { _id: identity(key, of) };
  if (kind === "every") return { $and: of.map((each) => filtered(key, each)) };
  if (kind === "keys") {
    const ends = [["$gte", of.from], ["$lt", of.to]].filter(([, end]) => Object.keys(end).length > 0);
    const range = Object.fromEntries(ends.map(([compare, end]) => [compare, identity(key, end)]));
    return ends.length > 0 ? { _id: range } : {};
  }
  const [[field, value]] = Object.entries(of);
  return { [place(key, field)]: kind === "equal" ? value : { $gte: value[0], $lt: value[1] } };
}

function search({ key, columns: all }, { filter, order, limit, columns }) {
  const isKey = "key" in filter, isOne = isKey || limit === 1, options = {};
  const wantsKey = key.length === 0 || columns.some((name) => key.includes(name));
  if (!wantsKey || !all.every((name) => columns.includes(name))) {
    // A projection may not name both a field and a field within it.
    const chosen = columns.filter((name) => !key.includes(name) && !columns.some((of) => name.startsWith(`${of}.`)));
    options.projection = { _id: wantsKey && key.length > 0, ...Object.fromEntries(chosen.map((name) => [name, true])) };
  }
  if (order !== null && !isKey) options.sort = { [order[0] ?? "_id"]: order[1] };
  if (limit !== null && !isOne) options.limit = limit;
  const places = columns.map((name) => place(key, name).split("."));
  return { places, isOne, filter: filtered(key, filter), options };
}

function update({ key }, filter, fields) {
  const set = Object.entries(fields).filter(([, value]) => value !== null);
  const unset = Object.entries(fields).filter(([, value]) => value === null).map(([name]) => [name, true]);
  const changes = [["$set", set], ["$unset", unset]].filter(([, own]) => own.length > 0);
  const change = Object.fromEntries(changes.map(([name, own]) => [name, Object.fromEntries(own)]));
  return { isOne: "key" in filter, filter: filtered(key, filter), change };
}

const removal = ({ key }, filter) => ({ isOne: "key" in filter, filter: filtered(key, filter) });

const question = (text, columns) =>
  ({ places: columns.map((name) => name.split(".")), pipeline: EJSON.parse(text, { relaxed: false }) });

// A value as an answer has it: a date in milliseconds.
function plain(of) {
  if (of instanceof Date) return of.getTime();
  if (of instanceof Long) return of.toBigInt();
  if (of instanceof Binary) return of.buffer.subarray(0, of.position);
  if (of?._bsontype === "Decimal128") return Number(of.toString());
  if (Array.isArray(of)) return of.map(plain);
  return isPlain(of) ? Object.values(of).map(plain) : of;
}
