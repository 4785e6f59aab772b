// DuckDB by the npm package @duckdb/node-api, as embermark measures it with durability {{tier}}.

import { BIGINT, DOUBLE, DuckDBInstance, version } from "@duckdb/node-api";

const FILE = "{{file}}";
// These settings keep the durability. ATTACH is empty where the file is opened directly.
const SETTINGS = JSON.parse("{{settings}}");
// Versions before 2.0 have no fsync_mode: they sync every commit.
if (Number.parseInt(version().slice(1)) < 2) delete SETTINGS.fsync_mode;
const SET = JSON.parse("{{set}}");
const ATTACH = "{{attach}}";

// Open the file, or attach it to a database in memory.
const instance = await DuckDBInstance.create(ATTACH ? ":memory:" : FILE, SETTINGS);
const db = await instance.connect();
const file = FILE.replaceAll("'", "''");
if (ATTACH) await db.run(`ATTACH '${file}' AS embermark (${ATTACH}); USE embermark`);
for (const [name, value] of Object.entries(SET)) await db.run(`SET ${name} = '${value}'`);
// Short statements are fastest on one thread. Before long questions: RESET threads.
await db.run("SET threads = 1");

await db.run(`CREATE TABLE IF NOT EXISTS readings
  (sensor BIGINT, ts BIGINT, value DOUBLE, PRIMARY KEY (sensor, ts))`);

// Prepare once, use often. Values are bound with their types: a BIGINT is a BigInt.
const insert = await db.prepare("INSERT INTO readings (sensor, ts, value) VALUES (?, ?, ?)");
const select = await db.prepare("SELECT * FROM readings WHERE sensor = ? AND ts = ?");
const now = BigInt(Date.now());
const put = (sensor, value) => {
  insert.bind([sensor, now, value], [BIGINT, BIGINT, DOUBLE]);
  return insert.run();
};

// One row with its own commit.
await put(1n, 20.5);

// Several rows in one transaction; ROLLBACK when one of them fails. Load many thousands by an
// appender instead.
await db.run("BEGIN");
for (const sensor of [2n, 3n, 4n, 5n]) await put(sensor, 20 + Number(sensor));
await db.run("COMMIT");

// Read a row back.
select.bind([3n, now], [BIGINT, BIGINT]);
console.log(await (await select.run()).getRowObjectsJS());
for (const statement of [insert, select]) statement.destroySync();
db.closeSync();
instance.closeSync();
