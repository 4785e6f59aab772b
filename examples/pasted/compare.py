#!/usr/bin/env python3
"""Tries the settings that `embermark tune` found in plain programs, which know nothing of embermark.

    embermark tune sqlite lmdb rocksdb sensors:10k --phases load --variant commit-each --out found
    examples/pasted/compare.py found/tune.json

Each program puts 10,000 rows in, a commit each, and as many more, which are timed: as in embermark's runs, of which the first is
not counted, the engine's log has its size then. Today's settings and the best ones take turns. The gain is the median of the ratios of
the rounds, with a 95 % bootstrap interval. Exit status 1: a gain certainly differs by more than a tenth from the one that
`embermark tune` measured. On a busy machine it is not certain; then more --rounds help.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


@cache
def lmdb_sources():
    """The folder of LMDB's sources: LMDB_DIR, or that of the crate which embermark is built with."""
    if folder := os.environ.get("LMDB_DIR"):
        return Path(folder)
    told = subprocess.run(["cargo", "metadata", "--format-version=1", "--locked"], cwd=ROOT, capture_output=True, check=True)
    package = next(one for one in json.loads(told.stdout)["packages"] if one["name"] == "lmdb-master-sys")
    return Path(package["manifest_path"]).parent / "lmdb" / "libraries" / "liblmdb"


def compiled(program, *words):
    """Compiles a program, with CFLAGS if they are set."""
    subprocess.run(["cc", *os.environ.get("CFLAGS", "-O2").split(), "-o", program, *words], check=True)
    return [program]


def command(engine, settings, build):
    """The program of an engine with these settings, without folder and rows."""
    if engine == "sqlite":
        return [sys.executable, HERE / "sqlite.py", settings]
    program = build / settings.stem
    if engine == "lmdb":
        sources = lmdb_sources()
        files = [HERE / "lmdb.c", sources / "mdb.c", sources / "midl.c"]
        return compiled(program, f'-DSETTINGS="{settings}"', f"-I{sources}", *files, "-lpthread")
    folder = Path(os.environ.get("ROCKSDB_LIB_DIR", ROOT / ".deps" / "rocksdb")).resolve()
    linked = compiled(program, HERE / "rocksdb.c", folder / "librocksdb.so", f"-Wl,-rpath,{folder}")
    return [*linked, settings]


def interval(ratios):
    """The 95 % bootstrap interval of the median."""
    medians = sorted(statistics.median(random.choices(ratios, k=len(ratios))) for _ in range(4000))
    return medians[100], medians[-101]


def is_gain(gain):
    """Whether `embermark tune` calls it one."""
    return gain and gain["ratio"] >= 1.05 and gain["interval"] and gain["interval"][0] > 1


def run(program, data, rows):
    with tempfile.TemporaryDirectory(dir=data) as folder:
        ended = subprocess.run([*program, folder, str(rows)], capture_output=True, text=True, check=True)
        return int(ended.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", type=Path, help="tune.json")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--data", type=Path, default=Path.cwd(), help="a folder on the storage that was tuned for")
    args = parser.parse_args()
    differs = False
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    for name, found in json.loads(args.result.read_text())["engines"].items():
        engine, gain = found["engine"], found["gain"]
        if engine not in ("sqlite", "lmdb", "rocksdb") or not is_gain(gain):
            print(f"{name}: {'there is no plain program for it' if is_gain(gain) else 'no gain was found'}")
            continue
        build = Path(tempfile.mkdtemp())
        programs = []
        for words, lines in zip(("today", "best"), found["in_a_program"]):
            settings = build / f"{words}.settings"
            settings.write_text("\n".join(lines) + "\n")
            programs.append(command(engine, settings, build))
        times = [[], []]
        for _ in range(args.rounds):
            for at in random.sample(range(2), 2):
                times[at].append(run(programs[at], args.data, args.rows))
        shutil.rmtree(build)
        today, best = (statistics.median(of) for of in times)
        ratios = [a / b for a, b in zip(*times)]
        ratio, (low, high), told = statistics.median(ratios), interval(ratios), gain["ratio"]
        if abs(ratio / told - 1) <= 0.1:
            verdict = "within 10 %"
        elif low > told * 1.1 or high < told * 0.9:
            verdict, differs = "NOT within 10 %", True
        else:
            verdict = "not certain"
        of_tune = "{:.2f}x ({:.2f} to {:.2f})".format(told, *gain["interval"])
        print(
            f"{name}: {today / 1000:.1f} us a commit, {best / 1000:.1f} with the pasted settings: {ratio:.2f}x"
            f" ({low:.2f} to {high:.2f}, {args.rounds} rounds); embermark tune: {of_tune}; {verdict}"
        )
    print(f"load {os.getloadavg()[0]:.1f}")
    sys.exit(differs)


if __name__ == "__main__":
    main()
