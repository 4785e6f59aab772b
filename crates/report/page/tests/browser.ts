/**
 * A real browser on a real page: Debian's chromium, the built page, and data inserted as the
 * program does.
 */

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, chromium, type Page as Tab } from "playwright-core";
import type { AdviceTable, Cell, Entry, Page } from "../src/data";

const KNOWN = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const named = process.env.CHROMIUM;
const browser = (named ? [named] : KNOWN).find((path) => existsSync(path));

/** Why the browser's tests do not run. False if they do. */
export const skip = browser ? false : "no chromium here: `make test-deps` installs it, or name one in CHROMIUM";

/**
 * The program's page data for its golden result. `crates/report/tests/integration/html.rs` keeps it
 * current.
 */
export const golden = (): Page => JSON.parse(readFileSync("tests/fixtures/page.json", "utf8")) as Page;

/**
 * The program's page data for a run of `embermark durability`.
 * `crates/report/tests/integration/durability.rs` keeps it current.
 */
export const tried = (): Page => JSON.parse(readFileSync("tests/fixtures/durability.json", "utf8")) as Page;

/**
 * The program's page data for a result of `embermark tune`.
 * `crates/report/tests/integration/tuned.rs` keeps it current.
 */
export const settled = (): Page => JSON.parse(readFileSync("tests/fixtures/tuned.json", "utf8")) as Page;

/**
 * The program's page data for many devices. `crates/report/tests/integration/fleet.rs` keeps it
 * current.
 */
export const many = (): Page => JSON.parse(readFileSync("tests/fixtures/fleet.json", "utf8")) as Page;

/**
 * The program's page data for columns used from Python.
 * `crates/report/tests/integration/clients.rs` keeps it current.
 */
export const languages = (): Page => JSON.parse(readFileSync("tests/fixtures/clients.json", "utf8")) as Page;

/** A table as the advice gives it. */
export const advice = (): AdviceTable => JSON.parse(readFileSync("tests/fixtures/advice.json", "utf8")) as AdviceTable;

export const launch = (): Promise<Browser> => chromium.launch({ executablePath: browser, args: ["--no-sandbox"] });

/** A page opened from disk. */
export interface Opened {
  tab: Tab;
  /** Errors of scripts and of the console. */
  errors: string[];
  /** Requested addresses other than the page's file. */
  requests: string[];
  close: () => Promise<void>;
}

export interface Look {
  width?: number;
  height?: number;
  dark?: boolean;
}

/** Opens the built page with this data. */
export async function opened(browser: Browser, data: Page, look: Look = {}): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), "embermark-page-"));
  const file = join(folder, "report.html");
  const json = JSON.stringify(data).replaceAll("<", "\\u003c");
  writeFileSync(file, readFileSync("dist/page.html", "utf8").replace('"EMBERMARK-DATA"', () => json));
  const context = await browser.newContext({
    viewport: { width: look.width ?? 1280, height: look.height ?? 900 },
    colorScheme: look.dark ? "dark" : "light",
  });
  const tab = await context.newPage();
  const errors: string[] = [];
  const requests: string[] = [];
  const own = pathToFileURL(file).href;
  tab.on("pageerror", (error) => errors.push(String(error)));
  tab.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") errors.push(message.text());
  });
  tab.on("request", (request) => {
    const url = request.url();
    if (url !== own && !url.startsWith("data:")) requests.push(url);
  });
  await tab.goto(own);
  const close = async () => {
    await context.close();
    rmSync(folder, { recursive: true });
  };
  return { tab, errors, requests, close };
}

/** Makes a page of many cells, to test its speed: engines x phases x scales x tiers. */
export function large(engines: number, phases: number, scales: number[], tiers: Cell["tier"][]): Page {
  const page = golden();
  const [template] = page.entries.filter((entry) => entry.figure && entry.latency);
  const cell = template && page.cells[template.cell];
  if (!template || !cell) throw new Error("the golden page has no entry with latency");
  page.cells = [];
  page.entries = [];
  page.published = [];
  for (const tier of tiers) {
    for (const rows of scales) {
      for (let engine = 0; engine < engines; engine += 1) {
        page.cells.push({ ...cell, tier, scale: `${rows / 1000}k`, rows, engine: `engine${engine}`, ranked: true, kind: "embedded" });
        for (let phase = 0; phase < phases; phase += 1) {
          const per_op_ns = 100 + ((engine * 7919 + phase * 104729 + rows) % 100_000);
          const figure = { ...(template.figure as NonNullable<Entry["figure"]>), per_op_ns, elapsed_ns: per_op_ns * rows, done: null };
          page.entries.push({ ...template, cell: page.cells.length - 1, phase: `phase${phase}`, status: "ok", tainted: false, client_side: false, figure });
        }
      }
    }
  }
  return page;
}
