#!/bin/sh
# Gets what embermark needs from outside: Debian packages, and the prebuilt DuckDB library.
#   deps.sh embedded   what the embedded engines need
#   deps.sh servers    what the server engines need
# Idempotent, and quiet when there is nothing to do. Without root it says what to install and goes on:
# an engine whose part is missing is reported as unavailable, the others run.
set -eu
cd "$(dirname "$0")/.."

say() { printf 'deps: %s\n' "$*" >&2; }

# have_package NAME: whether a Debian package is installed.
have_package() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# packages NAME…: installs the Debian packages that are missing.
packages() {
    missing=
    for name in "$@"; do have_package "$name" || missing="$missing $name"; done
    [ -n "$missing" ] || return 0
    if ! command -v apt-get >/dev/null; then
        say "this is no Debian-like system; please install the equivalent of:$missing"
        return 0
    fi
    if [ "$(id -u)" = 0 ]; then as_root=; elif sudo -n true 2>/dev/null; then as_root='sudo -n'; else
        say "to have every engine, install as root:  apt-get install$missing"
        return 0
    fi
    say "installing$missing"
    log=$(mktemp)
    # The variables are lists of words.
    # shellcheck disable=SC2086
    if ! { $as_root apt-get update && $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
        tail -n 5 "$log" >&2
        say "could not install$missing; going on without"
    fi
    rm -f "$log"
}

# duckdb: the official library, as its Node.js package carries it, pinned by version and digest.
duckdb() {
    # The newest version there is differs by architecture; a result names the one it measured.
    case "$(uname -sm)" in
        'Linux x86_64') arch=x64 version=1.5.6-r.1 digest=3f4962cdd266eab2b479a5b5a4a6d063d279b2954ae814ed00385d553b747633 ;;
        'Linux aarch64') arch=arm64 version=1.5.5-r.5 digest=d00d007f3f7ca1f2896a5e4b89c2ce141bf0508506a9d6d56f9598b8e59d074e ;;
        *) say "no prebuilt DuckDB for $(uname -sm): set DUCKDB_LIB_DIR to a folder that holds libduckdb.so"; return 0 ;;
    esac
    folder=.deps/duckdb
    [ "$(cat "$folder/version" 2>/dev/null)" = "$version" ] && [ -f "$folder/libduckdb.so" ] && return 0
    command -v npm >/dev/null || packages npm
    if ! command -v npm >/dev/null; then
        say 'DuckDB needs npm once, to fetch its prebuilt library; without it the engine is unavailable'
        return 0
    fi
    say "fetching DuckDB ${version%-*}"
    work=$(mktemp -d)
    if (cd "$work" && npm pack --silent "@duckdb/node-bindings-linux-$arch@$version" >/dev/null && tar xzf ./*.tgz) \
        && printf '%s  %s\n' "$digest" "$work/package/libduckdb.so" | sha256sum --check --status; then
        mkdir -p "$folder"
        mv "$work/package/libduckdb.so" "$work/package/LICENSE" "$folder/"
        echo "$version" >"$folder/version"
    else
        say 'could not fetch the DuckDB library, or its digest is not the expected one; going on without'
    fi
    rm -rf "$work"
}

case "${1:-}" in
    embedded) packages libdb5.3-dev; duckdb ;;
    servers) packages postgresql ;;
    *) echo "usage: $0 embedded|servers" >&2; exit 2 ;;
esac
