// SQLite by the module node:sqlite of Node.js itself, with the SQLite that it was built with.
//
// https://nodejs.org/api/sqlite.html: statements prepared once, `run` and `all` with their parameters, and `exec` for
// transactions. Rows are objects; they are arrays (`setReturnArrays`) where an object would lose a column because another
// one has the same name.

import { DatabaseSync } from "node:sqlite";

export const isAsync = false;

export const version = () => `node:sqlite, SQLite ${process.versions.sqlite}`;

export function open({ file, pragmas }) {
  // Whether integers are returned as BigInts; those beyond 2^53 are refused otherwise.
  let isExact = false;
  const own = new DatabaseSync(file);
  for (const pragma of pragmas.split("; ")) own.exec(`PRAGMA ${pragma}`);
  const setting = (name) => Object.values(own.prepare(`PRAGMA ${name}`).get())[0];

  const transaction = (writes, work) => {
    own.exec(writes ? "BEGIN IMMEDIATE" : "BEGIN");
    const found = work();
    own.exec("COMMIT");
    return found;
  };

  return {
    settings: (names) => Object.fromEntries(names.map((name) => [name, setting(name)])),
    transaction,

    run(text) {
      const statement = own.prepare(text);
      return (params) => statement.run(...params).changes;
    },

    query(text) {
      const statement = own.prepare(text);
      if (loseColumns(statement.columns())) statement.setReturnArrays(true);
      statement.setReadBigInts(isExact);
      return (params) => statement.all(...params);
    },

    bulk(table, columns) {
      const names = columns.map((name) => `"${name}"`).join(", "), places = columns.map(() => "?").join(", ");
      const insert = own.prepare(`INSERT INTO "${table}" (${names}) VALUES (${places})`);
      return (rows) => transaction(true, () => {
        for (const row of rows) insert.run(...row);
        return rows.length;
      });
    },

    exact: () => isExact = true,
    close: () => own.close(),
  };
}

// Whether a row as an object would lose columns, or their order.
function loseColumns(columns) {
  const names = columns.map(({ name }) => name);
  return new Set(names).size < names.length || names.some((name) => /^\d+$/.test(name));
}
