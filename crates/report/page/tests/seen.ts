import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import type { Page } from "../src/data";
import { launch, type Look, type Opened, opened, skip } from "./browser";
import { skipped } from "./skipped";

let browser: Browser;

before(async () => {
  if (!skip) browser = await launch();
});
after(() => browser?.close());

/** A test on an opened page, which must end without errors and without requests. */
export function seen(name: string, data: () => Page, look: Look, body: (page: Opened) => Promise<void>) {
  if (skip) skipped(name, "chromium", skip);
  test(name, { skip }, async () => {
    const page = await opened(browser, data(), look);
    try {
      await body(page);
      assert.deepEqual(page.errors, []);
      assert.deepEqual(page.requests, []);
    } finally {
      await page.close();
    }
  });
}
