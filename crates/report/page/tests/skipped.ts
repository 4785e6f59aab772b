/** How a test says that it cannot run here: as crates/skips does, so that it is listed at the end of `make test`. */

import { appendFileSync } from "node:fs";

/** Names the file to which a line is added for every skipped test; scripts/test.sh sets it. */
export const FILE = "EMBERMARK_SKIPPED";

/** Says that a test cannot run: what it lacks, in a word, and why that is not there. */
export function skipped(test: string, what: string, why: string): void {
  const file = process.env[FILE];
  if (file) appendFileSync(file, `page::${test}\t${what}\t${why}\n`);
}
