"""Prints the licences of the crates that are compiled into embermark for a target, each with the texts it carries.

usage: licences.py TARGET, as in aarch64-unknown-linux-gnu
"""

import json
import pathlib
import subprocess
import sys

TEXTS = ("LICENSE*", "LICENCE*", "COPYING*", "COPYRIGHT*", "NOTICE*", "UNLICENSE*", "license*")


def compiled_in(metadata):
    """The packages that the program is made of, without what only builds or tests it."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    packages = {package["id"]: package for package in metadata["packages"]}
    left = [id for id, package in packages.items() if package["name"] == "embermark"]
    seen = set()
    while left:
        id = left.pop()
        if id in seen:
            continue
        seen.add(id)
        left += [dep["pkg"] for dep in nodes[id]["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])]
    # Our own are the program's licence.
    return sorted((packages[id] for id in seen if packages[id]["source"]), key=lambda package: package["name"])


def main():
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", sys.argv[1]]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    for package in compiled_in(metadata):
        print(f"{'=' * 80}\n{package['name']} {package['version']}: {package['license'] or 'see its text'}\n")
        folder = pathlib.Path(package["manifest_path"]).parent
        files = sorted({file for pattern in TEXTS for file in folder.glob(pattern) if file.is_file()})
        for file in files:
            print(f"--- {file.name}\n{file.read_text(encoding='utf-8', errors='replace')}")
        if not files:
            print(f"(its package has no text of it; {package['repository'] or 'no repository is named'})\n")


if __name__ == "__main__":
    main()
