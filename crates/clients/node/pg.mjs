// PostgreSQL by the npm package pg, which is written in JavaScript.
//
// https://node-postgres.com/features/queries: prepared statements by their name; https://node-postgres.com/features/types:
// integers of 64 bits and numerics are texts unless a parser is given. Rows are objects; they are arrays (`rowMode`) where
// an object would lose a column because another one has the same name. COPY needs another package: loads are INSERTs of
// many rows.

import pg from "pg";

export const isAsync = true;

export const version = (of) => `pg ${of("pg")}`;

// Returns a Number if it is exact, otherwise a BigInt.
const number = (text) => {
  const found = Number(text);
  return Number.isSafeInteger(found) || !/^-?\d+$/.test(text) ? found : BigInt(text);
};
pg.types.setTypeParser(pg.types.builtins.INT8, number);
pg.types.setTypeParser(pg.types.builtins.NUMERIC, number);

// Parameters of a statement are numbered by 16 bits.
const MOST_PARAMETERS = 65535, MOST_ROWS = 1000;

export async function open({ conninfo, settings }) {
  const own = new pg.Client(options(conninfo));
  await own.connect();
  if (settings) await own.query(settings);

  let statements = 0;
  const named = (text) => {
    statements += 1;
    return { name: `embermark_${statements}`, text };
  };

  const transaction = async (writes, work) => {
    await own.query(writes ? "BEGIN" : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    const found = await work();
    await own.query("COMMIT");
    return found;
  };

  return {
    async settings(names) {
      const found = {};
      for (const name of names) {
        const { rows: [row] } = await own.query("SELECT current_setting($1, true) AS value", [name]);
        found[name] = row.value;
      }
      return found;
    },

    transaction,

    run(text) {
      const { name } = named(text);
      return async (values) => (await own.query({ name, text, values })).rowCount;
    },

    query(text) {
      const { name } = named(text);
      let rowMode;
      return async (values) => {
        const { rows, fields } = await own.query({ name, text, values, rowMode });
        if (rowMode === undefined) {
          rowMode = loseColumns(fields) ? "array" : "object";
          if (rowMode === "array") return (await own.query({ name, text, values, rowMode })).rows;
        }
        return rows;
      };
    },

    bulk(table, columns) {
      const names = columns.map((name) => `"${name}"`).join(", ");
      const most = Math.min(MOST_ROWS, Math.floor(MOST_PARAMETERS / columns.length));
      const insert = (rows) => {
        const places = (row) => columns.map((_, column) => `$${row * columns.length + column + 1}`).join(", ");
        const all = Array.from({ length: rows }, (_, row) => `(${places(row)})`).join(", ");
        return named(`INSERT INTO "${table}" (${names}) VALUES ${all}`);
      };
      const whole = insert(most);
      return (rows) => transaction(true, async () => {
        for (let at = 0; at < rows.length; at += most) {
          const some = rows.slice(at, at + most);
          const statement = some.length === most ? whole : insert(some.length);
          await own.query({ ...statement, values: some.flat() });
        }
        return rows.length;
      });
    },

    close: () => own.end(),
  };
}

// Converts libpq's `name=value name='value'` to the package's options. The package accepts a URL as it is.
function options(conninfo) {
  if (/^postgres(ql)?:/.test(conninfo)) return { connectionString: conninfo };
  const found = {};
  for (const [, name, value] of conninfo.matchAll(/(\w+)\s*=\s*('(?:[^'\\]|\\.)*'|\S*)/g)) {
    found[name] = value.replace(/^'(.*)'$/s, "$1").replace(/\\(.)/gs, "$1");
  }
  return { ...found, database: found.dbname };
}

// Whether a row as an object would lose columns, or their order.
function loseColumns(fields) {
  const names = fields.map(({ name }) => name);
  return new Set(names).size < names.length || names.some((name) => /^\d+$/.test(name));
}
