/** Kinds of work to begin with: what a commit must survive, what matters and how much, and what it must keep up with. */

import type { Tier } from "./data";

export interface Preset {
  /** In the page's address. */
  id: string;
  name: string;
  /** Null: the tier in which all work was measured. */
  tier: Tier | null;
  weights: Record<string, number>;
  /** Rows per second that must be committed one by one. */
  rate?: number;
}

export const PRESETS: Preset[] = [
  { id: "all", name: "all work alike", tier: null, weights: { ingest: 1, point: 1, update: 1, analytics: 1 } },
  { id: "logger", name: "a logger on flash", tier: "power", weights: { ingest: 6, wear: 5, memory: 4, disk: 3 } },
  { id: "phone", name: "a phone app", tier: "process", weights: { point: 6, update: 4, ingest: 3, memory: 3, start: 3 } },
  { id: "gateway", name: "a gateway", tier: "process", weights: { ingest: 4, load: 4, analytics: 6, memory: 4 } },
  { id: "archive", name: "an archive", tier: "process", weights: { load: 6, analytics: 6, disk: 6 } },
  { id: "1khz", name: "a machine at 1 kHz", tier: "process", weights: { ingest: 6, tail: 3, cpu: 3 }, rate: 1000 },
];
