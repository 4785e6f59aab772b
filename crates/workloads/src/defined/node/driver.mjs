// The workload as a Node.js program. It is told what to do line by line on its standard input, and answers
// line by line on its standard output, all of it JSON: where it runs; then, told of the rows and how they go in, that
// it is ready; then, told to go, what it counted and how long that took. It ends with its standard input.

import { createInterface } from "node:readline";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function told() {
  const { value, done } = await lines.next();
  return done ? undefined : JSON.parse(value);
}

function say(what) {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}

async function work() {
  say({ version: process.version });
  const { module, connection, table, key, rows, together, most_ns } = await told();
  const { open } = await import(`data:text/javascript;base64,${Buffer.from(module).toString("base64")}`);
  const client = await open(connection);
  say({ version: client.version });
  if (await told() === undefined) return;

  const began = process.hrtime.bigint();
  const expired = most_ns === null ? () => false : () => process.hrtime.bigint() - began >= most_ns;
  const inserted = together
    ? await client.insertTogether(table, rows)
    : await client.insertEach(table, rows, expired);
  const counted = await client.count(table, key);
  const ended = process.hrtime.bigint();

  say({ inserted, counted, ns: Number(ended - began) });
  await told();
  await client.close();
}

work().catch((error) => say({ error: String(error?.message ?? error) })).finally(() => lines.return());
