// Builds the report's page into one file and the site's into three (`node build.mjs page`), bundles
// their tests (`node build.mjs tests`), or puts the tests' input where its types are checked (`node
// build.mjs given`).
import { build } from "esbuild";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const COMMON = { bundle: true, logLevel: "warning", target: "es2022", charset: "utf8" };

async function page() {
  const script = await build({
    ...COMMON, entryPoints: ["src/main.ts"], minify: true, format: "iife", write: false, metafile: true, legalComments: "none",
  });
  const style = await build({ ...COMMON, entryPoints: ["src/style.css"], minify: true, write: false });
  const parts = {
    STYLE: style.outputFiles[0].text,
    // Inside a script element only this sequence would end it.
    SCRIPT: script.outputFiles[0].text.replaceAll("</script", "<\\/script"),
    LICENCES: escaped(licences(Object.keys(script.metafile.inputs))),
  };
  const template = readFileSync("src/index.html", "utf8");
  // A function, because `$` means something in a replacement text.
  const html = template.replace(/\/\*(STYLE|SCRIPT|LICENCES)\*\//g, (_, name) => parts[name]);
  mkdirSync("dist", { recursive: true });
  writeFileSync("dist/page.html", html);
  console.log(`dist/page.html: ${Math.round(html.length / 1000)} kB`);
  await site();
}

async function site() {
  const built = (entry, more) => build({ ...COMMON, entryPoints: [entry], minify: true, write: false, metafile: true, legalComments: "none", ...more });
  const script = await built("src/site/main.ts", { format: "iife" });
  const style = await built("src/site/site.css");
  // The licence text of what is bundled is next to it, because the site has no place for it.
  const foreign = Object.keys(script.metafile.inputs).filter((file) => file.includes("node_modules"));
  if (foreign.length > 0) throw new Error(`the site bundles ${foreign.join(", ")}, and shows no licence`);
  writeFileSync("dist/site.html", readFileSync("src/site/site.html"));
  writeFileSync("dist/site.js", script.outputFiles[0].contents);
  writeFileSync("dist/site.css", style.outputFiles[0].contents);
  console.log(`dist/site.js: ${Math.round(script.outputFiles[0].contents.length / 1000)} kB`);
}

/** Returns the licence texts of the bundled packages, each text once. */
function licences(inputs) {
  const packages = [...new Set(inputs.map((file) => file.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]).filter(Boolean))].sort();
  const texts = new Map();
  for (const name of packages) {
    const folder = join("node_modules", name);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name} is bundled and has no licence text`);
    const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const text = readFileSync(join(folder, file), "utf8").trim();
    texts.set(text, [...(texts.get(text) ?? []), `${name} ${version}`]);
  }
  return [...texts].map(([text, names]) => `${names.join(", ")}\n\n${text}`).join("\n\n----\n\n");
}

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

async function tests() {
  rmSync("build", { recursive: true, force: true });
  const entryPoints = readdirSync("tests").filter((name) => name.endsWith(".test.ts")).map((name) => `tests/${name}`);
  await build({
    ...COMMON, entryPoints, outdir: "build/tests", outExtension: { ".js": ".mjs" }, format: "esm", platform: "node",
    packages: "external", sourcemap: "inline",
  });
}

/** The types of the site's data files, by the first part of their names. */
const OF_SITE = { index: "Index", figures: "Figures", cells: "Cells", history: "History", result: "ResultData", snippets: "Snippet", table: "OverMachines" };

/**
 * Returns the tests' input as TypeScript. It must match the types in `src/data.ts` and
 * `src/site/data.ts`.
 */
function given() {
  const [folder, site] = ["tests/fixtures", "tests/fixtures/site"];
  const pages = readdirSync(folder).filter((name) => name.endsWith(".json"))
    .map((name) => [name === "advice.json" ? "page.AdviceTable" : "page.Page", readFileSync(join(folder, name), "utf8")]);
  const files = readdirSync(site, { recursive: true }).filter((name) => name.endsWith(".js")).map((name) => {
    const [, json] = readFileSync(join(site, name), "utf8").match(/^embermark\("[^"]*",(.*)\)\n$/s);
    return [`site.${OF_SITE[name.split(/[/.]/)[0]]}`, json];
  });
  const imports = 'import type * as page from "../src/data";\nimport type * as site from "../src/site/data";\n';
  const declared = [...pages, ...files].map(([type, json], place) => `export const given${place}: ${type} = ${json};\n`);
  mkdirSync("build", { recursive: true });
  writeFileSync("build/given.ts", imports + declared.join(""));
}

await { page, tests, given }[process.argv[2]]();
