/**
 * The evidence for durability: what tiers rest on, how tries ended, what was lost, and how long
 * opening took.
 */

import * as Plot from "@observablehq/plot";
import { figure, log, shortest, tick } from "./chart";
import type { Durability, Experiment, Tested, Verdict } from "./data";
import { h, list, noteList, table, unique } from "./dom";
import { clipped, count, duration, orDash, significant } from "./format";
import { BROKEN } from "./status";

/**
 * The ways in which a try can end, with a colour and the colour of a number on it. Colours always
 * come with numbers.
 */
const COLOURS: Record<Verdict, [string, string]> = {
  "holds": ["#0077bb", "#fff"], "lost-commits": ["#e69f00", "#000"], "half-commit": ["#f0d060", "#000"], "hole": ["#cc79a7", "#000"],
  "copies-differ": ["#00796b", "#fff"],
  "corrupt-row": ["#8e4585", "#fff"], "not-opened": ["#c84e00", "#fff"], "half-made": ["#9a9a9a", "#000"], "crashed": ["#a01c12", "#fff"],
  "hangs": ["#7a5c3e", "#fff"], "check-failed": ["#4b3f72", "#fff"], "not-writable": ["#5c6b2f", "#fff"],
};

const WORSE = "‘Worse’, next to a window of loss, counts tries that it does not describe, such as a hole or a database that does not open. ≥: everything was lost, so a longer work could lose more.";

const EXPERIMENTS: [Experiment, string, string][] = [
  ["power-cut", "After a power cut", `States of a disk that a cut could have left, each mounted and opened by the engine's ordinary open. ${WORSE}`],
  ["kill", "After a kill", `The process group got SIGKILL in the middle of commits; what it had handed to the operating system stayed. ${WORSE}`],
];

/** Width of the narrowest part of a bar that has room for its number. */
const ROOM = 0.045;

/** Least width for the marks of a window of loss, in units of its chart. */
const LEAST = 80;

/** An experiment with one engine in one tier, and its name. */
interface Row {
  place: string;
  name: string;
  tested: Tested;
}

/** Fills the section. */
export function durability(body: HTMLElement, of: Durability): void {
  body.replaceChildren(h("div", {},
    rests(of),
    ...EXPERIMENTS.flatMap(([id, title, about]) => {
      const rows = rowsOf(of.tested.filter(({ experiment }) => experiment === id));
      return rows.length === 0 ? [] : [h("section", {}, h("h3", {}, title), h("p", { class: "hint" }, about), drawn(of, rows))];
    }),
    fullDisk(of),
    examples(of),
    h("h3", {}, "Tried on"),
    noteList(of.notes)));
}

/** Returns the names, with what distinguishes rows with the same name. */
function rowsOf(all: Tested[]): Row[] {
  const several = (part: (tested: Tested) => string | undefined, of: Tested[]) => unique(of.map(part)).length > 1;
  return all.map((tested, index) => {
    const same = all.filter(({ engine }) => engine === tested.engine);
    const twice = same.filter(({ tier, file_system }) => tier === tested.tier && file_system === tested.file_system);
    const parts = [
      `${tested.engine}${tested.violations > 0 ? BROKEN : ""}`, tested.tier,
      several(({ version }) => version, same) && tested.version,
      several(({ file_system }) => file_system, all) && tested.file_system,
      twice.length > 1 && tested.run && `run ${tested.run}`,
    ];
    return { place: String(index), name: parts.filter(Boolean).join(" · "), tested };
  });
}

/** Shows the evidence for each tier of each engine. */
function rests({ standings }: Durability): HTMLElement | null {
  if (standings.length === 0) return null;
  return h("section", {}, h("h3", {}, "What each tier rests on"), list(standings.map((standing) => {
    const { engine, version, tier, says } = standing;
    const broken = "shown" in standing && standing.shown.kills.violations + standing.shown.states.violations > 0;
    return [`${engine}${broken ? BROKEN : ""} ${clipped(version, 24)} ${tier}`, broken ? h("span", { class: "broken" }, says) : says];
  })));
}

function drawn(of: Durability, rows: Row[]): HTMLElement {
  return h("div", {},
    key(of, rows), ended(of, rows),
    h("div", { class: "charts" }, ...lost(of, rows), opened(rows)),
    h("details", {}, h("summary", {}, "Everything that was found"), everything(rows)));
}

/** Explains the colours of the ways to end that occur. */
function key(of: Durability, rows: Row[]): HTMLElement {
  const occurring = of.verdicts.filter(({ id }) => rows.some(({ tested }) => tested.verdicts[id]));
  return h("ul", { class: "series" }, occurring.map(({ id, name }) =>
    h("li", {}, h("span", { class: "swatch", style: `background:${COLOURS[id][0]}`, "aria-hidden": "true" }), name)));
}

/** One row per line, by its index, because names may repeat. */
function byPlace(rows: Row[], longest: number): Plot.PlotOptions {
  const names = rows.map(({ name }) => clipped(name, longest));
  return {
    height: 44 + 22 * rows.length,
    marginTop: 6,
    marginBottom: 36,
    marginLeft: 14 + 6 * Math.max(...names.map((name) => name.length)),
    y: { label: null, domain: rows.map(({ place }) => place), tickSize: 0, tickFormat: (place: string) => names[Number(place)] ?? "" },
  };
}

/** Returns the width of texts to the right of a mark, in units of a chart. */
const widthOf = (texts: string[]): number => 14 + 6.6 * Math.max(...texts.map(({ length }) => length));

/** States briefly whether a promise was kept. */
function kept({ promised, violations, tried }: Tested): string {
  if (!promised) return `${count(tried)}, not promised`;
  return violations === 0 ? `no violation in ${count(tried)}` : `broken: ${count(violations)} of ${count(tried)}`;
}

/** Shows how the tries ended, with one bar per row. */
function ended({ verdicts }: Durability, rows: Row[]): HTMLElement {
  const parts = rows.flatMap(({ place, name, tested }) => {
    let before = 0;
    return verdicts.flatMap((verdict) => {
      const tries = tested.verdicts[verdict.id] ?? 0;
      if (tries === 0) return [];
      const from = before;
      before += tries / tested.tried;
      return [{ place, name, verdict, tries, from, to: before }];
    });
  });
  type Part = (typeof parts)[number];
  const options: Plot.PlotOptions = {
    ...byPlace(rows, 34),
    width: 860,
    marginRight: widthOf(rows.map(({ tested }) => kept(tested))),
    x: { label: null, domain: [0, 1], ticks: 5, tickFormat: (share: number) => `${Math.round(100 * share)} %` },
    marks: [
      Plot.barX(parts, {
        x1: "from", x2: "to", y: "place", fill: ({ verdict }: Part) => COLOURS[verdict.id][0], className: "m-verdict", insetRight: 0.5,
        title: ({ name, verdict, tries }: Part) => `${name}: ${count(tries)} ${verdict.name}`,
      }),
      Plot.text(parts.filter(({ from, to }) => to - from >= ROOM), {
        x: ({ from, to }: Part) => (from + to) / 2, y: "place", fill: ({ verdict }: Part) => COLOURS[verdict.id][1], text: ({ tries }: Part) => count(tries),
      }),
      ...[true, false].map((broken) => Plot.text(rows.filter(({ tested }) => tested.violations > 0 === broken), {
        x: 1, y: "place", dx: 6, textAnchor: "start", text: ({ tested }: Row) => kept(tested), fontWeight: broken ? "bold" : undefined,
      })),
    ],
  };
  const occurring = verdicts.filter(({ id }) => parts.some(({ verdict }) => verdict.id === id));
  const drawn = figure("How the tries ended", options, ["", "tried", ...occurring.map(({ name }) => name)],
    rows.map(({ name, tested }) => [name, count(tested.tried), ...occurring.map(({ id }) => count(tested.verdicts[id] ?? 0))]));
  drawn.classList.add("wide");
  return drawn;
}

/** The units of a window of loss. */
interface Unit {
  title: string;
  show: (amount: number) => string;
  median: (loss: NonNullable<Tested["loss"]>) => number;
  worst: (loss: NonNullable<Tested["loss"]>) => number;
}

const UNITS: Unit[] = [
  { title: "Lost commits: a full dot the median, an open one the worst", show: (commits) => count(commits), median: (loss) => loss.median_commits, worst: (loss) => loss.worst_commits },
  { title: "Lost time: for how long the oldest of them had been acknowledged", show: (ms) => (ms === 0 ? "0" : duration(ms * 1e6)), median: (loss) => loss.median_ms, worst: (loss) => loss.worst_ms },
];

/** Returns the tries that broke something that a number of lost commits does not describe. */
const worse = (of: Durability, { verdicts }: Tested): number =>
  of.verdicts.filter(({ id, is_violation }) => is_violation && id !== "lost-commits").reduce((sum, { id }) => sum + (verdicts[id] ?? 0), 0);

/**
 * Shows the window of loss, in commits and in time, over the tries for which it is known. The
 * number of worse tries is next to it.
 */
function lost(of: Durability, rows: Row[]): HTMLElement[] {
  return UNITS.map(({ title, show, median, worst }) => {
    const points = rows.map(({ place, tested }) => {
      const { loss } = tested;
      // If it is known for some tries and none of them lost anything, the result has no window.
      const others = worse(of, tested);
      const known = others < tested.tried;
      const [least, most] = loss ? [median(loss), worst(loss)] : [0, 0];
      const amount = known ? (loss?.everything ? "≥ " : "") + show(most) : "not known";
      return { place, known, least, most, says: amount + (others > 0 ? ` · ${count(others)} worse` : ""), median: known ? show(least) : "-", worst: amount, others };
    });
    const known = points.filter((point) => point.known);
    const largest = Math.max(1, ...known.map(({ most }) => most));
    const powers = [10, 100, 1e3, 1e4, 1e5, 1e6].filter((power) => power <= largest);
    const fill = ({ most, others }: (typeof points)[number]) => COLOURS[most > 0 ? "lost-commits" : others > 0 ? "half-made" : "holds"][0];
    const places = byPlace(rows, 26);
    const marginRight = widthOf(points.map(({ says }) => says));
    const options: Plot.PlotOptions = {
      ...places,
      marginRight,
      // The page scales the chart where the texts leave too little for the marks.
      width: Math.max(340, (places.marginLeft ?? 0) + LEAST + marginRight),
      x: { type: "symlog", constant: 1, domain: [0, largest], ticks: [0, powers.at(-1) ?? largest], tickFormat: (amount: number) => shortest(show(amount)), label: null, grid: true },
      marks: [
        Plot.ruleY(known, { x1: "least", x2: "most", y: "place", strokeWidth: 2, strokeOpacity: 0.6 }),
        Plot.dot(known.filter(({ most }) => most > 0), { x: "most", y: "place", r: 4, stroke: fill, strokeWidth: 2, className: "m-worst" }),
        Plot.dot(known, { x: "least", y: "place", r: 4, fill, className: "m-median" }),
        Plot.text(points, { x: ({ most }: (typeof points)[number]) => most, y: "place", dx: 9, textAnchor: "start", text: "says" }),
      ],
    };
    return figure(title, options, ["", "median", "worst", "otherwise broken"],
      rows.map(({ name }, index) => [name, points[index]?.median ?? "-", points[index]?.worst ?? "-", count(points[index]?.others ?? 0)]));
  });
}

/** Shows the time to open, next to that after a clean close. */
function opened(rows: Row[]): HTMLElement | null {
  const known = rows.flatMap(({ place, tested }) => {
    const [after, clean] = [tested.open_ns, tested.clean_open_ns];
    return after === undefined ? [] : [{ place, after, clean }];
  });
  if (known.length === 0) return null;
  const pairs = known.filter((one): one is { place: string; after: number; clean: number } => one.clean !== undefined);
  const all = known.flatMap(({ after, clean }) => (clean === undefined ? [after] : [after, clean]));
  const places = rows.filter(({ place }) => known.some((one) => one.place === place));
  const options: Plot.PlotOptions = {
    ...byPlace(rows, 26),
    marginRight: widthOf(known.map(({ after }) => duration(after))),
    x: { ...log("", tick, all, 30), label: null },
    marks: [
      Plot.ruleY(pairs, { x1: "clean", x2: "after", y: "place", strokeOpacity: 0.5 }),
      Plot.dot(pairs, { x: "clean", y: "place", r: 4, stroke: "#0077bb", strokeWidth: 2, className: "m-clean" }),
      Plot.dot(known, { x: "after", y: "place", r: 4, fill: "#c84e00", className: "m-opened" }),
      Plot.text(known, { x: ({ after, clean }: (typeof known)[number]) => Math.max(after, clean ?? 0), y: "place", dx: 9, textAnchor: "start", text: ({ after }: (typeof known)[number]) => duration(after) }),
    ],
  };
  return figure("Time to open: a full dot after it, an open one after a clean close", options, ["", "after it", "after a close"],
    places.map(({ name, tested }) => [name, orDash(tested.open_ns, duration), orDash(tested.clean_open_ns, duration)]));
}

/** Shows the columns of the terminal's table. */
function everything(rows: Row[]): HTMLElement {
  const header = ["", "version", "keeps", "found", "lost commits", "lost time", "opens in (after a close)", "a commit writes"];
  return table("Median, and worst where something was lost", header, rows.map(({ name, tested }) => {
    const { loss, commit } = tested;
    const least = loss?.everything ? "≥ " : "";
    return [
      name, tested.version, tested.effective_durability ?? tested.tier, tested.found,
      loss ? `${count(loss.median_commits)}, worst ${least}${count(loss.worst_commits)}` : "-",
      loss ? `${duration(loss.median_ms * 1e6)}, worst ${least}${duration(loss.worst_ms * 1e6)}` : "-",
      `${orDash(tested.open_ns, duration)} (${orDash(tested.clean_open_ns, duration)})`,
      commit ? `${significant(commit.bytes / commit.commits / 1e3)} kB, ${significant(commit.flushes / commit.commits)} flushes` : "-",
    ];
  }));
}

/** Shows what each engine did when its disk was full, as in the terminal's table. */
function fullDisk({ full_disk }: Durability): HTMLElement | null {
  if (full_disk === undefined) return null;
  const { title, header, rows, notes } = full_disk;
  const hint = "A file system of a fixed size was filled by commits until the engine could do no more, and then by a file to the last block.";
  return h("section", {}, h("h3", {}, title), h("p", { class: "hint" }, hint),
    table(title, ["", ...header], rows.map(([name, texts]) => [name, ...texts.map(({ value }) => value)])),
    h("details", {}, h("summary", {}, "What the columns mean, and what engines said"), noteList(notes)));
}

/** Names an experiment in a line of a table. */
const NAMES: Record<Experiment, string> = { "kill": "kill", "power-cut": "power cut", "device-lies": "device lies", "full-disk": "full disk" };

/** Returns the try with the fewest commits for each way to end that did not hold. */
function examples(of: Durability): HTMLElement | null {
  const rows = of.tested.flatMap(({ engine, tier, experiment, promised, examples }) => (examples ?? []).map((one) => [
    `${engine} ${tier}, ${NAMES[experiment]}`, of.verdicts.find(({ id }) => id === one.verdict)?.name ?? one.verdict,
    promised && of.verdicts.some(({ id, is_violation }) => id === one.verdict && is_violation) ? "yes" : "no",
    one.of, count(one.acknowledged), orDash(one.last, count), one.message ?? "-", one.kept ?? "-",
  ]));
  if (rows.length === 0) return null;
  const header = ["", "found", "promise broken", "which", "acknowledged", "there up to", "the engine said", "kept in"];
  return h("details", {}, h("summary", {}, "What did not hold, an example of each"), table("The one with the fewest commits", header, rows));
}
