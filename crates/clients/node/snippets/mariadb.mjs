// MariaDB by the npm package mariadb, as embermark measures it with the durability {{tier}}.

import { createConnection } from "mariadb";

// The server's socket, or its URL.
const SOCKET = "{{socket}}";
const ADDRESS = "{{url}}";
// Settings of the connection. The server's configuration keeps the durability.
const SETTINGS = "{{settings}}";

// Open.
let server = { socketPath: SOCKET, user: "root" };
if (!SOCKET) {
  const { hostname: host, port, username, password } = new URL(ADDRESS);
  const [user, secret] = [username, password].map(decodeURIComponent);
  server = { host, port: Number(port || 3306), user, password: secret };
}
const options = { database: "{{database}}", charset: "utf8mb4", decimalAsNumber: true };
const db = await createConnection({ ...server, ...options });
await db.query(SETTINGS);

await db.query(`CREATE TABLE IF NOT EXISTS readings
  (sensor BIGINT, ts BIGINT, value DOUBLE, PRIMARY KEY (sensor, ts)) ENGINE = InnoDB`);

// Prepare once, use often.
const INSERT = "INSERT INTO readings (sensor, ts, value) VALUES (?, ?, ?)";
const insert = await db.prepare(INSERT);
const select = await db.prepare("SELECT * FROM readings WHERE sensor = ? AND ts = ?");
const now = Date.now();

// One row with its own commit.
await insert.execute([1, now, 20.5]);

// Several rows in one transaction, sent at once. db.rollback() when one of them fails.
await db.query("BEGIN");
await db.batch(INSERT, [2, 3, 4, 5].map((sensor) => [sensor, now, 20 + sensor]));
await db.commit();

// Read a row back. BIGINTs are BigInts.
console.log([...await select.execute([3, now])]);
for (const statement of [insert, select]) statement.close();
await db.end();
