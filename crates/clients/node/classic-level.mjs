// LevelDB by the npm package classic-level, with the LevelDB that it was built with.
//
// https://github.com/Level/classic-level#readme: `put`, `del` and `batch` return promises, and `iterator(range).all()` the
// pairs of a range, each read in another thread; `encoding: "buffer"` leaves keys and values as they are. `getSync` blocks
// the event loop, as other packages here do, "but can be significantly faster than `db.get()`"
// (https://github.com/Level/abstract-level#dbgetsynckey-options).

import { ClassicLevel } from "classic-level";

export const isAsync = true;

export const version = (of) => `classic-level ${of("classic-level")}`;

export async function open(connection) {
  const number = (name) => connection[name] === undefined ? undefined : Number(connection[name]);
  const sync = connection.sync === "true";
  // Its bloom filter has 10 bits for each key always.
  const own = new ClassicLevel(connection.dir, {
    createIfMissing: false,
    keyEncoding: "buffer",
    valueEncoding: "buffer",
    writeBufferSize: number("write_buffer_size"),
    cacheSize: number("lru_cache_size"),
    blockSize: number("block_size"),
    blockRestartInterval: number("block_restart_interval"),
    maxFileSize: number("max_file_size"),
    maxOpenFiles: number("max_open_files"),
  });
  await own.open();
  let batch = null;

  // The keys of a table begin with a byte, which is the value of the table's name after a zero byte.
  const prefix = (table) => own.get(Buffer.concat([Buffer.of(0), Buffer.from(table)]));

  return {
    settings: () => ({}),

    async transaction(writes, work) {
      if (!writes) return work();
      batch = [];
      const found = await work();
      await own.batch(batch, { sync });
      batch = null;
      return found;
    },

    async get(table) {
      const first = await prefix(table);
      return ([key]) => {
        const value = own.getSync(Buffer.concat([first, key]));
        return value === undefined ? [] : [[value]];
      };
    },

    async put(table) {
      const first = await prefix(table);
      return async ([key, value]) => {
        const whole = Buffer.concat([first, key]);
        if (batch) batch.push({ type: "put", key: whole, value });
        else await own.put(whole, value, { sync });
        return 1;
      };
    },

    async delete(table) {
      const first = await prefix(table);
      return async ([key]) => {
        const whole = Buffer.concat([first, key]);
        if (batch) batch.push({ type: "del", key: whole });
        else await own.del(whole, { sync });
        return -1;
      };
    },

    async scan(table) {
      const first = await prefix(table);
      const end = Buffer.of(first[0] + 1);
      return async ([low, high, way, most]) => {
        const pairs = await own.iterator({
          gte: low ? Buffer.concat([first, low]) : first,
          lt: high ? Buffer.concat([first, high]) : end,
          reverse: way < 0,
          limit: most ?? -1,
        }).all();
        return pairs.map(([key, value]) => [key.subarray(1), value]);
      };
    },

    async bulk(table) {
      const first = await prefix(table);
      return async (rows) => {
        await own.batch(rows.map(([key, value]) => ({ type: "put", key: Buffer.concat([first, key]), value })), { sync });
        return rows.length;
      };
    },

    close: () => own.close(),
  };
}
