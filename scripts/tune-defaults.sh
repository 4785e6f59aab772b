#!/bin/sh
# Tunes every embedded engine for the five published workloads, in each durability tier and at two
# scales. The findings are kept below results/tuned, one folder each. A gain of at least 5 % there
# should become the engine's default (docs/tuning.md). As root it also cuts the power. It takes
# hours.
#   tune-defaults.sh                everything
#   TIERS='power' SCALES='10k' WORKLOADS='sensors' FOR=30m tune-defaults.sh sqlite lmdb
set -eu
cd "$(dirname "$0")/.."

program=${CARGO_TARGET_DIR:-target}/release/embermark
out=${OUT:-results/tuned}
[ "$#" -gt 0 ] || set -- embedded

failed=
for tier in ${TIERS:-power process none}; do
    for scale in ${SCALES:-10k 1M}; do
        for workload in ${WORKLOADS:-sensors contacts events machine htap}; do
            name=$workload-$scale-$tier
            # Completed searches are not repeated.
            [ ! -f "$out/$name/tune.json" ] || continue
            printf '\n== %s\n' "$name"
            "$program" tune "$@" "$workload:$scale" --tier "$tier" --for "${FOR:-60m}" --out "$out/$name" || failed="$failed $name"
        done
    done
done
[ -z "$failed" ] || { echo "not tuned:$failed" >&2; exit 1; }
