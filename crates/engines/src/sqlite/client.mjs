// SQLite by the npm package sqlite3: see NodeClient in crates/contract for what this exports.

import { createRequire } from "node:module";

// A function of the package that calls back, as a promise.
const promised = (object, method, ...values) => new Promise((resolve, reject) => {
  object[method](...values, (error, result) => error ? reject(error) : resolve(result));
});

export async function open({ package: folder, file, pragmas }) {
  const require = createRequire(folder);
  const sqlite3 = require(folder);
  const database = await new Promise((resolve, reject) => {
    const opened = new sqlite3.Database(file, (error) => error ? reject(error) : resolve(opened));
  });
  await promised(database, "exec", pragmas);

  // Uses one prepared statement, until the process is asked to end.
  const insert = async (table, rows, expired) => {
    const columns = Object.keys(rows[0]);
    const places = columns.map(() => "?").join(", ");
    const text = `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places})`;
    const statement = await new Promise((resolve, reject) => {
      const prepared = database.prepare(text, (error) => error ? reject(error) : resolve(prepared));
    });
    let inserted = 0;
    for (const row of rows) {
      if (inserted > 0 && expired()) break;
      await promised(statement, "run", Object.values(row));
      inserted += 1;
    }
    await promised(statement, "finalize");
    return inserted;
  };

  return {
    version: `sqlite3 ${require(`${folder}package.json`).version}, SQLite ${sqlite3.VERSION}`,
    insertEach: insert,
    insertTogether: async (table, rows) => {
      await promised(database, "exec", "BEGIN");
      const inserted = await insert(table, rows, () => false);
      await promised(database, "exec", "COMMIT");
      return inserted;
    },
    count: async (table, column) => {
      const row = await promised(database, "get", `SELECT COUNT(${column}) AS n FROM ${table}`);
      return row.n;
    },
    close: () => promised(database, "close"),
  };
}
