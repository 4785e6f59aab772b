// HarperDB by HTTP requests to its operations API, with the module node:http of Node.js.
//
// https://docs.harperdb.io/docs/developers/operations-api/nosql-operations: `insert`, `update`, `delete`, `search_by_id`
// and `search_by_conditions`, and `sql` for questions: each a request over one connection that stays open. A key of several
// fields is one text that sorts as they do, as embermark has it in its own requests (crates/engines/src/harperdb/key.rs).

import http from "node:http";
import https from "node:https";
import { urlToHttpOptions } from "node:url";

export const isAsync = true;

export const version = () => "node:http";

// Largest number of records in one request, which is one commit, and the number of bytes after which no record is added.
const RECORDS = 1000, BYTES = 2 ** 20;

// Field of the answer to a change that has the keys of the changed records.
const CHANGED = { insert: "inserted_hashes", update: "update_hashes", delete: "deleted_hashes" };

export async function open({ socket, url, authorization, database }) {
  const { Agent, request } = url?.startsWith("https:") ? https : http;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { "Content-Type": "application/json", ...(authorization && { Authorization: authorization }) };
  const server = socket ? { socketPath: socket } : urlToHttpOptions(new URL(`${url}/`));
  const options = { path: "/", ...server, method: "POST", agent, headers };

  const post = (body) => new Promise((resolve, reject) => {
    const sent = request(options, (answer) => {
      const parts = [];
      answer.on("error", reject).on("data", (part) => parts.push(part)).on("end", () => {
        const text = Buffer.concat(parts).toString();
        if (answer.statusCode < 400) resolve(text);
        else reject(new Error(`${answer.statusCode}: ${text}`));
      });
    });
    sent.on("error", reject).end(body);
  });

  // Sends an operation. Returns its answer.
  const ask = async (operation) => JSON.parse(await post(JSON.stringify(operation)));

  // Returns the number of records that a change reports.
  const change = async (operation, table, records) => {
    const list = operation === "delete" ? { ids: records } : { records };
    return (await ask({ operation, database, table, ...list }))[CHANGED[operation]].length;
  };

  const insert = async (table, records) => {
    const { length } = records, inserted = await change("insert", table, records);
    if (inserted < length) throw new Error(`${length - inserted} of ${length} have keys that are there already`);
    return length;
  };

  // Finds keys and makes the same change to each of their records.
  const changeFound = async (operation, table, { search, attribute, bytes }, record) => {
    const keys = (await ask(search)).map((row) => row[attribute]);
    let count = 0;
    for (const some of inRequests(keys, (key) => String(key).length + bytes)) {
      count += await change(operation, table, some.map(record));
    }
    return count;
  };

  // Connects and authenticates.
  await ask({ operation: "registration_info" });

  return {
    async settings(names) {
      const all = await ask({ operation: "get_configuration" });
      const setting = (name) => name.split(".").reduce((of, part) => of?.[part], all);
      return Object.fromEntries(names.map((name) => [name, setting(name)]).filter(([, value]) => value !== undefined));
    },

    // Returns records and bodies of requests. For a load, returns a list of records per request.
    prepared(call, { name: table, key, columns }, rows) {
      const of = { table, key: new Key(key), columns, database };
      if (call === "ask") return rows.map(([sql, names]) => ({ columns: JSON.parse(names), body: { operation: "sql", sql } }));
      const prepare = { insert: record, bulk: record, upsert: replacement, find, update, remove }[call];
      const all = rows.map((params) => prepare(of, ...params.map(parsed)));
      return call === "bulk" ? inRequests(all, (record) => Buffer.byteLength(JSON.stringify(record))) : all;
    },

    rows: ({ columns, found }) => found.map((row) => columns.map((name) => plain(row[name] ?? within(row, name)))),

    insert: (table) => (record) => insert(table, [record]),

    upsert: (table) => async ({ update, record }) =>
      await change("update", table, [update]) || insert(table, [record]),

    bulk: (table) => async (requests) => {
      let count = 0;
      for (const records of requests) count += await insert(table, records);
      return count;
    },

    find: () => async ({ columns, body }) => ({ columns, found: await ask(body) }),

    update: (table) => (one) => one.record ? change("update", table, [one.record])
      : changeFound("update", table, one, (key) => ({ [one.attribute]: key, ...one.fields })),

    // Existing keys are looked up first, because `delete` counts missing keys as deleted.
    remove: (table) => (one) => changeFound("delete", table, one, (key) => key),

    ask: () => async ({ columns, body }) => ({ columns, found: await ask(body) }),

    close: () => agent.destroy(),
  };
}

// Items, divided into requests.
function inRequests(items, bytes) {
  const requests = [];
  let request = [], size = 0;
  for (const item of items) {
    request.push(item);
    size += bytes(item) + 1;
    if (request.length === RECORDS || size > BYTES) {
      requests.push(request);
      request = [];
      size = 0;
    }
  }
  if (request.length > 0) requests.push(request);
  return requests;
}

// A parameter, which is JSON, with integers as BigInts and floats as Numbers: parts of keys differ by that.
function parsed(text) {
  return JSON.parse(text, (_, of, { source }) => {
    if (typeof of === "number") return /[.eE]/.test(source) ? of : BigInt(source);
    if (of === null || typeof of !== "object") return of;
    if ("$date" in of) throw new Unsupported("dates: JSON has none");
    if ("$binary" in of) throw new Unsupported("bytes: JSON has none");
    if ("$numberDouble" in of) return Number(of.$numberDouble);
    return of;
  });
}

// Converts a value of a parameter to the form in which it is sent.
function sent(of) {
  if (typeof of === "bigint") {
    if (BigInt(Number(of)) !== of || Math.abs(Number(of)) > 2 ** 53) {
      throw new Unsupported(`the integer ${of}: its numbers are doubles, exact up to 53 bits`);
    }
    return Number(of);
  }
  if (typeof of === "number" && !Number.isFinite(of)) throw new Unsupported(`the number ${of}`);
  if (Array.isArray(of)) return of.map(sent);
  if (of === null || typeof of !== "object") return of;
  return Object.fromEntries(Object.entries(of).map(([name, value]) => [name, sent(value)]));
}

// Encodes the key of a table: one value, or several in one text.
class Key {
  constructor(fields) {
    this.fields = fields;
    this.isOne = fields.length === 1;
    this.attribute = this.isOne ? fields[0] : "_id";
  }

  // Returns whether the text of this field is a prefix of the keys' texts.
  beginsWith(field) {
    return !this.isOne && this.fields[0] === field;
  }

  // The key with these values, or the lowest one that begins with them.
  of(values) {
    if (!this.isOne || values.length !== 1) return values.map(part).join("");
    if (!["bigint", "number", "string"].includes(typeof values[0])) noPart(values[0]);
    return sent(values[0]);
  }

  // Returns a text above every key that begins with these values.
  above(values) {
    return `${values.map(part).join("")}\u{10ffff}`;
  }
}

// Texts of parts sort as the parts do, and none begins another one of its kind: integers and doubles in hexadecimal digits
// of one length, the lowest as zero; a text ended by a blank, with `!` and two digits for a blank, a `!` and all below them.
function part(of) {
  if (typeof of === "bigint") return digits(BigInt.asUintN(64, of) ^ 1n << 63n);
  if (typeof of === "number" && !Number.isNaN(of)) {
    // 0.0 and -0.0 are one key.
    const bits = new BigUint64Array(Float64Array.of(of + 0).buffer)[0];
    return digits(bits >> 63n ? BigInt.asUintN(64, ~bits) : bits | 1n << 63n);
  }
  if (typeof of !== "string") noPart(of);
  return `${of.replace(/[\0-!]/g, (char) => `!${char.charCodeAt().toString(16).padStart(2, "0")}`)} `;
}

const digits = (of) => of.toString(16).padStart(16, "0");

function noPart(of) {
  throw new Unsupported(`${Array.isArray(of) ? "a list" : of} as a key`);
}

// Fields of a document. Those of an object within are called `data.level` where the table has such fields.
function flat(columns, fields) {
  return Object.fromEntries(Object.entries(fields).flatMap(([name, value]) =>
    columns.some((column) => column.startsWith(`${name}.`))
      ? Object.entries(value).map(([inner, own]) => [`${name}.${inner}`, sent(own)])
      : [[name, sent(value)]]));
}

const record = ({ key, columns }, values, fields) =>
  ({ [key.attribute]: key.of(Object.values(values)), ...(!key.isOne && sent(values)), ...flat(columns, fields) });

function replacement(of, values, fields) {
  const { key, columns } = of;
  return {
    update: { [key.attribute]: key.of(Object.values(values)), ...flat(columns, fields) },
    record: record(of, values, fields),
  };
}

// A search for the attributes `names`.
function search({ database, table, key }, filter, names) {
  if ("key" in filter) {
    const ids = [key.of(Object.values(filter.key))];
    return { operation: "search_by_id", database, table, ids, get_attributes: names };
  }
  const all = conditions(key, filter);
  return { operation: "search_by_conditions", database, table, conditions: all, get_attributes: names };
}

// The conditions of a filter, all of which have to hold.
function conditions(key, filter) {
  const [[kind, of]] = Object.entries(filter);
  const condition = (attribute, comparator, value) => ({ attribute, comparator, value });
  const range = (attribute, from, to) =>
    [condition(attribute, "greater_than_equal", from), condition(attribute, "less_than", to)];
  // Truth values sort before numbers and texts.
  const all = [condition(key.attribute, "greater_than_equal", false)];
  if (kind === "all") return all;
  if (kind === "key") return [condition(key.attribute, "equals", key.of(Object.values(of)))];
  if (kind === "every") return of.flatMap((each) => conditions(key, each));
  if (kind === "keys") {
    const ends = [of.from, of.to].map((end) => Object.values(end));
    const [from, to] = range(key.attribute, ...ends.map((end) => end.length > 0 ? key.of(end) : null));
    const bounds = [from, to].filter((_, i) => ends[i].length > 0);
    return bounds.length > 0 ? bounds : all;
  }
  const [[field, value]] = Object.entries(of);
  if (key.beginsWith(field)) {
    return kind === "equal" ? range(key.attribute, key.of([value]), key.above([value]))
      : range(key.attribute, key.of([value[0]]), key.of([value[1]]));
  }
  return kind === "equal" ? [condition(field, "equals", sent(value))] : range(field, sent(value[0]), sent(value[1]));
}

function find(of, { filter, order, limit, columns }) {
  const body = search(of, filter, columns);
  // Of one key there is at most one document, and that search takes neither.
  if (!("key" in filter)) {
    if (order !== null) body.sort = { attribute: order[0] ?? of.key.attribute, ...(order[1] < 0 && { descending: true }) };
    if (limit !== null) body.limit = Number(limit);
  }
  return { columns, body };
}

function update(of, filter, set) {
  const { key: { attribute, fields: own }, key } = of;
  const part = Object.keys(set).find((name) => own.includes(name));
  if (part !== undefined) throw new Unsupported(`setting ${part}, which is part of the key`);
  const fields = sent(set);
  if ("key" in filter) return { record: { [attribute]: key.of(Object.values(filter.key)), ...fields } };
  const bytes = Buffer.byteLength(JSON.stringify({ [attribute]: "", ...fields }));
  return { search: search(of, filter, [attribute]), attribute, bytes, fields };
}

function remove(of, filter) {
  const { attribute } = of.key;
  return { search: search(of, filter, [attribute]), attribute, bytes: 2 };
}

// The field `a.b` of a row, which is the field `b` of its object `a`.
const within = (row, name) => name.split(".").reduce((of, part) => of?.[part], row);

// A value as an answer has it. That integer is exact, but for JavaScript not safe.
function plain(of) {
  if (Array.isArray(of)) return of.map(plain);
  if (Math.abs(of) === 2 ** 53 && typeof of === "number") return BigInt(of);
  return of !== null && typeof of === "object" ? Object.values(of).map(plain) : of;
}
