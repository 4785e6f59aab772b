import assert from "node:assert/strict";
import { test } from "node:test";
import { advise, meant, type MustHaves } from "../src/advice";
import { advice, golden } from "./browser";

const must = (changes: Partial<MustHaves> = {}): MustHaves => ({
  tier: "process", sql: false, embedded: false, memory: null, licence: "other", rate: null, ...changes,
});
const ids = (advised: ReturnType<typeof advise>) => advised.ranked.map(({ engine }) => engine.engine);

test("without any weight nothing is ranked", () => {
  assert.deepEqual(ids(advise(advice(), must(), {})), []);
});

test("what matters decides the order", () => {
  assert.deepEqual(ids(advise(advice(), must(), { load: 5 })), ["beta", "gamma", "alpha"]);
  assert.deepEqual(ids(advise(advice(), must(), { read: 5 })), ["alpha", "gamma", "beta"]);
});

test("a score is the weighted geometric mean of the ratios", () => {
  const [first] = advise(advice(), must({ sql: true, embedded: true }), { load: 1, read: 3 }).ranked;
  // exp((1 ln 4 + 3 ln 1) / 4)
  assert.ok(Math.abs((first?.score ?? 0) - 4 ** 0.25) < 1e-12);
});

test("twice every weight is the same advice", () => {
  const once = advise(advice(), must(), { load: 1, read: 2 }).ranked;
  assert.deepEqual(advise(advice(), must(), { load: 2, read: 4 }).ranked, once);
});

test("who was not measured for what matters stands apart and is not ranked", () => {
  const advised = advise(advice(), must(), { load: 1, memory: 1 });
  assert.deepEqual(ids(advised), ["alpha", "beta"]);
  assert.deepEqual(advised.unmeasured.map(({ engine, missing }) => [engine.engine, missing]), [["gamma", ["memory"]]]);
});

test("why somebody was not measured is said once: what its cell did not do, else what each figure lacks", () => {
  const table = advice();
  const why = () => advise(table, must(), { read: 1, memory: 1 }).unmeasured.find(({ engine }) => engine.engine === "gamma")?.why;
  const gamma = table.engines.find(({ engine }) => engine === "gamma");
  assert.ok(gamma && gamma.shortfalls.length > 0);
  const lost = gamma.shortfalls;
  gamma.lacks = { memory: ["sensors 10k single: timed out", "sensors 10k single: timed out"], load: ["failed"] };
  assert.deepEqual(why(), lost);
  gamma.shortfalls = [];
  assert.deepEqual(why(), ["sensors 10k single: timed out"]);
});

test("every must-have leaves out who lacks it, and says why", () => {
  const left = (changes: Partial<MustHaves>) =>
    advise(advice(), must(changes), { load: 1 }).excluded.map(({ engine, why }) => `${engine.engine}: ${why}`);
  assert.deepEqual(left({ sql: true }), ["beta: it has no SQL"]);
  assert.deepEqual(left({ embedded: true }), ["gamma: it is a server"]);
  assert.deepEqual(left({ memory: 10e6 }), ["beta: it uses 90.0 MB", "gamma: its memory was not measured"]);
  assert.deepEqual(left({ licence: "permissive" }), ["beta: its licence is AGPL-3.0"]);
  assert.deepEqual(ids(advise(advice(), must({ tier: "power" }), { load: 1 })), ["alpha"]);
});

test("an engine durable enough for the tier and not measured in it is named", () => {
  const excluded = advise(advice(), must({ tier: "none" }), { load: 1 }).excluded.map(({ engine, why }) => `${engine.engine}: ${why}`);
  assert.deepEqual(excluded, ["alpha", "beta", "gamma"].map((id) => `${id}: its effective durability is none, but it was not measured in that tier`));
});

test("an order is certain only where intervals do not meet", () => {
  const open = advise(advice(), must(), { load: 1 }).ranked.map(({ engine, uncertain }) => [engine.engine, uncertain.map((other) => other.engine)]);
  // gamma has no interval.
  assert.deepEqual(open, [["beta", ["gamma"]], ["gamma", ["alpha"]], ["alpha", []]]);
});

test("reasons name the best and the worst of what matters", () => {
  const [beta] = advise(advice(), must(), { load: 9, read: 1 }).ranked;
  assert.deepEqual(beta?.reasons, ["for it: loading: the best measured", "against it: point reads: 9.00x the best"]);
});

test("resources are of ingest where nothing else that writes matters", () => {
  const table = { criteria: ["ingest", "ingest-wear", "ingest-memory"].map((id) => ({ id, label: id, about: id })) } as Parameters<typeof meant>[0];
  assert.deepEqual(meant(table, { ingest: 3, wear: 2, memory: 1 }), { ingest: 3, "ingest-wear": 2, "ingest-memory": 1 });
  assert.deepEqual(meant(table, { ingest: 3, analytics: 1, wear: 2, memory: 1 }), { ingest: 3, analytics: 1, "ingest-wear": 2, memory: 1 });
  assert.deepEqual(meant(table, { ingest: 3, load: 1, wear: 2 }), { ingest: 3, load: 1, wear: 2 });
  assert.deepEqual(meant(table, { wear: 2 }), { wear: 2 });
});

test("the orders that the program made come out of the exported table again", () => {
  const page = golden();
  const tables = (page.advice[0]?.tables ?? []).filter((table) => table.memory_limit_bytes === undefined);
  const table = [...tables].sort((a, b) => b.rows - a.rows)[0];
  const orders = page.answer[0]?.orders ?? [];
  assert.ok(table && orders.some(({ ranked }) => ranked.length > 1));
  for (const order of orders) {
    const preset = page.presets.find(({ id }) => id === order.preset);
    const tier = /at durability (\w+)/.exec(order.says)?.[1] as MustHaves["tier"];
    const own = table.engines.filter((engine) => engine.tier === tier);
    const measured = (preset?.weights ?? []).filter(([id]) => own.filter((engine) => engine.ratios[id] !== undefined).length > 1);
    const asked = must({ tier, memory: preset?.memory_bytes ?? null, rate: preset?.rows_per_second ?? null });
    const kept = { ...table, engines: table.engines.filter(({ broken }) => !broken) };
    const again: ReturnType<typeof advise>["ranked"] = advise(kept, asked, Object.fromEntries(measured)).ranked;
    assert.deepEqual(again.map(({ engine }) => engine.engine), order.ranked.map(({ engine }) => engine), order.preset);
    again.forEach(({ score }, at) => assert.ok(Math.abs(score - (order.ranked[at]?.score ?? 0)) < 1e-9 * score, order.preset));
  }
});
