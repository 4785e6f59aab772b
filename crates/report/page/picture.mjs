// Saves a picture of the first view of a report's page: node picture.mjs report.html picture.png
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [page, picture] = process.argv.slice(2);
const known = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = process.env.CHROMIUM ?? known.find((path) => existsSync(path));
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  const context = await browser.newContext({ viewport: { width: 1180, height: 1005 }, colorScheme: "light" });
  const tab = await context.newPage();
  await tab.goto(pathToFileURL(resolve(page)).href);
  await tab.locator("main").waitFor();
  await tab.screenshot({ path: picture });
} finally {
  await browser.close();
}
