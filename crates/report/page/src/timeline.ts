/**
 * A phase that runs until it is steady, over time: curves of all engines on one axis, each with its
 * table, and the stalls.
 */

import * as Plot from "@observablehq/plot";
import { figure, legend, log, scales, type Series, shortest, tick } from "./chart";
import { colourOf, symbolAt } from "./colours";
import type { Cell, Page, Slice, Timeline } from "./data";
import { h, table, unique } from "./dom";
import { cellOf, comparisonOf } from "./fitness";
import { bytes, count, duration, orDash, significant } from "./format";

/** One run of an engine. */
interface Line {
  /** The key of a comparison: everything but the engine. */
  of: string;
  cell: Cell;
  name: string;
  timeline: Timeline;
}

interface Point {
  x: number;
  y: number;
  z: string;
  /** Each run of an engine has its own line. */
  line: string;
}

/** A curve: its value in a slice, and its format. */
interface Curve {
  title: string;
  says: string;
  of: (slice: Slice, timeline: Timeline) => number | undefined;
  show: (value: number) => string;
  /** Whether its axis is logarithmic. */
  log?: boolean;
}

const CURVES: Curve[] = [
  {
    title: "Commit latency, p99", says: "99th percentile of the commits of each slice, or their maximum if there are fewer than 100.",
    of: ({ commits }) => commits && (commits.p99 ?? commits.max), show: duration, log: true,
  },
  {
    title: "Question latency, p99", says: "99th percentile of the questions of each slice, or their maximum if there are fewer than 100.",
    of: ({ questions }) => questions && (questions.p99 ?? questions.max), show: duration, log: true,
  },
  {
    title: "Throughput", says: "Rows per second.",
    of: ({ rows_in, elapsed_ns }) => (elapsed_ns > 0 ? (rows_in * 1e9) / elapsed_ns : undefined), show: (rate) => `${significant(rate)}/s`,
  },
  {
    title: "Space", says: "Allocated blocks of the data directory.",
    of: ({ allocated_bytes }) => allocated_bytes, show: bytes,
  },
  {
    title: "Written per user byte", says: "Bytes that reached the database's own device in each slice, divided by the bytes of the inserted rows.",
    of: ({ device_written_bytes, rows_in }, { row_bytes }) => (device_written_bytes === undefined || rows_in === 0 ? undefined : device_written_bytes / (rows_in * row_bytes)),
    show: significant,
  },
];

/**
 * Slices shorter than this share of the longest are not drawn. The end of a second, with a few
 * rows, is not informative.
 */
const TOO_SHORT = 0.1;

/** Number of seconds from which a time is shown in minutes. */
const IN_MINUTES = 120;

/** Largest number of symbols on a line. */
const SYMBOLS_A_LINE = 4;

/** Number of longest stalls that the table names. */
const LONGEST = 50;

/** Makes the sections. Empty if no phase ran until it was steady. */
export function timelines(page: Page): HTMLElement[] {
  const lines = page.entries.flatMap((entry): Line[] => {
    const [cell, of] = [cellOf(page, entry), comparisonOf(page, entry)];
    const several = (entry.watched ?? []).length > 1;
    return (entry.watched ?? []).flatMap(({ trial, timeline }) =>
      (timeline?.slices.length ? [{ of, cell, name: cell.engine + (several ? `, trial ${trial + 1}` : ""), timeline: { ...timeline, slices: whole(timeline.slices) } }] : []));
  });
  if (lines.length === 0) return [];
  const engines = unique(lines.map(({ cell }) => cell.engine));
  const hidden = new Set<string>();
  const body = h("div", {});
  const draw = () => {
    const shown = lines.filter(({ cell }) => !hidden.has(cell.engine));
    const all = unique(shown.map(({ cell }) => cell.engine)).map((name): Series =>
      ({ name, colour: colourOf(page, name), symbol: symbolAt(engines.indexOf(name)) }));
    body.replaceChildren(legend(all), ...unique(shown.map(({ of }) => of)).map((of) => {
      const own = shown.filter((line) => line.of === of);
      return h("section", {}, h("h4", {}, of), h("div", { class: "charts small" }, CURVES.flatMap((curve) => chart(curve, own, all))), ...stalls(own));
    }));
  };
  draw();
  return [h("section", { id: "timelines" },
    h("h3", {}, "Ageing: over time, until it is steady"),
    h("p", { class: "hint" }, "Rows are inserted, old ones are deleted, and the newest are queried. A slice is about a second, or longer if there would be more than 600. Slices shorter than a tenth of the longest are not drawn. A line ends where the phase did: when it was steady, or at the longest time."),
    h("p", { class: "pick" }, engines.map((name) => h("label", {}, h("input", { type: "checkbox", name: "aged", value: name, checked: true, change: (event) => {
      if ((event.target as HTMLInputElement).checked) hidden.delete(name);
      else hidden.add(name);
      draw();
    } }), ` ${name} `))),
    body)];
}

/** Removes slices that are too short. */
function whole(slices: Slice[]): Slice[] {
  const longest = Math.max(...slices.map(({ elapsed_ns }) => elapsed_ns));
  return slices.filter(({ elapsed_ns }) => elapsed_ns >= TOO_SHORT * longest);
}

function chart(curve: Curve, lines: Line[], all: Series[]): HTMLElement[] {
  const last = Math.max(...lines.flatMap(({ timeline }) => timeline.slices.map(({ until_s }) => until_s)));
  const unit = last > IN_MINUTES ? 60 : 1;
  const points = lines.flatMap(({ cell, name, timeline }): Point[] => timeline.slices.flatMap((slice) => {
    const y = curve.of(slice, timeline);
    return y === undefined || (curve.log && y <= 0) ? [] : [{ x: slice.until_s / unit, y, z: cell.engine, line: name }];
  }));
  if (points.length === 0) return [];
  // Colours repeat, so each line has its engine's symbol at its end and at intervals before.
  const symbols = unique(points.map(({ line }) => line)).flatMap((line) => {
    const own = points.filter((point) => point.line === line);
    const every = Math.ceil(own.length / SYMBOLS_A_LINE);
    return own.filter((_, place) => (own.length - 1 - place) % every === 0);
  });
  const options: Plot.PlotOptions = {
    ...scales(all),
    x: { label: unit === 60 ? "minutes" : "seconds", insetRight: 6 },
    y: curve.log
      ? log("", tick, points.map(({ y }) => y))
      : { label: null, grid: true, zero: true, tickFormat: (value: number) => shortest(curve.show(value)) },
    marks: [
      Plot.line(points, { x: "x", y: "y", z: "line", stroke: "z", strokeWidth: 1.2, className: "m-timeline" }),
      Plot.dot(symbols, { x: "x", y: "y", stroke: "z", symbol: "z", r: 3.5, title: ({ y, line }: Point) => `${line}: ${curve.show(y)}` }),
    ],
  };
  const parts = [0.1, 0.25, 0.5, 0.75, 1].map((part) => part * last);
  const rows = lines.map(({ name, timeline }) => {
    // Returns the slice of a time. Undefined after the end of the run.
    const at = (moment: number) => timeline.slices.find(({ until_s }) => until_s >= moment);
    const shown = (slice: Slice | undefined) => orDash(slice && curve.of(slice, timeline), curve.show);
    return [name, ...parts.map((moment) => shown(at(moment))), shown(timeline.slices[timeline.slices.length - 1])];
  });
  const header = ["", ...parts.map((at) => `at ${(at / unit).toFixed(1)} ${unit === 60 ? "min" : "s"}`), "in its last slice"];
  return [figure(curve.title, options, header, rows, curve.says)];
}

/**
 * Lists the longest stalls, and the engine's figures that changed in them. Empty if there was no
 * stall.
 */
function stalls(lines: Line[]): HTMLElement[] {
  const all = lines.flatMap(({ name, timeline }) => (timeline.stalls ?? []).map((stall) => ({ name, timeline, stall })));
  if (all.length === 0) return [];
  const longest = [...all].sort((a, b) => b.stall.ns - a.stall.ns).slice(0, LONGEST);
  const cause = (moved: Record<string, number> | undefined, tells: boolean) => {
    const named = Object.entries(moved ?? {}).map(([name, value]) => `${name} ${count(value)}`).join(", ");
    if (named !== "") return named;
    return tells ? "nothing that it reports changed" : "it reports nothing";
  };
  const rows = longest.map(({ name, timeline, stall }) => [
    name, `${stall.at_s.toFixed(1)} s`, duration(stall.ns), stall.of, cause(stall.moved, (timeline.background ?? []).length > 0),
  ]);
  const total = lines.map(({ timeline }) => timeline.stalled).reduce((sum, one) => sum + one, 0);
  const title = longest.length < total ? `The longest ${longest.length} of ${count(total)} operations above 100 ms` : "Operations above 100 ms";
  return [h("details", { class: "stalls" }, h("summary", {}, title), table(title, ["", "at", "took", "what", "in the same slice"], rows))];
}
