#!/bin/sh
# Repeats the five published comparisons at the scales and by the protocol that they were published with, and makes the
# document that sets them beside what came out here. All of it takes hours; called again it goes on where it was ended.
#   reproduce.sh                      all of it, into results/reproduced
#   WITHIN=1h reproduce.sh            what headlines rest on first, within an hour
#   SOURCES=ulb,mcknight OUT=results/mine reproduce.sh
set -eu
cd "$(dirname "$0")/.."

program=${CARGO_TARGET_DIR:-target}/release/embermark
out=${OUT:-results/reproduced}
[ -z "$(git status --porcelain --untracked-files=no 2>/dev/null)" ] \
    || echo 'reproduce: the tree has changes that are not committed: each figure will say so' >&2
status=0
"$program" reproduce "${SOURCES:-all}" --publishable --out "$out" ${WITHIN:+--for "$WITHIN"} || status=$?
[ ! -f "$out/reproduction.md" ] || echo "the document: $out/reproduction.md; the one of this repository: docs/reproduction.md"
exit "$status"
