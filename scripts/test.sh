#!/bin/sh
# Checks formatting and lints, runs every test, the page's in a browser too, those of pure Rust under Miri where that is
# installed, and verifies every engine's answers in the tier `process`; at the end it names the tests that could not run here.
#   test.sh              all of that, as `make test` does
#   test.sh COMMAND…     a command in its place, for example  scripts/test.sh cargo test -p embermark-engines
#   NO_SKIPS=1           as CI sets it: a test that could not run is a failure
#   ACCEPT_LICENSE=…     engines whose licence you have accepted: harperdb
#
# A test that cannot run adds a line to the file that EMBERMARK_SKIPPED names: the test, what it lacks and why, with tabs
# between (crates/skips; crates/report/page/tests/skipped.ts). Nobody is asked to have these:
#   zen                  a proprietary engine that cannot be fetched
#   harperdb             unless ACCEPT_LICENSE names it
#   sensor log           rows of the public log, beside the project
#   file system          XFS, Btrfs or F2FS: in the kernel, and its mkfs
#   given server         a server of one's own for the tests, named by a variable
#   turso                an engine that is compiled on request alone: make turso
# What else a test lacks can be had, if only by root, so there it is skipped. What an engine does not support is no skip:
# tests assert that it is refused.
set -eu
cd "$(dirname "$0")/.."

EMBERMARK_SKIPPED=$(mktemp)
export EMBERMARK_SKIPPED
tab=$(printf '\t')

# list: what was skipped, and what nobody is asked to have; fails when anything was skipped.
list() {
    sort -u "$EMBERMARK_SKIPPED" | awk -F '\t' -v accepted=" ${ACCEPT_LICENSE:-} " '
        $2 == "zen" || $2 == "sensor log" || $2 == "file system" || $2 == "given server" || $2 == "turso" || ($2 == "harperdb" && accepted !~ / harperdb /) {
            reason = "not asked for: " $2 ": " $3
            if (!(reason in known)) { known[reason]; unasked = unasked reason "\n" }
            next
        }
        { lines = lines "  " $1 ": " $2 ": " $3 "\n"; count++ }
        END {
            printf "%sskipped: %s\n%s", unasked, count ? count : "none", lines
            exit count > 0
        }'
}

finish() {
    status=$?
    trap - EXIT
    if ! list && [ "$status" = 0 ] && [ "${NO_SKIPS:-}" = 1 ]; then
        echo 'with NO_SKIPS=1 a skipped test is a failure' >&2
        status=1
    fi
    rm -f "$EMBERMARK_SKIPPED"
    exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

step() {
    echo "$*"
    "$@"
}

# verify: every engine's answers; one that is not here is skipped.
verify() {
    for id in ${ACCEPT_LICENSE:-}; do set -- "$@" "--accept-license=$id"; done
    echo cargo run --locked -- verify --durability process "$@"
    status=0
    said=$(cargo run --locked -- verify --durability process "$@") || status=$?
    printf '%s\n' "$said"
    printf '%s\n' "$said" | sed -n "s/^\([a-z-]*\): not verified: /verify$tab\1$tab/p" >>"$EMBERMARK_SKIPPED"
    return "$status"
}

if [ "$#" -gt 0 ]; then
    "$@"
else
    step cargo fmt --all --check
    step cargo clippy --workspace --all-targets --locked -- -D warnings
    # A test program that hangs is ended, and the others run: the longest takes three minutes.
    step cargo --config "target.'cfg(unix)'.runner = 'timeout --foreground --kill-after=30 900'" \
        test --workspace --locked --no-fail-fast
    # What is pure Rust, under Miri, where that is installed: rustup toolchain install nightly --component miri
    if cargo +nightly miri --version >/dev/null 2>&1; then
        step cargo +nightly miri test --locked -p embermark-model -p embermark-contract
    fi
    step scripts/page-test.sh
    # Servers wait more than they compute: their answers meanwhile.
    of_servers=$(mktemp)
    verify servers >"$of_servers" 2>&1 &
    servers=$!
    status=0
    verify embedded || { status=$?; wrong=embedded; }
    wait "$servers" || { status=$?; wrong="${wrong:+$wrong and }servers"; }
    cat "$of_servers"
    rm -f "$of_servers"
    [ "$status" = 0 ] || echo "verify failed: $wrong, as said above" >&2
    exit "$status"
fi
