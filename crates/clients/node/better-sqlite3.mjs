// SQLite by the npm package better-sqlite3, with the SQLite that it was built with.
//
// https://github.com/WiseLibs/better-sqlite3/blob/master/docs/api.md: statements prepared once, `run` and `all` with
// their parameters, `transaction(function)` with its variant `immediate`, and `pragma`. Rows are objects; they are
// arrays (`raw`) where an object would lose a column because another one has the same name.

import Database from "better-sqlite3";

export const isAsync = false;

export function version(of) {
  const own = new Database(":memory:");
  const sqlite = own.prepare("SELECT sqlite_version()").pluck().get();
  own.close();
  return `better-sqlite3 ${of("better-sqlite3")}, SQLite ${sqlite}`;
}

export function open({ file, pragmas }) {
  // Whether integers are returned as BigInts: docs/integer.md of the package.
  let isExact = false;
  const own = new Database(file);
  for (const pragma of pragmas.split("; ")) own.pragma(pragma);
  const atomically = own.transaction((work) => work());

  const transaction = (writes, work) => writes ? atomically.immediate(work) : atomically.deferred(work);

  // The package takes the number in ?1 for a name. Where each number occurs once and in order, ? is the same.
  const prepare = (text) => {
    const inOrder = [...text.matchAll(/\?(\d+)/g)].every(([, number], i) => Number(number) === i + 1);
    return inOrder
      ? { statement: own.prepare(text.replace(/\?\d+/g, "?")) }
      : { statement: own.prepare(text), bound: (params) => Object.fromEntries(params.map((value, i) => [i + 1, value])) };
  };

  return {
    settings: (names) => Object.fromEntries(names.map((name) => [name, own.pragma(name, { simple: true })])),
    transaction,

    run(text) {
      const { statement, bound } = prepare(text);
      return bound ? (params) => statement.run(bound(params)).changes : (params) => statement.run(params).changes;
    },

    query(text) {
      const { statement, bound } = prepare(text);
      statement.raw(loseColumns(statement.columns())).safeIntegers(isExact);
      return bound ? (params) => statement.all(bound(params)) : (params) => statement.all(params);
    },

    bulk(table, columns) {
      const names = columns.map((name) => `"${name}"`).join(", "), places = columns.map(() => "?").join(", ");
      const insert = own.prepare(`INSERT INTO "${table}" (${names}) VALUES (${places})`);
      return (rows) => transaction(true, () => {
        for (const row of rows) insert.run(row);
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
