/** How the engines of a fleet stand, with a name for each place of what `data.ts` has packed. */

import type { Fleet } from "./data";

/** How an engine stands in one line on one device: places in the lists of the fleet. */
export interface Standing {
  device: number;
  line: number;
  engine: number;
  /** To the device's own fastest engine. */
  ratio: number | null;
  ns: number | null;
  whole: boolean;
  best: boolean;
  /** In place of a ratio. */
  says: string | null;
}

/** Unpacks the standings. In their flags 1 is `whole` and 2 is `best`. */
export function standings(fleet: Fleet): Standing[] {
  return fleet.boxes.map(([device, line, engine, ratio = null, ns = null, flags = 0, says = null]) => ({
    device, line, engine, ratio, ns, whole: (flags & 1) !== 0, best: (flags & 2) !== 0, says,
  }));
}
