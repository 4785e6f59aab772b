// PostgreSQL by the npm package pg, as embermark measures it with the durability {{tier}}.

import pg from "pg";

const CONNINFO = "{{conninfo}}";
// These statements keep the durability, together with the server's configuration.
const SETTINGS = "{{settings}}";

// Open. The package takes a URL, or an object of what libpq takes as name=value.
const options = {};
for (const [, name, value] of CONNINFO.matchAll(/(\w+)\s*=\s*('(?:[^'\\]|\\.)*'|\S*)/g)) {
  options[name] = value.replace(/^'(.*)'$/s, "$1").replace(/\\(.)/gs, "$1");
}
const isUrl = /^postgres(ql)?:/.test(CONNINFO);
const db = new pg.Client(
  isUrl ? { connectionString: CONNINFO } : { ...options, database: options.dbname },
);
await db.connect();
if (SETTINGS) await db.query(SETTINGS);
// Integers of 64 bits are texts otherwise.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

await db.query(`CREATE TABLE IF NOT EXISTS readings
  (sensor bigint, ts bigint, value double precision, PRIMARY KEY (sensor, ts))`);

// Statements with a name are prepared at their first use.
const INSERT = "INSERT INTO readings (sensor, ts, value) VALUES ($1, $2, $3)";
const SELECT = "SELECT * FROM readings WHERE sensor = $1 AND ts = $2";
const insert = (...values) => db.query({ name: "insert", text: INSERT, values });
const select = (...values) => db.query({ name: "select", text: SELECT, values });
const now = Date.now();

// One row with its own commit.
await insert(1, now, 20.5);

// Several rows in one transaction. ROLLBACK when one of them fails.
await db.query("BEGIN");
for (const sensor of [2, 3, 4, 5]) await insert(sensor, now, 20 + sensor);
await db.query("COMMIT");

// Read a row back.
console.log((await select(3, now)).rows);
await db.end();
