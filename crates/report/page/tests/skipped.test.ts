import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { FILE, skipped } from "./skipped";

const folder = mkdtempSync(join(tmpdir(), "embermark-skipped-"));
after(() => rmSync(folder, { recursive: true }));

/** Runs a function while the variable names a file, and returns the file's content. */
function written(name: string, run: (file: string) => void): string {
  const [file, before] = [join(folder, name), process.env[FILE]];
  process.env[FILE] = file;
  try {
    run(file);
  } finally {
    if (before === undefined) delete process.env[FILE];
    else process.env[FILE] = before;
  }
  return readFileSync(file, "utf8");
}

test("a skipped test adds its name, what it lacks and why to a file", () => {
  const lines = written("lines", () => {
    skipped("a chart is drawn", "chromium", "none here");
    skipped("a box opens", "chromium", "none here");
  });
  assert.equal(lines, "page::a chart is drawn\tchromium\tnone here\npage::a box opens\tchromium\tnone here\n");
});

test("without a browser every test of the page is named as skipped, and passes", () => {
  const lines = written("all", (file) => {
    // A separate run, without the variables of this one.
    const env = { PATH: process.env.PATH, CHROMIUM: "/nowhere/chromium", [FILE]: file };
    const words = ["--test-reporter=tap", "build/tests/page.test.mjs"];
    const said = execFileSync(process.execPath, words, { env, encoding: "utf8" });
    assert.match(said, /^# fail 0$/m);
    assert.match(said, /^# pass 0$/m);
  }).trimEnd().split("\n");
  assert.ok(lines.length > 20);
  for (const line of lines) assert.match(line, /^page::[^\t]+\tchromium\t/);
});
