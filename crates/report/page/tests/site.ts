/**
 * A site as the program writes it, opened from disk. `crates/report/tests/integration/site.rs`
 * keeps its data current.
 */

import assert from "node:assert/strict";
import { copyFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Browser, Page as Tab } from "playwright-core";
import type { Index } from "../src/site/data";
import { launch, type Look, skip } from "./browser";
import { skipped } from "./skipped";

const FIXTURE = "tests/fixtures/site";

let browser: Browser;

before(async () => {
  if (!skip) browser = await launch();
});
after(() => browser?.close());

/** The index of the fixture. */
export const index = (): Index => dataOf(readFileSync(join(FIXTURE, "index.js"), "utf8")) as Index;

/** Returns what a data file passes to the page. */
export function dataOf(text: string): unknown {
  const json = text.match(/^embermark\("[^"]*",(.*)\)\n$/s)?.[1];
  assert.ok(json, text.slice(0, 80));
  return JSON.parse(json);
}

export interface Opened {
  tab: Tab;
  /** Opens a view of the same site, and waits for it. */
  go: (hash: string) => Promise<void>;
  /** Waits for the view of the address. */
  settled: () => Promise<void>;
  /** Returns what a click saves. */
  saved: (button: string) => Promise<string>;
}

/**
 * A test on an opened site, which must end without errors, and load nothing from other places.
 * `change` rewrites data files.
 */
export function seen(name: string, look: Look & { at?: string; change?: (file: string, text: string) => string }, body: (site: Opened) => Promise<void>): void {
  if (skip) skipped(name, "chromium", skip);
  test(name, { skip }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "embermark-site-"));
    copyFileSync("dist/site.html", join(folder, "index.html"));
    for (const file of ["site.js", "site.css"]) copyFileSync(join("dist", file), join(folder, file));
    cpSync(FIXTURE, join(folder, "data"), { recursive: true });
    if (look.change) {
      for (const file of readdirSync(join(folder, "data"), { recursive: true, encoding: "utf8" })) {
        if (!file.endsWith(".js")) continue;
        const path = join(folder, "data", file);
        writeFileSync(path, look.change(file, readFileSync(path, "utf8")));
      }
    }
    const context = await browser.newContext({
      viewport: { width: look.width ?? 1280, height: look.height ?? 900 }, colorScheme: look.dark ? "dark" : "light",
    });
    const tab = await context.newPage();
    const wrong: string[] = [];
    const own = pathToFileURL(folder).href;
    tab.on("pageerror", (error) => wrong.push(String(error)));
    tab.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") wrong.push(message.text());
    });
    tab.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(own) && !url.startsWith("data:") && !url.startsWith("blob:")) wrong.push(`asks for ${url}`);
    });
    const settled = async () => {
      await tab.waitForFunction(() => {
        const main = document.getElementById("view");
        return main?.getAttribute("aria-busy") === "false" && main.dataset.shown === location.hash;
      });
    };
    const go = async (hash: string) => {
      await tab.evaluate((hash) => {
        location.hash = hash;
      }, hash);
      await settled();
    };
    const saved = async (button: string) => {
      const [download] = await Promise.all([tab.waitForEvent("download"), tab.getByRole("button", { name: button }).click()]);
      return readFileSync(await download.path(), "utf8");
    };
    try {
      await tab.goto(`${own}/index.html${look.at ?? ""}`);
      await settled();
      await body({ tab, go, settled, saved });
      assert.deepEqual(wrong, []);
    } finally {
      await context.close();
      rmSync(folder, { recursive: true });
    }
  });
}
