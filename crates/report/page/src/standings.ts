/** Figures of the engines of a fleet, with a name for each field that `data.ts` has by position. */

import type { Fleet } from "./data";

/** The figure of an engine in one line on one device. Indexes are into the lists of the fleet. */
export interface Standing {
  device: number;
  line: number;
  engine: number;
  /** Ratio to the device's fastest engine. */
  ratio: number | null;
  ns: number | null;
  whole: boolean;
  best: boolean;
  /** Text that is shown instead of a ratio. */
  says: string | null;
}

/** Unpacks the figures. In their flags, 1 is `whole` and 2 is `best`. */
export function standings(fleet: Fleet): Standing[] {
  return fleet.boxes.map(([device, line, engine, ratio = null, ns = null, flags = 0, says = null]) => ({
    device, line, engine, ratio, ns, whole: (flags & 1) !== 0, best: (flags & 2) !== 0, says,
  }));
}
