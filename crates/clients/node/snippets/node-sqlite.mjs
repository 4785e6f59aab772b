// SQLite by Node's own module node:sqlite, as embermark measures it with the durability {{tier}}.

import { DatabaseSync } from "node:sqlite";

const FILE = "{{file}}";
// These settings keep the durability.
const PRAGMAS = "{{pragmas}}";

// Open.
const db = new DatabaseSync(FILE);
for (const pragma of PRAGMAS.split("; ")) db.exec(`PRAGMA ${pragma}`);

db.exec(`CREATE TABLE IF NOT EXISTS readings
  (sensor INTEGER, ts INTEGER, value REAL, PRIMARY KEY (sensor, ts))`);

// Prepare once, use often.
const insert = db.prepare("INSERT INTO readings (sensor, ts, value) VALUES (?, ?, ?)");
const select = db.prepare("SELECT sensor, ts, value FROM readings WHERE sensor = ? AND ts = ?");
const now = Date.now();

// One row with its own commit.
insert.run(1, now, 20.5);

// Several rows in one transaction. ROLLBACK when one of them fails.
db.exec("BEGIN IMMEDIATE");
for (let sensor = 2; sensor < 6; sensor += 1) insert.run(sensor, now, 20 + sensor);
db.exec("COMMIT");

// Read a row back.
console.log(select.all(3, now));

db.close();
