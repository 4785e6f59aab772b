#!/bin/sh
# Repeats the five published comparisons with their published scales and protocol, and makes the
# document that compares them with the results here. All of it takes hours. When called again, it
# resumes.
#   reproduce.sh                      everything, into results/reproduced
#   WITHIN=1h reproduce.sh            within an hour, starting with the pieces behind headlines
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
