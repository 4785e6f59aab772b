// DuckDB by the npm package @duckdb/node-api.
//
// https://duckdb.org/docs/stable/clients/node_neo/overview: prepared statements whose values are bound with the types of
// the parameters, `run` with rows of JavaScript's own values, and an appender that is given chunks for loads.

import {
  DuckDBDataChunkWriter, DuckDBInstance, DuckDBTypeId, JSToDuckDBValueConverter, jsToDuckDBValue, version as duckdb,
} from "@duckdb/node-api";

export const isAsync = true;

export const version = (of) => `@duckdb/node-api ${of("@duckdb/node-api")}, DuckDB ${duckdb()}`;

export async function open({ file, settings, set, attach, point, analytic, version }) {
  if (major(duckdb()) < major(version)) {
    throw new Unsupported(`the package's DuckDB ${duckdb()} does not open what DuckDB ${version} writes: give embermark the older \
library too (docs/clients.md)`);
  }
  const instance = await DuckDBInstance.create(attach ? ":memory:" : file, JSON.parse(settings));
  const own = await instance.connect();
  if (attach) await own.run(`ATTACH '${file.replaceAll("'", "''")}' AS embermark (${attach}); USE embermark`);
  for (const [name, value] of Object.entries(JSON.parse(set))) await own.run(`SET ${name} = '${value}'`);

  const transaction = async (writes, work) => {
    await own.run("BEGIN");
    const found = await work();
    await own.run("COMMIT");
    return found;
  };

  const statements = [];
  const prepare = async (text) => {
    const statement = await own.prepare(text);
    statements.push(statement);
    const types = Array.from({ length: statement.parameterCount }, (_, i) => {
      const type = statement.parameterType(i + 1);
      return KNOWN.has(type.typeId) ? type : undefined;
    });
    const bind = (params) => {
      statement.bind(params.map((value, i) => types[i] ? jsToDuckDBValue(value, types[i]) : value), types);
    };
    return { statement, bind };
  };

  return {
    async settings(names) {
      const reader = await own.runAndReadAll("SELECT name, value FROM duckdb_settings()");
      return Object.fromEntries(reader.getRowsJS().filter(([name]) => names.includes(name)));
    },

    expect: async (kind) => {
      const statement = { point, analytic }[kind];
      if (statement) await own.run(statement);
    },

    transaction,

    async run(text) {
      const { statement, bind } = await prepare(text);
      return async (params) => {
        bind(params);
        return (await statement.run()).rowsChanged;
      };
    },

    async query(text) {
      const { statement, bind } = await prepare(text);
      const read = loseColumns(statement) ? (result) => result.getRowsJS() : (result) => result.getRowObjectsJS();
      return async (params) => {
        bind(params);
        return read(await statement.run());
      };
    },

    async bulk(table, columns) {
      const names = (await own.runAndReadAll(`SELECT * FROM "${table}" LIMIT 0`)).columnNames();
      const places = names.map((name) => columns.indexOf(name));
      if (places.includes(-1)) throw new Unsupported("a load of some of a table's columns by its appender");
      const isInOrder = places.every((place, i) => place === i);
      return (rows) => transaction(true, async () => {
        const appender = await own.createAppender(table);
        const writer = DuckDBDataChunkWriter.forAppender(appender, { converter: JSToDuckDBValueConverter });
        for (const row of rows) writer.appendRow(isInOrder ? row : places.map((place) => row[place]));
        writer.flush();
        appender.closeSync();
        return rows.length;
      });
    },

    close() {
      for (const statement of statements) statement.destroySync();
      own.closeSync();
      instance.closeSync();
    },
  };
}

const major = (version) => parseInt(version.replace("v", ""), 10);

// Types of parameters that the statement reports. Others are bound as the package infers them.
const KNOWN = new Set([
  DuckDBTypeId.TINYINT, DuckDBTypeId.SMALLINT, DuckDBTypeId.INTEGER, DuckDBTypeId.BIGINT, DuckDBTypeId.HUGEINT,
  DuckDBTypeId.FLOAT, DuckDBTypeId.DOUBLE, DuckDBTypeId.VARCHAR, DuckDBTypeId.BLOB,
]);

// Whether a row as an object would lose columns, or their order.
function loseColumns(statement) {
  const names = Array.from({ length: statement.columnCount }, (_, i) => statement.columnName(i));
  return new Set(names).size < names.length || names.some((name) => /^\d+$/.test(name));
}
