// LevelDB by the npm package classic-level, as embermark measures it with the durability {{tier}}.

import { ClassicLevel } from "classic-level";

// This option of each write keeps the durability.
const SYNC = { sync: "{{sync}}" === "true" };
// Sizes of buffers, caches and files. Empty ones are LevelDB's own.
const size = (text) => text === "" ? undefined : Number(text);

// Open, or create.
const db = new ClassicLevel("{{dir}}", {
  keyEncoding: "buffer",
  valueEncoding: "buffer",
  writeBufferSize: size("{{write_buffer_size}}"), cacheSize: size("{{lru_cache_size}}"),
  blockSize: size("{{block_size}}"),
  blockRestartInterval: size("{{block_restart_interval}}"),
  maxFileSize: size("{{max_file_size}}"), maxOpenFiles: size("{{max_open_files}}"),
});
await db.open();

// A byte for the table, then sensor and ts as big-endian numbers, which sort by their value.
const key = (sensor, ts) => {
  const bytes = Buffer.alloc(17, 1);
  bytes.writeBigUInt64BE(BigInt(sensor), 1);
  bytes.writeBigUInt64BE(BigInt(ts), 9);
  return bytes;
};
const packed = (value) => Buffer.from(Float64Array.of(value).buffer);
const now = Date.now();

// One pair with its own commit.
await db.put(key(1, now), packed(20.5), SYNC);

// Several pairs at once, all or none.
const pairs = [2, 3, 4, 5].map((sensor) => [key(sensor, now), packed(20 + sensor)]);
await db.batch(pairs.map(([key, value]) => ({ type: "put", key, value })), SYNC);

// Read a pair back.
console.log(3, now, db.getSync(key(3, now)).readDoubleLE());
await db.close();
