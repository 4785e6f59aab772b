// MongoDB by the npm package mongodb, as embermark measures it with the durability {{tier}}.

import { BSON, MongoClient } from "mongodb";

const { Double, Long } = BSON;

// The server's socket, or its URL.
const SOCKET = "{{socket}}";
const URL = "{{url}}" || `mongodb://${encodeURIComponent(SOCKET)}/?directConnection=true`;
// This keeps the durability: each write waits for it. Where it is empty, the server's own is used.
const WRITE_CONCERN = "{{writeConcern}}";

// Open. A write is tried once, as measured. Leave retryWrites out where the network may fail.
const client = new MongoClient(URL, { retryWrites: false, retryReads: false });
await client.connect();
const options = WRITE_CONCERN ? { writeConcern: JSON.parse(WRITE_CONCERN) } : {};
const db = client.db("{{database}}", options);

// The first insert creates the collection. The key of a reading is its _id.
const readings = db.collection("readings");
// Integers beyond 32 bits are Longs and floats Doubles, so that each keeps its type.
const id = (sensor, ts) => ({ sensor, ts: Long.fromNumber(ts) });
const now = Date.now();

// One document with its own commit.
await readings.insertOne({ _id: id(1, now), value: new Double(20.5) });

// Several documents in one command. Each of them is committed by itself.
const documents = [2, 3, 4, 5].map((n) => ({ _id: id(n, now), value: new Double(20 + n) }));
await readings.insertMany(documents, { ordered: false });

// Read a document back.
console.log(await readings.findOne({ _id: id(3, now) }));
await client.close();
