#!/bin/sh
# A run on this device, which goes on when the connection is gone. What it holds lies beside this file.
#   job.sh begin PLAN   begins the run of a plan, or goes on with one that was cut off, unless it is under way or has ended
#   job.sh state PLAN   says in a line how far it is:  none, running …, cut off, ended STATUS
set -eu
here=$(cd "$(dirname "$0")" && pwd)
job=$here/runs/$2

# started PID: when a process was started, by the kernel's clock: another one that has its number later was at another time.
# Nothing of one that has ended and that nobody has waited for.
started() { sed -n '/) [ZX] /d; s/.*) //p' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }

# goes_on JOB: whether its process lives.
goes_on() { { read -r pid start <"$1/process"; } 2>/dev/null && [ -n "$start" ] && [ "$(started "$pid")" = "$start" ]; }

state() {
    if [ -f "$job/status" ]; then echo "ended $(cat "$job/status")"
    elif goes_on "$job"; then echo "running $(tail -n 1 "$job/log" 2>/dev/null)"
    elif [ -e "$job/process" ]; then echo "cut off"
    else echo none
    fi
}

# run PROGRAM …: a process of its own session, that notes who it is and how it ended.
run() {
    # What is expanded is the other shell's.
    # shellcheck disable=SC2016
    setsid sh -c '
        job=$1 && shift
        echo "$$ $(sed "s/.*) //" /proc/$$/stat | cut -d " " -f 20)" >"$job/process.new" && mv "$job/process.new" "$job/process"
        status=0
        "$@" >>"$job/log" 2>&1 </dev/null || status=$?
        echo "$status" >"$job/status.new" && mv "$job/status.new" "$job/status"
    ' run "$job" "$@" >/dev/null 2>&1 </dev/null &
}

case $1 in
    state) state ;;
    begin)
        # What ended with another status was no measurement: interrupted, killed, or a plan that makes no sense here.
        case $(state) in running* | "ended 0" | "ended 1") state; exit ;; esac
        for other in "$here"/runs/*; do
            if [ "$other" != "$job" ] && goes_on "$other" && [ ! -f "$other/status" ]; then
                echo "another plan's run goes on there: ${other##*/}" >&2
                exit 1
            fi
        done
        mkdir -p "$job" && rm -f "$job/status" "$job/process"
        # Where the plan finds what it names.
        cd "$here/plans/$2"
        if [ -f "$job/out/journal.jsonl" ]; then
            run "$here/package/bin/embermark" run --resume "$job/out"
            said="gone on with"
        else
            rm -rf "$job/out"
            run "$here/package/bin/embermark" run --plan plan.toml --out "$job/out"
            said=begun
        fi
        # Who asks next is told how far it is, not that there is none.
        tries=100
        until [ -e "$job/process" ] || [ "$tries" = 0 ]; do sleep 0.1; tries=$((tries - 1)); done
        echo "$said"
        ;;
    *) echo "usage: job.sh begin|state PLAN" >&2; exit 2 ;;
esac
