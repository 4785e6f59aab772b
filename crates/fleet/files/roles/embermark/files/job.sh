#!/bin/sh
# Runs a plan on this device. The run continues when the connection is lost. Its files are next to this script.
#   job.sh begin PLAN   begins the run of a plan, or resumes an interrupted one, unless it is running or has ended
#   job.sh state PLAN   prints the state of the run on one line: none, running …, cut off, ended STATUS
#   job.sh tidy PLAN    removes what other plans left, except logs and results; fails while a run is active
#   job.sh end PLAN     ends the run of a plan, which `begin` then resumes
set -eu
here=$(cd "$(dirname "$0")" && pwd)
plan=$2
job=$here/runs/$plan

# started PID: prints when a process started, by the kernel's clock. A later process with the same number started later.
# Prints nothing for a process that has ended but was not waited for.
started() { sed -n '/) [ZX] /d; s/.*) //p' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }

# is_running JOB: whether the process of a job is alive.
is_running() {
    { read -r pid start <"$1/process"; } 2>/dev/null && [ -n "$start" ] && [ "$(started "$pid")" = "$start" ]
}

state() {
    if [ -f "$job/status" ]; then echo "ended $(cat "$job/status")"
    elif is_running "$job"; then echo "running $(tail -n 1 "$job/log" 2>/dev/null)"
    elif [ -e "$job/process" ]; then echo "cut off"
    else echo none
    fi
}

# Fails if the run of any plan is active.
refuse_if_active() {
    for other in "$here"/runs/*; do
        if is_running "$other" && [ ! -f "$other/status" ]; then
            echo "the run of plan ${other##*/} is active: wait until it has ended, or end it on the device:" \
                "sh '$here/job.sh' end ${other##*/}" >&2
            exit 1
        fi
    done
}

# Removes the other plans, and the rows and databases of their interrupted runs, which resuming a run removes as well.
# What cannot be removed stays.
tidy() {
    for other in "$here"/plans/*; do
        [ "$other" = "$here/plans/$plan" ] || rm -rf "$other" || :
    done
    for other in "$here"/runs/*; do
        [ "$other" = "$job" ] || rm -rf "$other/out/rows" "$other/out/data" || :
    done
}

# has_group GROUP: whether a process of a process group is alive.
has_group() { cat /proc/[0-9]*/stat 2>/dev/null | sed 's/.*) //' | grep -q "^[^ZX] [0-9]* $1 "; }

# Ends the shell of the run and embermark, which ends its workers and keeps the trials that have ended.
end() {
    is_running "$job" || return 0
    # Only once: a second signal kills it.
    kill -TERM "-$pid"
    tries=120
    while has_group "$pid"; do
        [ "$tries" != 0 ] || { echo "the run has not ended within a minute" >&2; exit 1; }
        sleep 0.5
        tries=$((tries - 1))
    done
    # Without a status, the run counts as cut off, which `embermark fleet run` resumes by itself.
    [ -f "$job/status" ] || echo 143 >"$job/status"
}

# run PROGRAM …: starts a program in its own session, and records its process id, start time and exit status.
run() {
    # The inner shell expands the variables.
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
    tidy) refuse_if_active; tidy ;;
    end) end; state ;;
    begin)
        # With another status a run measured nothing: it was interrupted or killed, or its plan is invalid here.
        case $(state) in running* | "ended 0" | "ended 1") state; exit ;; esac
        refuse_if_active
        mkdir -p "$job" && rm -f "$job/status" "$job/process"
        # Paths in the plan are relative to this folder.
        cd "$here/plans/$plan"
        if [ -f "$job/out/journal.jsonl" ]; then
            run "$here/package/bin/embermark" run --resume "$job/out"
            outcome=resumed
        else
            rm -rf "$job/out"
            run "$here/package/bin/embermark" run --plan plan.toml --out "$job/out"
            outcome=begun
        fi
        # The next `state` must not report `none`.
        tries=100
        until [ -e "$job/process" ] || [ "$tries" = 0 ]; do sleep 0.1; tries=$((tries - 1)); done
        echo "$outcome"
        ;;
    *) echo "usage: job.sh begin|state|tidy|end PLAN" >&2; exit 2 ;;
esac
