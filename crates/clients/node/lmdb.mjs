// LMDB by the npm package lmdb (lmdb-js), compiled with the LMDB whose files other programs read.
//
// https://github.com/kriszyp/lmdb-js#readme: `openDB` for each named database, keys and values as they are (`binary`), `get`,
// `putSync`, `removeSync` and `getRange`, and `transactionSync`. Its `put` and `remove` commit many calls together, some
// time later, so they are not used: commits are measured. By default it uses another format of files: see "use_data_v1" there.

import { closeSync, readdirSync, readlinkSync } from "node:fs";
import { open as openEnvironment } from "lmdb";

export const isAsync = false;

export const version = (of) => `lmdb ${of("lmdb")}`;

const BINARY = { keyEncoding: "binary", encoding: "binary" };

export function open({ dir, flags, map_bytes }) {
  const set = new Set(flags.split(" "));
  if (set.has("MDB_MAPASYNC")) throw new Unsupported("MDB_MAPASYNC, which the package lmdb of Node.js has no option for");
  const own = openEnvironment({
    path: dir,
    noSubdir: false,
    mapSize: Number(map_bytes),
    maxDbs: 40,
    noSync: set.has("MDB_NOSYNC"),
    noMetaSync: set.has("MDB_NOMETASYNC"),
    // Otherwise a commit returns before it is synced.
    overlappingSync: false,
    useWritemap: set.has("MDB_WRITEMAP"),
    noReadAhead: set.has("MDB_NORDAHEAD"),
    noMemInit: set.has("MDB_NOMEMINIT"),
    ...BINARY,
  });
  const tables = new Map();
  const opened = (name) => {
    if (!tables.has(name)) tables.set(name, own.openDB({ name, create: false, ...BINARY }));
    const table = tables.get(name);
    if (!table) throw new Error(`the database ${name} cannot be opened`);
    return table;
  };

  return {
    // The package has no function that returns them.
    settings: () => ({}),
    transaction: (writes, work) => writes ? own.transactionSync(work) : work(),

    get(name) {
      const table = opened(name);
      return ([key]) => {
        const value = table.get(key);
        return value === undefined ? [] : [[value]];
      };
    },

    count(name) {
      const table = opened(name);
      return () => table.getStats().entryCount;
    },

    put(name) {
      const table = opened(name);
      return ([key, value]) => Number(table.putSync(key, value));
    },

    delete(name) {
      const table = opened(name);
      return ([key]) => Number(table.removeSync(key));
    },

    scan(name) {
      const table = opened(name);
      return ([low, high, way, most]) => {
        const limit = most ?? undefined;
        if (way > 0) return pairs(table.getRange({ start: low ?? undefined, end: high ?? undefined, limit }));
        // Backwards the package's range has its upper end and not its lower one.
        return pairs(table.getRange({
          start: high ?? undefined, end: low ?? undefined, exclusiveStart: high !== null, inclusiveEnd: true, reverse: true,
          limit,
        }));
      };
    },

    // In the order of the keys, page after page without a search.
    bulk(name) {
      const table = opened(name);
      return (rows) => own.transactionSync(() => {
        for (const [key, value] of rows) table.putSync(key, value, { append: true });
        return rows.length;
      });
    },

    async close() {
      await own.close();
      closeFiles(dir);
    },
  };
}

// Closes the files of an environment. Compiled with the older LMDB the package does not find an environment that it is to
// close (version 3.5.6, `closeEnv` in src/env.cpp), so that other programs cannot open it with locks of their own.
function closeFiles(dir) {
  for (const file of readdirSync("/proc/self/fd")) {
    let path;
    try {
      path = readlinkSync(`/proc/self/fd/${file}`);
    } catch {
      // That of the listing itself.
    }
    if (path === `${dir}/data.mdb` || path === `${dir}/lock.mdb`) closeSync(Number(file));
  }
}

function pairs(range) {
  const found = [];
  for (const { key, value } of range) found.push([key, value]);
  return found;
}
