/**
 * Disk use over time: the growth of each engine's database during writes, with a chart for each
 * phase and variant.
 */

import * as Plot from "@observablehq/plot";
import { figure, legend, scales, type Series, shortest } from "./chart";
import { colourOf, symbolAt } from "./colours";
import type { Cell, DiskCurve, Page } from "./data";
import { h, unique } from "./dom";
import { cellOf, comparisonOf } from "./fitness";
import { bytes } from "./format";

/** One trial of an engine. */
interface Line {
  /** The key of a comparison: everything but the engine. */
  of: string;
  cell: Cell;
  trial: number;
  disk: DiskCurve;
}

interface Point {
  x: number;
  y: number;
  z: string;
  /** Each trial of an engine has its own line. */
  line: string;
}

/** Number of seconds from which a time is shown in minutes. */
const IN_MINUTES = 120;

/** Makes the charts. Empty if no disk was sampled. */
export function disks(page: Page): HTMLElement[] {
  const lines = page.entries.flatMap((entry): Line[] => {
    const [cell, of] = [cellOf(page, entry), comparisonOf(page, entry)];
    return (entry.watched ?? []).flatMap(({ trial, disk, timeline }) => (disk?.points?.length && !timeline ? [{ of, cell, trial, disk }] : []));
  });
  if (lines.length === 0) return [];
  const engines = unique(lines.map(({ cell }) => cell.engine));
  const all = engines.map((name, place): Series =>
    ({ name, colour: colourOf(page, name), symbol: symbolAt(place) }));
  const figures = unique(lines.map(({ of }) => of)).map((of) => chart(of, lines.filter((line) => line.of === of), all));
  return [h("section", { id: "disks" },
    h("h3", {}, "Disk over time"),
    h("p", { class: "hint" }, "Growth of the data directory in allocated blocks, from before the first sample of the warm-up. The phase write starts with an empty database. A separate process counts the blocks."),
    legend(all), h("div", { class: "charts" }, figures))];
}

function chart(title: string, lines: Line[], all: Series[]): HTMLElement {
  const last = Math.max(...lines.flatMap(({ disk }) => (disk.points ?? []).map(([at]) => at)));
  const unit = last > IN_MINUTES ? 60 : 1;
  const points = lines.flatMap(({ cell, trial, disk }): Point[] =>
    (disk.points ?? []).map(([at, size]) => ({ x: at / unit, y: size - disk.begin_bytes, z: cell.engine, line: `${cell.engine} ${trial}` })));
  const ends = unique(points.map(({ line }) => line)).map((line) => points.filter((point) => point.line === line).pop() as Point);
  const options: Plot.PlotOptions = {
    ...scales(all),
    x: { label: unit === 60 ? "minutes" : "seconds", insetRight: 6 },
    y: { label: null, grid: true, tickFormat: (size: number) => shortest(bytes(size)) },
    marks: [
      Plot.ruleY([0]),
      Plot.line(points, { x: "x", y: "y", z: "line", stroke: "z", strokeWidth: 1.5, className: "m-disk" }),
      Plot.dot(ends, { x: "x", y: "y", stroke: "z", symbol: "z", r: 3.5, title: ({ y, z }: Point) => `${z}: ${bytes(y)}` }),
    ],
  };
  const parts = [0.25, 0.5, 0.75, 1].map((part) => part * last);
  const rows = lines.map(({ cell, trial, disk }) => [
    `${cell.engine}, trial ${trial + 1}`, bytes(disk.begin_bytes),
    ...parts.map((at) => bytes(((disk.points ?? []).filter(([x]) => x <= at).pop()?.[1] ?? disk.begin_bytes) - disk.begin_bytes)),
    bytes(disk.end_bytes - disk.begin_bytes),
  ]);
  const header = ["", "at the beginning", ...parts.map((at) => `after ${(at / unit).toFixed(1)} ${unit === 60 ? "min" : "s"}`), "in all"];
  return figure(title, options, header, rows);
}
