// SQLite by the npm package better-sqlite3, as embermark measures it with the durability {{tier}}.

import Database from "better-sqlite3";

const FILE = "{{file}}";
// These settings keep the durability.
const PRAGMAS = "{{pragmas}}";

// Open.
const db = new Database(FILE);
for (const pragma of PRAGMAS.split("; ")) db.pragma(pragma);

db.exec(`CREATE TABLE IF NOT EXISTS readings
  (sensor INTEGER, ts INTEGER, value REAL, PRIMARY KEY (sensor, ts))`);

// Prepare once, use often.
const insert = db.prepare("INSERT INTO readings (sensor, ts, value) VALUES (?, ?, ?)");
const select = db.prepare("SELECT sensor, ts, value FROM readings WHERE sensor = ? AND ts = ?");
// Calls a function in a transaction, and rolls it back where the function throws.
const transaction = db.transaction((work) => work());
const now = Date.now();

// One row with its own commit.
insert.run([1, now, 20.5]);

// Several rows in one transaction.
transaction.immediate(() => {
  for (let sensor = 2; sensor < 6; sensor += 1) insert.run([sensor, now, 20 + sensor]);
});

// Read a row back.
console.log(select.all([3, now]));

db.close();
