"""Prints the licences of the crates that are compiled into embermark for a target, each with the texts it carries.

usage: licences.py TARGET, as in aarch64-unknown-linux-gnu
"""

import json
import pathlib
import subprocess
import sys

TEXTS = ("LICENSE*", "LICENCE*", "COPYING*", "COPYRIGHT*", "NOTICE*", "UNLICENSE*", "license*")


def run(*command):
    return subprocess.run(["cargo", *command], check=True, capture_output=True, text=True).stdout


def compiled_in(target):
    """The packages that the program is made of, without what only builds or tests it."""
    tree = run("tree", "--locked", "--package", "embermark", "--edges", "normal", "--target", target, "--prefix", "none")
    own = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
    packages = json.loads(run("metadata", "--locked", "--format-version", "1", "--filter-platform", target))["packages"]
    # embermark's own crates have no source. The licence of the program covers them.
    packages = [package for package in packages if package["source"] and (package["name"], f"v{package['version']}") in own]
    return sorted(packages, key=lambda package: package["name"])


def main():
    for package in compiled_in(sys.argv[1]):
        print(f"{'=' * 80}\n{package['name']} {package['version']}: {package['license'] or 'see its text'}\n")
        folder = pathlib.Path(package["manifest_path"]).parent
        # A library in C that a crate contains has its own, in a folder below.
        files = sorted({file for pattern in TEXTS for file in folder.rglob(pattern) if file.is_file()})
        for file in files:
            print(f"--- {file.relative_to(folder)}\n{file.read_text(encoding='utf-8', errors='replace')}")
        if not files:
            print(f"(its package has no text of it; {package['repository'] or 'no repository is named'})\n")


if __name__ == "__main__":
    main()
