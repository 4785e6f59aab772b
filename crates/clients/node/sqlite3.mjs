// SQLite by the npm package sqlite3, which calls SQLite in other threads, with the SQLite that it was built with.
//
// https://github.com/TryGhost/node-sqlite3/wiki/API: `prepare`, `run` and `all` of a statement with its parameters, and
// `exec`. The package calls back; node:util's promisify makes promises of that. Many calls of a statement are queued
// without waiting for each, as the example in https://github.com/TryGhost/node-sqlite3#usage. Rows are objects only.

import { promisify } from "node:util";
import sqlite3 from "sqlite3";

export const isAsync = true;
export const noBigInts = true;

export const version = (of) => `sqlite3 ${of("sqlite3")}, SQLite ${sqlite3.VERSION}`;

export async function open({ file, pragmas }) {
  const own = await new Promise((resolve, reject) => {
    const opened = new sqlite3.Database(file, (error) => error ? reject(error) : resolve(opened));
  });
  const exec = promisify(own.exec.bind(own)), get = promisify(own.get.bind(own));
  for (const pragma of pragmas.split("; ")) await exec(`PRAGMA ${pragma}`);

  const statements = [];
  const prepare = (text) => new Promise((resolve, reject) => {
    const statement = own.prepare(text, (error) => error ? reject(error) : resolve(statement));
    statements.push(statement);
  });

  const transaction = async (writes, work) => {
    await exec(writes ? "BEGIN IMMEDIATE" : "BEGIN");
    const found = await work();
    await exec("COMMIT");
    return found;
  };

  const many = async (text) => {
    const statement = await prepare(text);
    return (rows) => new Promise((resolve, reject) => {
      let changes = 0, left = rows.length;
      for (const row of rows) {
        statement.run(row, function (error) {
          if (error) reject(error);
          changes += this.changes;
          left -= 1;
          if (left === 0) resolve(changes);
        });
      }
    });
  };

  return {
    async settings(names) {
      const found = {};
      for (const name of names) [found[name]] = Object.values(await get(`PRAGMA ${name}`));
      return found;
    },

    transaction,
    many,

    async run(text) {
      const statement = await prepare(text);
      return (params) => new Promise((resolve, reject) => {
        // The package passes the number of rows as a property of `this`.
        statement.run(params, function (error) {
          if (error) reject(error);
          else resolve(this.changes);
        });
      });
    },

    async query(text) {
      const statement = await prepare(text);
      return promisify(statement.all.bind(statement));
    },

    async bulk(table, columns) {
      const names = columns.map((name) => `"${name}"`).join(", "), places = columns.map(() => "?").join(", ");
      const insert = await many(`INSERT INTO "${table}" (${names}) VALUES (${places})`);
      return (rows) => transaction(true, () => insert(rows));
    },

    async close() {
      for (const statement of statements) await promisify(statement.finalize.bind(statement))();
      await promisify(own.close.bind(own))();
    },
  };
}
