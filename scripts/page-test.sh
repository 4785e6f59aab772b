#!/bin/sh
# Checks the types of the HTML report's page, and runs its tests in a real browser. Without Node.js
# or Chromium it skips what they are needed for, like scripts/test.sh.
set -eu
cd "$(dirname "$0")/../crates/report/page"
if ! command -v npm >/dev/null || [ ! -d node_modules ]; then
    why='it and npm, and what the page is built with, could not be had here'
    echo "skipped: Node.js: $why" >&2
    [ -z "${EMBERMARK_SKIPPED:-}" ] || printf 'page\tNode.js\t%s\n' "$why" >>"$EMBERMARK_SKIPPED"
    exit 0
fi
exec npm test --silent
