#!/usr/bin/env bash
# Builds the release binary, and reports the remaining time from time to time. The estimate weighs
# each crate by build-costs.tsv, which has the seconds of compiler time of crates that took more
# than 2 s (`cargo build --release --timings`). Every other crate counts as DEFAULT.
set -euo pipefail
cd "$(dirname "$0")/.."

costs=scripts/build-costs.tsv
crates=$(cargo tree --locked --edges normal,build --prefix none --no-dedupe --format '{lib} {p}' | awk '{ print $2 }' | sort -u)

cargo build --release --locked --message-format json-render-diagnostics "$@" |
    awk -v costs="$costs" -v crates="$crates" -v terminal="$([ -t 2 ] && echo 1)" '
    function minutes(s) { return s < 90 ? int(s / 10 + 1) * 10 " s" : sprintf("%d min %02d s", s / 60, int(s % 60 / 10) * 10) }
    function report() {
        left = (all - done) * (now - began) / (done - fresh)
        # A separate line, not the rest of the line with the progress bar of cargo.
        printf "%sbuild: %d %% done, about %s to go\n", terminal ? "\r\033[K" : "", 100 * done / all, minutes(left) > "/dev/stderr"
    }
    BEGIN {
        DEFAULT = 0.6; EVERY = 15
        while ((getline line < costs) > 0) { split(line, field, "\t"); cost[field[1]] = field[2] }
        count = split(crates, names, "\n")
        for (i = 1; i <= count; i++) all += names[i] in cost ? cost[names[i]] : DEFAULT
        began = said = systime()
    }
    /"reason":"compiler-artifact"/ && !/"kind":\["custom-build"\]/ {
        match($0, /"package_id":"[^"]*"/)
        id = substr($0, RSTART + 14, RLENGTH - 15)
        # path+file:///…/model#embermark-model@0.1.0, registry+https://…#serde@1.0.0, or …/model#0.1.0 if the folder has the name.
        name = id; sub(/.*#/, "", name)
        if (name ~ /@/) sub(/@.*/, "", name); else { name = id; sub(/#.*/, "", name); sub(/.*\//, "", name) }
        if (name in seen) next
        seen[name]
        of = name in cost ? cost[name] : DEFAULT
        done += of
        if (/"fresh":true/) { fresh += of; next }
        now = systime()
        if (now - said >= EVERY && done < all) { report(); said = now }
    }
    '
