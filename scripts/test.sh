#!/bin/sh
# Checks formatting and lints, and runs every test, including the page's in a browser, and those of
# pure Rust under Miri if that is installed. Verifies every engine's answers in the tier `process`.
# At the end it prints the time of each part, the slowest tests, and the tests that could not run
# here.
#   test.sh              all of that, like `make test`
#   test.sh COMMAND…     only a command, for example scripts/test.sh cargo test -p embermark-engines
#   EMBERMARK_TEST_LONG=1   like `make test-long`: runs long campaigns whole, instead of a part that
#                        changes with the commit
#   NO_SKIPS=1           as in CI: a test that could not run is a failure
#   ACCEPT_LICENSE=…     engines whose licence you have accepted: harperdb
#
# A test that cannot run adds a line to the file named by EMBERMARK_SKIPPED: the test, what is
# missing and why, separated by tabs (crates/skips, crates/report/page/tests/skipped.ts). These may
# be missing even with NO_SKIPS=1:
#   zen                  a proprietary engine that cannot be fetched
#   harperdb             unless ACCEPT_LICENSE names it
#   sensor log           rows of the public log, next to the folder of the project
#   file system          XFS, Btrfs or F2FS: in the kernel, and its mkfs
#   network link         TUN devices and routing by rules, in the kernel
#   given server         your own server for the tests, named by a variable
#   turso, datafusion    engines that are compiled only on request: make turso, make datafusion
# Everything else can be installed, if only by root, so a test without it is skipped. What an engine
# does not support is not a skip: tests assert that it refuses it.
set -eu
cd "$(dirname "$0")/.."

EMBERMARK_SKIPPED=$(mktemp)
# The part of a long campaign that runs changes with the commit. EMBERMARK_TEST_LONG=1 runs all of it
# (crates/skips).
EMBERMARK_TEST_SEED=${EMBERMARK_TEST_SEED:-$(git rev-parse --short HEAD 2>/dev/null || echo 0)}
export EMBERMARK_SKIPPED EMBERMARK_TEST_SEED
tab=$(printf '\t') times= failed=

# Linking a test program takes more than a gigabyte.
memory=$(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo)
if [ "${memory:-4000000}" -lt 3900000 ]; then
    echo "test: this machine has $((memory / 1024)) MB of memory, less than 4 GB: one crate is built and two tests run at a time" >&2
    export CARGO_BUILD_JOBS=1 NEXTEST_TEST_THREADS=2
fi

# list: prints the skipped tests, and those whose requirement is optional. Fails if a test was skipped.
list() {
    sort -u "$EMBERMARK_SKIPPED" | awk -F '\t' -v accepted=" ${ACCEPT_LICENSE:-} " '
        $2 == "zen" || $2 == "sensor log" || $2 == "file system" || $2 == "network link" || $2 == "given server" || $2 == "turso" || $2 == "datafusion" || ($2 == "harperdb" && accepted !~ / harperdb /) {
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
    slowest
    [ -z "$times" ] || printf 'time:\n%s' "$times"
    [ -z "$failed" ] || echo "failed, as said above: $failed"
    if ! list && [ "$status" = 0 ] && [ "${NO_SKIPS:-}" = 1 ]; then
        echo 'with NO_SKIPS=1 a skipped test is a failure' >&2
        status=1
    fi
    rm -f "$EMBERMARK_SKIPPED" "$EMBERMARK_SKIPPED".*
    exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# part NAME COMMAND…: runs it, and records how long it took. The first failure ends the script.
part() {
    name=$1
    shift
    printf '\n== %s: %s\n' "$name" "$*"
    began=$(date +%s) ended=0
    "$@" || ended=$?
    times="$times$(printf '%6d s  %s%s' $(($(date +%s) - began)) "$name" "$([ $ended = 0 ] || echo ' (failed)')")
"
    return $ended
}

# programs: builds the tests and the program that checks answers. The program is built with its tests,
# which run it. `cargo build` would compile nearly every crate again, without the features that only
# tests need.
programs() {
    if [ -x .deps/nextest/cargo-nextest ]; then
        .deps/nextest/cargo-nextest nextest run --workspace --locked --no-run
    else
        cargo test --workspace --locked --no-run
    fi
}

# tests: runs every test of the workspace, each in a separate process if cargo-nextest is installed.
tests() {
    if [ -x .deps/nextest/cargo-nextest ]; then
        .deps/nextest/cargo-nextest nextest run --workspace --locked ${EMBERMARK_TEST_LONG:+--run-ignored all --ignore-default-filter}
    else
        # Ends a program that hangs, and runs the others.
        cargo --config "target.'cfg(unix)'.runner = 'timeout --foreground --kill-after=30 900'" \
            test --workspace --locked --no-fail-fast
    fi
}

# slowest: prints the twenty slowest tests and the failed ones, from the report of cargo-nextest.
slowest() {
    # Below the workspace, regardless of CARGO_TARGET_DIR.
    written=target/nextest/default/junit.xml
    { [ -f "$EMBERMARK_SKIPPED.began" ] && [ "$written" -nt "$EMBERMARK_SKIPPED.began" ]; } || return 0
    echo 'slowest tests (s):'
    sed -n 's/.*<testcase name="\([^"]*\)" classname="\([^":]*\)[^>]* time="\([0-9.]*\)".*/\3 \2 \1/p' "$written" \
        | sort -rn | head -n 20 | sed 's/^/  /'
    # Last, because readers start at the end of a log.
    awk -F '"' '/<testcase /{ test = $4 " " $2 } /<failure |<error /{ print "failed: " test }' "$written"
}

# groups: prints the groups that are verified at the same time, one per line: ids of engines separated by
# commas, and a workload unless it is all of them. Each server and each missing engine has its own
# group. InfluxDB waits seconds before a phase until its server is idle, and HarperDB's server takes
# seconds of CPU time to start. So for each of these two, a separate group has each of two workloads,
# which change with the commit, or each of all workloads with EMBERMARK_TEST_LONG=1. The other engines
# are in four groups.
groups() {
    workloads=$("$program" workloads | awk '/^published/ { exit } /^[a-z]/ { print $1 }' | tr '\n' ' ')
    drawn=$(printf %s "$EMBERMARK_TEST_SEED" | cksum | cut -d ' ' -f 1)
    "$program" engines | awk -v workloads="$workloads" -v drawn="$drawn" -v long="${EMBERMARK_TEST_LONG:-}" '
        NR > 1 && NF == 0 { exit }
        ($1 == "influxdb" || $1 == "harperdb") && !/ missing / {
            count = split(workloads, of_workload, " ")
            first = (drawn + NR) % count
            second = (first + 1 + int(drawn / count) % (count - 1)) % count
            for (w = 0; w < count; w++)
                if (long != "" || w == first || w == second) print $1 ":" of_workload[w + 1]
            next
        }
        $2 == "server" || / missing / { print $1; next }
        $2 == "embedded" || $1 == "memory" { of[n % 4] = of[n % 4] (n < 4 ? "" : ",") $1; n++ }
        END { for (g in of) print of[g] }'
}

# verify GROUP: checks every answer of these engines. Skips missing ones.
verify() {
    engines=${1%%:*} workload=${1#"$engines"}
    # Without its commas it is several words, intentionally.
    # shellcheck disable=SC2046
    set -- $(echo "$engines" | tr , ' ')
    asked=$#
    for id in ${ACCEPT_LICENSE:-}; do set -- "$@" "--accept-license=$id"; done
    [ -z "$workload" ] || set -- "$@" "--workload=${workload#:}"
    status=0
    said=$(TMPDIR=$databases "$program" verify --tier process "$@") || status=$?
    printf '%s\n' "$said"
    # An engine that is never installed here needs your own server, and the skip names that.
    printf '%s\n' "$said" | sed -n \
        -e "s/^[a-z-]*: not verified: \(embermark installs no server of it\)/verify${tab}given server${tab}\1/p;t" \
        -e "s/^\([a-z-]*\): not verified: /verify$tab\1$tab/p" >>"$EMBERMARK_SKIPPED"
    # If none of them is installed, nothing is verified and nothing failed.
    [ "$(printf '%s\n' "$said" | grep -c ': not verified: ')" != "$asked" ] || status=0
    [ "$status" = 0 ] || echo "verify $engines$workload failed, as said above" >&2
    return "$status"
}

# databases: prints where databases are verified. Only answers are looked at, so that is memory, if it has
# 6 GB: on a disk servers create and delete thousands of files, which takes ext4 without a journal nearly
# as long as their work. EMBERMARK_TEST_LONG=1 verifies on the disk.
databases() {
    free=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
    if [ -z "${EMBERMARK_TEST_LONG:-}" ] && [ "${free:-0}" -gt 6000000 ]; then
        echo /dev/shm
    else
        echo "${TMPDIR:-/tmp}"
    fi
}

# side_by_side: verifies the answers of every engine, and tests the page in a browser.
side_by_side() {
    status=0 waited=
    program=${CARGO_TARGET_DIR:-target}/debug/embermark databases=$(databases)
    scripts/page-test.sh >"$EMBERMARK_SKIPPED.page" 2>&1 &
    waited="page:$!"
    for engines in $(groups); do
        verify "$engines" >"$EMBERMARK_SKIPPED.$engines" 2>&1 &
        waited="$waited $engines:$!"
    done
    for one in $waited; do
        # The name of a group may contain a colon. The process follows the last one.
        wait "${one##*:}" || { status=1; failed="${failed:+$failed, }${one%:*}"; }
        cat "$EMBERMARK_SKIPPED.${one%:*}"
    done
    return $status
}

if [ "$#" -gt 0 ]; then
    "$@"
else
    touch "$EMBERMARK_SKIPPED.began"
    part formatting cargo fmt --all --check
    part lints cargo clippy --workspace --all-targets --locked -- -D warnings
    [ -z "${EMBERMARK_TEST_LONG:-}" ] \
        || part documentation env RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps --locked
    part programs programs
    part tests tests
    # Tests pure Rust under Miri, if that is installed: rustup toolchain install nightly --component miri
    if cargo +nightly miri --version >/dev/null 2>&1; then
        part Miri cargo +nightly miri test --locked -p embermark-model -p embermark-contract
    fi
    part "every engine's answers, and the page" side_by_side
fi
