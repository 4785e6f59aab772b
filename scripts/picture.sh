#!/bin/sh
# Makes what the README shows of a run: the picture of its page, docs/report.png, and its screen, which
# is printed.
#   picture.sh           runs `embermark run` first, five minutes on a quiet machine; the result is in results/
#   picture.sh RESULT    uses the folder of an existing run
# It needs the built program, the page's packages (npm ci in crates/report/page) and chromium (make test-deps).
set -eu
cd "$(dirname "$0")/.."

program=${CARGO_TARGET_DIR:-target}/release/embermark
result=${1:-results/picture-$(date +%Y-%m-%d-%H%M%S)}
[ -d "$result" ] || "$program" run --out "$result" >/dev/null
page=$(mktemp --suffix .html)
trap 'rm -f "$page"' EXIT
"$program" report "$result/result.json" -o "$page"
node crates/report/page/picture.mjs "$page" docs/report.png
"$program" report "$result/result.json"
