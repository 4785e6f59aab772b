/**
 * Reports that a test cannot run here, as crates/skips does, so that it is listed at the end of
 * `make test`.
 */

import { appendFileSync } from "node:fs";

/** Names the file that gets a line for every skipped test. scripts/test.sh sets it. */
export const FILE = "EMBERMARK_SKIPPED";

/** Reports that a test cannot run: what it lacks, in a word, and why. */
export function skipped(test: string, what: string, why: string): void {
  const file = process.env[FILE];
  if (file) appendFileSync(file, `page::${test}\t${what}\t${why}\n`);
}
