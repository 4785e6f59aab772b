/** Observations of a phase with a fixed duration: processes, counts and delays, trial by trial. */

import type { Resources, Watched } from "./data";
import { h, table, unique } from "./dom";
import { bytes, count, duration, orDash, significant } from "./format";

type Shown = [string, (of: Resources, window_ns: number) => string];

/** Each resource, in the order of their columns. Null is not shown. */
const RESOURCES: Record<keyof Resources, Shown | null> = {
  cpu_ns: ["CPU", ({ cpu_ns }, window_ns) => orDash(cpu_ns, (ns) => (window_ns > 0 ? `${significant((100 * ns) / window_ns)} %` : duration(ns)))],
  mean_bytes: ["memory, mean", ({ mean_bytes }) => orDash(mean_bytes, bytes)],
  peak_bytes: ["memory, largest", ({ peak_bytes }) => orDash(peak_bytes, bytes)],
  read_bytes: ["read", ({ read_bytes }) => orDash(read_bytes, bytes)],
  written_bytes: null, // Not what reaches storage.
};
const USED = Object.values(RESOURCES).filter((shown) => shown !== null);

/** Makes the tables of the windows. Empty if the phase was not observed. */
export function watched(windows: Watched[]): Node[] {
  if (windows.length === 0) return [];
  const trial = (of: Watched) => `trial ${of.trial + 1}`;
  const spoken = (name: string) => name.replaceAll("-", " ");
  const processes = windows.flatMap((of) => Object.entries(of.processes ?? {}).map(([role, process]) =>
    [`${trial(of)} ${role}`, ...USED.map(([, show]) => show(process, of.window_ns))]));
  const names = unique(windows.flatMap((of) => Object.keys(of.counts ?? {})));
  const counts = windows.map((of) => [
    trial(of), duration(of.window_ns), ...names.map((name) => orDash(of.counts?.[name], count)),
    orDash(of.disk_growth_bytes, bytes), orDash(of.network_bytes, bytes),
  ]);
  const delays = windows.flatMap((of) => Object.entries(of.latencies ?? {}).map(([name, { samples, p50, p99, max }]) =>
    [`${trial(of)} ${spoken(name)}`, count(samples), duration(p50), orDash(p99, duration), duration(max)]));
  return [
    h("h3", {}, "Processes, counts and delays"),
    table("Each process of its own; CPU in percent of one core", ["process", ...USED.map(([name]) => name)], processes),
    table("Counted", ["", "window", ...names.map(spoken), "growth on disk", "network"], counts),
    ...(delays.length === 0 ? [] : [table("Delays", ["", "samples", "p50", "p99", "max"], delays)]),
  ];
}
