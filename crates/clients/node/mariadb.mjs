// MariaDB by the npm package mariadb, MariaDB's own connector, which is written in JavaScript.
//
// https://mariadb.com/docs/connectors/mariadb-connector-nodejs/connector-nodejs-promise-api: `prepare` with `execute`, and
// `batch` for many rows. Decimals are numbers (`decimalAsNumber`), as sums of integers are decimals. Rows are objects; they
// are arrays (`rowsAsArray`, an option of the connection's own `execute`, which keeps statements prepared) where an object
// would lose a column because another one has the same name.

import { createConnection } from "mariadb";

export const isAsync = true;

export const version = (of) => `mariadb ${of("mariadb")}`;

export async function open({ socket, url, database, settings }) {
  const server = socket ? { socketPath: socket, user: "root" } : address(url);
  // The default of one second is too short for a busy device or a slow network.
  const connectTimeout = 60_000;
  const own = await createConnection({ ...server, database, charset: "utf8mb4", decimalAsNumber: true, connectTimeout });
  await own.query(settings);

  const statements = [];
  const prepare = async (text) => {
    const statement = await own.prepare(text);
    statements.push(statement);
    return statement;
  };

  const transaction = async (writes, work) => {
    await own.query(writes ? "BEGIN" : "START TRANSACTION WITH CONSISTENT SNAPSHOT");
    const found = await work();
    await own.commit();
    return found;
  };

  // Some statements return a result for each row.
  const many = (text) => async (rows) => {
    const results = [await own.batch(text, rows)].flat();
    return results.reduce((sum, { affectedRows }) => sum + affectedRows, 0);
  };

  return {
    async settings(names) {
      const rows = await own.query({ sql: "SHOW VARIABLES", rowsAsArray: true });
      return Object.fromEntries(rows.filter(([name]) => names.includes(name)));
    },

    transaction,
    many,

    async run(text) {
      const statement = await prepare(text);
      return async (params) => (await statement.execute(params)).affectedRows;
    },

    async query(text) {
      const statement = await prepare(text);
      if (loseColumns(statement.columns)) return (params) => own.execute({ sql: text, rowsAsArray: true }, params);
      return (params) => statement.execute(params);
    },

    bulk(table, columns) {
      const names = columns.map((name) => `\`${name}\``).join(", "), places = columns.map(() => "?").join(", ");
      const insert = many(`INSERT INTO \`${table}\` (${names}) VALUES (${places})`);
      return (rows) => transaction(true, () => insert(rows));
    },

    async close() {
      for (const statement of statements) statement.close();
      await own.end();
    },
  };
}

// Whether a row as an object would lose columns, or their order.
function loseColumns(columns) {
  const names = columns.map((column) => column.name());
  return new Set(names).size < names.length || names.some((name) => /^\d+$/.test(name));
}

// Returns the package's options for a URL.
function address(url) {
  const { hostname, port, username, password } = new URL(url);
  return {
    host: hostname, port: Number(port || 3306),
    user: decodeURIComponent(username), password: decodeURIComponent(password),
  };
}
