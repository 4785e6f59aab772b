#!/bin/sh
# Checks a change in a minute or two: formatting, lints, the unit tests of the changed crates, and
# their integration tests if these take seconds.
# For an engine whose adapter changed it runs every test of the crate `engines`, except those of
# servers that are not installed.
#   check.sh             against the last common commit with origin/main, with uncommitted changes
#   BASE=REV check.sh    against another commit
# Only these engines are built. A change of code that several engines share is tested with one of
# them, or with one engine of each kind.
set -eu
cd "$(dirname "$0")/.."

ONE_OF_EACH_KIND='sqlite lmdb redb'
# Crates whose integration tests take seconds.
FAST_INTEGRATION='language published'
base=${BASE:-$(git merge-base HEAD origin/main 2>/dev/null || git rev-parse HEAD)}
changed=$(git diff --name-only "$base" -- && git ls-files --others --exclude-standard)
[ -n "$changed" ] || { echo "check: nothing has changed since $(git rev-parse --short "$base")"; exit 0; }

# The features of the crate `engines` that are modules of engines, and those that the change touches.
of() { printf '%s\n' "$changed" | sed -n "s|^$1.*|\\1|p" | sort -u; }
engines= shared=
for module in $(of 'crates/engines/src/\([a-z_]*\)[/.]'); do
    case $module in
        lsm | prefixed) engines="$engines leveldb" ;;
        server) engines="$engines valkey" ;;
        http) engines="$engines influxdb" ;;
        engine_library) engines="$engines engine-library" shared=1 ;;
        *) if grep -q "^$module = \[" crates/engines/Cargo.toml; then engines="$engines $module"; else shared=1; fi ;;
    esac
done
for folder in tests/integration Cargo.toml build.rs; do
    [ -z "$(of "\\(crates/engines/$folder\\)")" ] || shared=1
done
[ -z "$(of '\(crates/contract\)/src/')" ] || shared=1
# Crates and examples that only some engines need, each with its features.
while read -r folder features; do
    [ -z "$(of "\\($folder\\)/")" ] || engines="$engines $features"
done <<NEEDED
crates/abi engine-library sqlite lmdb
examples/engine-[a-z-]* engine-library sqlite lmdb
crates/hybrid hybrid
crates/libraries duckdb
crates/network valkey
NEEDED
[ -z "$shared" ] || engines="$ONE_OF_EACH_KIND $engines"
# The variable is a list of words.
# shellcheck disable=SC2086
[ -z "$engines" ] || engines=$(printf '%s\n' $engines | sort -u | paste -s -d , -)

run() {
    echo "check: $*"
    "$@"
}
# run_tests ARGUMENTS…: runs tests with these arguments of cargo test, by cargo-nextest if it is
# installed.
run_tests() {
    if [ -x .deps/nextest/cargo-nextest ]; then
        run .deps/nextest/cargo-nextest nextest run --locked --ignore-default-filter --no-tests pass "$@"
    else
        run cargo test --locked --no-fail-fast "$@"
    fi
}

run cargo fmt --all --check
run cargo clippy --workspace --all-targets --locked -- -D warnings
for crate in $(of 'crates/\([a-z]*\)/'); do
    package=embermark-$crate
    [ "$crate" != embermark ] || package=embermark
    targets=
    [ ! -f "crates/$crate/src/lib.rs" ] || targets=--lib
    [ ! -f "crates/$crate/src/main.rs" ] || targets="$targets --bins"
    case " $FAST_INTEGRATION " in *" $crate "*) targets="$targets --test integration" ;; esac
    # The variable is a list of words.
    # shellcheck disable=SC2086
    [ "$crate" = engines ] || [ -z "$targets" ] || run_tests --package "$package" $targets
done
if [ -n "$engines" ]; then
    run_tests --package embermark-engines --no-default-features --features "$engines"
fi
[ -z "$(of '\(crates/report/page\)/')" ] || run scripts/page-test.sh
