// LMDB by the npm package lmdb, as embermark measures it with the durability {{tier}}.

import { open } from "lmdb";

// These flags keep the durability. With none, each commit is synced before putSync returns.
const FLAGS = new Set("{{flags}}".split(" "));
const BINARY = { keyEncoding: "binary", encoding: "binary" };

// Open, or create. The package cannot set MDB_MAPASYNC.
const env = open({
  path: "{{dir}}",
  noSubdir: false,
  mapSize: Number("{{map_bytes}}"),
  maxDbs: 40,
  noSync: FLAGS.has("MDB_NOSYNC"), noMetaSync: FLAGS.has("MDB_NOMETASYNC"), overlappingSync: false,
  useWritemap: FLAGS.has("MDB_WRITEMAP"),
  noReadAhead: FLAGS.has("MDB_NORDAHEAD"), noMemInit: FLAGS.has("MDB_NOMEMINIT"),
  ...BINARY,
});
const readings = env.openDB({ name: "readings", ...BINARY });

// Sensor and ts as big-endian numbers, which sort by their value.
const key = (sensor, ts) => {
  const bytes = Buffer.alloc(16);
  bytes.writeBigUInt64BE(BigInt(sensor), 0);
  bytes.writeBigUInt64BE(BigInt(ts), 8);
  return bytes;
};
const packed = (value) => Buffer.from(Float64Array.of(value).buffer);
const now = Date.now();

// One pair with its own commit. Unlike putSync, put commits some time later.
readings.putSync(key(1, now), packed(20.5));

// Several pairs in one transaction.
env.transactionSync(() => {
  for (const sensor of [2, 3, 4, 5]) readings.putSync(key(sensor, now), packed(20 + sensor));
});

// Read a pair back.
console.log(3, now, readings.get(key(3, now)).readDoubleLE());
await env.close();
