// A client in Node.js: runs the operations of a phase instead of embermark, and times them with its own clock.
//
// docs/client-protocol.md describes the messages. The code for each package is in a file of its own in this folder. Such
// a file imports the package by its name and exports `version(of)`, where `of` returns a package's version,
// `open(connection)`, and `isAsync`, which is true if some of its calls return promises. `open` returns an object, or a
// promise of it, with
//
// - `settings(names)`: the values of settings, as the database reports them;
// - optionally `expect(kind)`: "point" for many short statements, "analytic" for few over many rows;
// - `transaction(writes, work)`: calls `work` in a transaction;
// - for SQL `run(text)` and `query(text)`, for pairs `get(table)`, `put(table)`, `delete(table)` and `scan(table)`, for
//   documents `insert(table)`, `upsert(table)`, `find(table)`, `update(table)`, `remove(table)` and `ask(table)`: a
//   function of an array of parameters that does the call and returns its answer, the number of rows changed or the
//   rows, each an array or an object;
// - optionally `prepared(call, table, rows)`, which converts the parameters of a call to the form that its function
//   takes, before the clock starts, with the table as `prepare` describes it; and `rows(answer)`, which converts an
//   answer to rows after the clock has stopped;
// - if the package has one, `many(text)`: a function that does many calls at once, within a transaction;
// - `bulk(table, columns)`: a function that loads an array of rows by the fastest path that the package documents;
// - if the package returns inexact Numbers by default, `exact()`: makes its later `query` functions return BigInts;
// - `close()`.
//
// Integers are Numbers where those are exact, else BigInts. A package that takes no BigInts exports `noBigInts`.

import { Console } from "node:console";
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { registerHooks } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const NAMES = [, "run", "query", "bulk", "get", "put", "delete", "scan", "insert", "upsert", "find", "update",
  "remove", "ask", "count"];
const RUN = 1;
// Calls that answer with a number of rows.
const CHANGES = new Set(["run", "bulk", "put", "delete", "insert", "upsert", "update", "remove", "count"]);

const INEXACT = "integers beyond 2^53, which this package of Node.js does not pass exactly";

// An error for what the package cannot do, with the reason.
class Unsupported extends Error {}
globalThis.Unsupported = Unsupported;

const now = () => performance.now() * 1e6;

// Reads the file of operations.
class Reader {
  constructor(path) {
    this.data = readFileSync(path);
    this.view = new DataView(this.data.buffer, this.data.byteOffset, this.data.byteLength);
    this.at = 0;
    this.hasBigInts = false;
  }

  word() {
    const word = this.view.getBigInt64(this.at, true);
    this.at += 8;
    if (Number.MIN_SAFE_INTEGER <= word && word <= Number.MAX_SAFE_INTEGER) return Number(word);
    this.hasBigInts = true;
    return word;
  }

  float() {
    const float = this.view.getFloat64(this.at, true);
    this.at += 8;
    return float;
  }

  padded(n) {
    const piece = this.data.subarray(this.at, this.at + n);
    this.at += Math.ceil(n / 8) * 8;
    return piece;
  }

  column(n) {
    const kind = this.word(), hasNulls = this.word();
    if (kind === 0) return new Array(n).fill(null);
    const nulls = hasNulls ? this.padded(n) : undefined;
    let values;
    if (kind === 1) values = Array.from({ length: n }, () => this.word());
    else if (kind === 2) values = Array.from({ length: n }, () => this.float());
    else {
      const ends = Array.from({ length: n + 1 }, () => this.word());
      const piece = this.padded(ends[n]);
      const slice = kind === 3 ? (a, b) => piece.toString("utf8", a, b) : (a, b) => piece.subarray(a, b);
      values = Array.from({ length: n }, (_, i) => slice(ends[i], ends[i + 1]));
    }
    return nulls ? values.map((value, i) => nulls[i] ? null : value) : values;
  }
}

// Operations that make the same calls with different values.
class Block {
  constructor(reader) {
    this.transaction = reader.word();
    this.writes = reader.word() === 1;
    this.operations = reader.word();
    this.calls = Array.from({ length: reader.word() }, () => {
      const code = reader.word(), target = reader.word();
      const columns = Array.from({ length: reader.word() }, () => reader.column(this.operations));
      return { code, target, rows: transposed(columns, this.operations) };
    });
  }

  // Prepares the parameters of each operation with `database`: those of its only call, or of each call.
  prepare(database, tables) {
    if (database.prepared) {
      for (const call of this.calls) call.rows = database.prepared(NAMES[call.code], tables[call.target], call.rows);
    }
    this.params = this.calls.length === 1 ? this.calls[0].rows
      : transposed(this.calls.map((call) => call.rows), this.operations);
  }

  // Sets the function that does an operation with the functions of its calls.
  bind(calls, isAsync) {
    [this.operation] = calls;
    if (calls.length === 1) return;
    this.operation = isAsync
      ? async (params) => {
        const answers = [];
        for (let i = 0; i < calls.length; i += 1) answers.push(await calls[i](params[i]));
        return answers;
      }
      : (params) => {
        const answers = [];
        for (let i = 0; i < calls.length; i += 1) answers.push(calls[i](params[i]));
        return answers;
      };
  }
}

// Converts columns to rows.
function transposed(columns, n) {
  return Array.from({ length: n }, (_, row) => columns.map((column) => column[row]));
}

// The operations of a phase on an open database.
class Phase {
  constructor(database, { isAsync, noBigInts }, message) {
    const reader = new Reader(message.operations);
    if (reader.padded(8).toString("latin1") !== "embmops1") {
      throw new Error("the file of operations is of another version");
    }
    Object.assign(this, { database, isAsync, noBigInts, message });
    this.blocks = Array.from({ length: reader.word() }, () => new Block(reader));
    if (noBigInts && reader.hasBigInts) throw new Unsupported(INEXACT);
    // No warm-up shows whether it returns what it stores.
    if (reader.hasBigInts && !message.warm_up) database.exact?.();
    for (const block of this.blocks) block.prepare(database, message.tables);
    this.groups = [];
    for (const block of this.blocks) {
      const last = this.groups.at(-1);
      if (block.transaction && last?.transaction === block.transaction) last.blocks.push(block);
      else this.groups.push({ transaction: block.transaction, writes: block.writes, blocks: [block] });
    }
  }

  async prepare() {
    await this.database.expect?.(this.message.expected);
    await this.bind();
    // This discards compiled code, so it comes before the warm-up.
    collectGarbage();
    if (!this.message.warm_up) return;
    if (await this.isExact()) return;
    if (!this.database.exact) throw new Unsupported(INEXACT);
    this.database.exact();
    await this.bind();
    await this.once(Infinity);
  }

  // Does every operation. Returns whether each integer was returned exactly.
  async isExact() {
    try {
      await this.once(Infinity);
    } catch (error) {
      if (error?.code === "ERR_OUT_OF_RANGE") return false;
      throw error;
    }
    const isExact = (of) => Array.isArray(of) ? of.every(isExact)
      : typeof of === "number" ? Number.isSafeInteger(of) || !Number.isInteger(of)
      : of === null || typeof of !== "object" || ArrayBuffer.isView(of) || of instanceof Date || Object.values(of).every(isExact);
    return (!this.database.exact && !this.noBigInts) || isExact(this.answers);
  }

  // Sets the functions that do the calls of each block.
  async bind() {
    const functions = new Map();
    for (const block of this.blocks) {
      const calls = [];
      for (const { code, target } of block.calls) {
        const isMany = code === RUN && block.calls.length === 1 && block.transaction > 0 && block.operations > 1;
        const name = isMany && this.database.many ? "many" : NAMES[code];
        const key = `${name} ${target}`;
        if (!functions.has(key)) functions.set(key, await this.function(name, target));
        calls.push(functions.get(key));
        block.isTotal = name === "many" || name === "bulk";
      }
      block.bind(calls, this.isAsync);
    }
  }

  // Returns the function that does a call.
  function(name, target) {
    const { database, message } = this;
    if (!database[name]) throw new Unsupported(`this client has no ${name}`);
    if (name === "run" || name === "query" || name === "many") return database[name](message.statements[target]);
    const { name: table, columns } = message.tables[target];
    return database[name](table, columns);
  }

  async go(mostNs) {
    const repeatNs = this.message.repeat_ns;
    const began = now();
    const most = mostNs === null ? Infinity : began + mostNs;
    await this.once(most);
    let { operations, capped } = this;
    if (repeatNs !== null) {
      while (!capped && now() - began < repeatNs) {
        await this.once(most);
        operations += this.operations;
        capped = this.capped;
      }
    }
    return { elapsed_ns: Math.round(now() - began), operations, capped };
  }

  // Does every operation once, until `most`. Waits for nothing if the package returns no promises.
  async once(most) {
    Object.assign(this, { answers: [], samples: [], operations: 0, capped: false });
    for (const group of this.groups) {
      if (this.operations > 0 && most < Infinity && now() >= most) {
        this.capped = true;
        break;
      }
      const work = this.isAsync ? () => this.workAsync(group.blocks, most) : () => this.work(group.blocks, most);
      const working = group.transaction ? this.database.transaction(group.writes, work) : work();
      if (this.isAsync) await working;
      if (this.capped) break;
    }
  }

  work(blocks, most) {
    for (const block of blocks) {
      const answers = block.isTotal ? [] : new Array(block.operations);
      this.answers.push(answers);
      if (block.isTotal) answers.push(block.operation(block.params));
      else loop(block.operation, block.params, answers, most, this.samples);
      if (!this.goesOn(block, answers)) break;
    }
  }

  async workAsync(blocks, most) {
    for (const block of blocks) {
      const answers = block.isTotal ? [] : new Array(block.operations);
      this.answers.push(answers);
      if (block.isTotal) answers.push(await block.operation(block.params));
      else await loopAsync(block.operation, block.params, answers, most, this.samples);
      if (!this.goesOn(block, answers)) break;
    }
  }

  // Counts the operations of a block. Returns whether all of them were done.
  goesOn(block, answers) {
    const did = block.isTotal ? block.operations : answers.length;
    this.operations += did;
    this.capped = did < block.operations;
    return !this.capped;
  }

  // Writes the answers to their file.
  write() {
    const writer = new Writer(), { rows } = this.database;
    writer.text("embmans1");
    writer.word(this.samples.length);
    for (const sample of this.samples) writer.word(Math.round(sample));
    writer.word(this.answers.length);
    this.answers.forEach((answers, i) => {
      const { calls, isTotal, operations } = this.blocks[i];
      writer.word(isTotal ? 1 : 0);
      writer.word(isTotal ? operations : answers.length);
      for (const answer of answers) {
        calls.forEach(({ code }, call) => writer.answer(NAMES[code], calls.length === 1 ? answer : answer[call], rows));
      }
    });
    const file = openSync(this.message.answers, "r+");
    for (let at = 0; at < writer.at;) at += writeSync(file, writer.data, at, Math.min(writer.at - at, 1 << 30));
    closeSync(file);
  }
}

// Does an operation with each of these parameters, and times some of them.
function loop(operation, params, answers, most, samples) {
  const timed = [], count = params.length;
  let every = 1, due = 8, at = 0;
  while (at < count) {
    const began = now();
    answers[at] = operation(params[at]);
    const ended = now();
    timed.push(ended - began);
    at += 1;
    if (ended >= most) break;
    if (timed.length === due) {
      every = sampling(timed.slice(-8));
      due *= 2;
    }
    const next = Math.min(at + every - 1, count);
    for (; at < next; at += 1) answers[at] = operation(params[at]);
  }
  answers.length = at;
  for (const sample of timed) samples.push(sample);
}

// Does the same for an operation that returns a promise.
async function loopAsync(operation, params, answers, most, samples) {
  const timed = [], count = params.length;
  let every = 1, due = 8, at = 0;
  while (at < count) {
    const began = now();
    const answer = operation(params[at]);
    // Waits only for a promise.
    answers[at] = answer instanceof Promise ? await answer : answer;
    const ended = now();
    timed.push(ended - began);
    at += 1;
    if (ended >= most) break;
    if (timed.length === due) {
      every = sampling(timed.slice(-8));
      due *= 2;
    }
    const next = Math.min(at + every - 1, count);
    for (; at < next; at += 1) {
      const answer = operation(params[at]);
      answers[at] = answer instanceof Promise ? await answer : answer;
    }
  }
  answers.length = at;
  for (const sample of timed) samples.push(sample);
}

// Returns how many operations share one reading of the clock, because a reading may cost half a percent. It is called
// repeatedly, because code becomes faster while it runs.
function sampling(timed) {
  const cost = 2 * Math.min(...Array.from({ length: 8 }, () => -(now() - now())));
  return Math.floor(cost / (0.005 * Math.max(timed.sort((a, b) => a - b)[4], 1))) | 1;
}

// Writes the file of answers.
class Writer {
  constructor() {
    this.data = Buffer.allocUnsafe(1 << 20);
    this.at = 0;
  }

  // Reserves room for more bytes. Returns the position where they begin.
  room(n) {
    const at = this.at;
    this.at += n;
    if (this.at > this.data.length) {
      const data = Buffer.allocUnsafe(Math.max(2 * this.data.length, this.at));
      this.data.copy(data, 0, 0, at);
      this.data = data;
    }
    return at;
  }

  word(value) {
    const at = this.room(8);
    if (typeof value === "number" && value >= 0 && value < 2 ** 48) {
      this.data.writeUIntLE(value, at, 6);
      this.data.writeUInt16LE(0, at + 6);
    } else {
      this.data.writeBigInt64LE(BigInt(value), at);
    }
  }

  byte(value) {
    const at = this.room(1);
    this.data[at] = value;
  }

  text(value) {
    const length = Buffer.byteLength(value);
    const at = this.room(length);
    this.data.utf8Write(value, at, length);
  }

  length(value) {
    const at = this.room(4);
    this.data.writeUInt32LE(value, at);
  }

  answer(name, found, made) {
    if (CHANGES.has(name)) {
      this.word(found);
      return;
    }
    const rows = (made ? made(found) : found).map((row) => Array.isArray(row) ? row : Object.values(row));
    this.word(rows.length);
    this.word(rows.length > 0 ? rows[0].length : 0);
    for (const row of rows) for (const value of row) this.value(value);
  }

  value(of) {
    if (of === null || of === undefined) {
      this.byte(0);
    } else if (typeof of === "string") {
      this.byte(3);
      this.length(Buffer.byteLength(of));
      this.text(of);
    } else if (typeof of === "boolean") {
      this.value(Number(of));
    } else if (Number.isSafeInteger(of) && !Object.is(of, -0)) {
      this.byte(1);
      this.word(of);
    } else if (typeof of === "bigint" && BigInt.asIntN(64, of) === of) {
      this.byte(1);
      this.word(of);
    } else if (typeof of === "number" || typeof of === "bigint") {
      this.byte(2);
      const at = this.room(8);
      this.data.writeDoubleLE(Number(of), at);
    } else if (Array.isArray(of)) {
      this.byte(5);
      this.length(of.length);
      for (const value of of) this.value(value);
    } else if (of instanceof Uint8Array) {
      this.byte(4);
      this.length(of.length);
      const at = this.room(of.length);
      this.data.set(of, at);
    } else if (of instanceof Date) {
      this.value(of.toISOString().replace("T", " ").replace("Z", "").replace(".000", ""));
    } else {
      throw new TypeError(`an answer has a value of type ${of.constructor?.name ?? typeof of}`);
    }
  }
}

// The function of --expose-gc. Garbage of the preparation is collected before the clock runs.
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc");

// Times an empty operation in the loop of all others. Returns the least of a few times, because the first ones are of
// code that is not compiled yet.
function floor(operations) {
  const params = Array.from({ length: operations }, () => []);
  const once = () => {
    const answers = new Array(operations);
    collectGarbage();
    const began = now();
    loop(() => 0, params, answers, Infinity, []);
    return now() - began;
  };
  return { elapsed_ns: Math.round(Math.min(once(), once(), once(), once())), operations, capped: false };
}

// Loads a package's file as a module, which imports packages from `folder`.
function load({ source }, folder) {
  if (folder !== null) {
    const parentURL = pathToFileURL(`${folder}/`).href;
    registerHooks({
      resolve: (name, context, next) =>
        next(name, context.parentURL?.startsWith("data:") ? { ...context, parentURL } : context),
    });
  }
  return import(`data:text/javascript;base64,${Buffer.from(source).toString("base64")}`);
}

// Returns a function that returns the version of a package in a folder.
function versionIn(folder) {
  return (name) => JSON.parse(readFileSync(`${folder}/node_modules/${name}/package.json`)).version;
}

async function main() {
  globalThis.console = new Console(process.stderr);
  const say = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);
  let binding, database, phase;
  const answer = async (message) => {
    switch (message.do) {
      case "load":
        binding = await load(message.binding, message.packages);
        return { version: `Node.js ${process.versions.node}, ${binding.version(versionIn(message.packages))}` };
      case "open":
        database = await binding.open(message.connection);
        return { settings: await database.settings(message.read_back) };
      case "prepare":
        phase = new Phase(database, binding, message);
        await phase.prepare();
        return {};
      case "go":
        return phase.go(message.most_ns);
      case "answer":
        phase.write();
        phase = undefined;
        return {};
      case "close":
        await database.close();
        database = phase = undefined;
        return {};
      case "floor":
        return floor(message.operations);
      default:
        return { error: `unknown request '${message.do}' in this version of the protocol` };
    }
  };
  say({ protocol: 1 });
  for await (const line of createInterface({ input: process.stdin })) {
    try {
      say(await answer(JSON.parse(line)));
    } catch (error) {
      if (error instanceof Unsupported) say({ unsupported: error.message });
      else say({ error: `${error?.name ?? "Error"}: ${error?.message ?? error}` });
    }
  }
  process.exit();
}

await main();
