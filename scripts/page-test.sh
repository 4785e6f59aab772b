#!/bin/sh
# Checks the types of the HTML report's page and runs its tests in a real browser.
# Without Node.js there is no page to test, which it says; without a Chromium the tests say themselves
# that they are skipped.
set -eu
cd "$(dirname "$0")/../crates/report/page"
if ! command -v npm >/dev/null || [ ! -d node_modules ]; then
    echo "page: not tested: Node.js and npm, and what the page is built with, could not be had here" >&2
    exit 0
fi
exec npm test --silent
