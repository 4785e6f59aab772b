#!/usr/bin/env bash
# Makes packages of embermark for devices in target/dist: for each architecture a .tar.zst with
# install.sh, a Debian package and a Python wheel. SHA256SUMS has the digests of all.
#   dist.sh [ARCHITECTURE…]    default: x86_64 and aarch64. Each is cross-compiled on this machine
# The packages run with glibc 2.31 or newer, because Zig's linker and headers target that version.
# The libraries of engines are next to the program, in lib/embermark. They are the released ones,
# pinned by version and digest (deps.sh package). Servers are those of the system. The script needs
# Debian's python3-venv, dpkg-deb and zstd, and rustup, which fetches the standard library for the
# target.
set -euo pipefail
cd "$(dirname "$0")/.."

glibc=2.31
architectures=("$@")
[ ${#architectures[@]} -gt 0 ] || architectures=(x86_64 aarch64)
out=${CARGO_TARGET_DIR:-target}/dist
# The absolute path, because compilers get it.
mkdir -p "$out" .deps/dist && out=$(cd "$out" && pwd) deps=$(cd .deps/dist && pwd -P)
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)

say() { printf 'dist: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
for program in python3 dpkg-deb zstd rustup perl curl; do
    command -v "$program" >/dev/null || fail "$program is missing; on Debian: apt-get install python3-venv dpkg zstd perl curl, and rustup from https://rustup.rs"
done

# tools: cargo-zigbuild, Zig and wheel, pinned by version and digest. They contain their path, and do
# not run from another one.
tools() {
    cmp -s scripts/dist-requirements.txt "$deps/tools/requirements" && "$deps/tools/bin/zig" version >/dev/null 2>&1 && return 0
    say 'fetching Zig and cargo-zigbuild (100 MB)'
    rm -rf "$deps/tools"
    python3 -m venv "$deps/tools" || fail 'python3 -m venv does not work here; on Debian: apt-get install python3-venv'
    "$deps/tools/bin/pip" install --quiet --disable-pip-version-check --no-deps --require-hashes -r scripts/dist-requirements.txt
    # cargo-zigbuild and CC look for it there.
    printf '#!/bin/sh\nexec "%s/tools/bin/python" -m ziglang "$@"\n' "$deps" >"$deps/tools/bin/zig"
    chmod 755 "$deps/tools/bin/zig"
    cp scripts/dist-requirements.txt "$deps/tools/requirements"
}

# program ARCHITECTURE: compiles the program, with the libraries in .deps/dist/ARCHITECTURE.
program() {
    local target=$1-unknown-linux-gnu
    rustup target list --installed | grep -qx "$target" || rustup target add "$target" \
        || { say "the Rust target $target cannot be had here: no packages for $1"; return 1; }
    CC="$deps/tools/bin/zig cc -target $1-linux-gnu.$glibc" scripts/deps.sh package "$1" "$deps/$1" \
        || { say "what the packages for $1 carry is not all to be had: none are made"; return 1; }
    # Zig has sys/cachectl.h of the C library, which libmdbx includes if it exists, but lacks a header of
    # MIPS that it includes.
    for headers in "$deps"/tools/lib/python3*/site-packages/ziglang/lib/libc/include/any-linux-any/asm; do touch "$headers/cachectl.h"; done
    # The program must not contain the path of the build.
    local sources="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src= --remap-path-prefix=$PWD="
    # Zig refuses __DATE__ and __TIME__, which libmdbx uses unless it gets a build time.
    env "CFLAGS_${target//-/_}=-DMDBX_BUILD_TIMESTAMP=\"$version\"" RUSTFLAGS="$sources" EMBERMARK_PACKAGE="$deps/$1" \
        cargo zigbuild --profile packaged --locked --package embermark --target "$target.$glibc"
}

# tree ARCHITECTURE FOLDER: makes the tree of installed files, below a prefix.
tree() {
    local prefix=$2 from=$deps/$1 engine command
    rm -rf "$prefix"
    mkdir -p "$prefix"/{bin,lib/embermark,share/man/man1,share/doc/embermark/licences} \
        "$prefix"/share/{bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d}
    install -m 755 "$out/../$1-unknown-linux-gnu/packaged/embermark" "$prefix/bin/"
    for engine in duckdb firebird leveldb rocksdb wiredtiger; do
        cp -RP "$from/$engine" "$prefix/lib/embermark/"
    done
    cp -P "$from"/firebird-needs/lib* "$prefix/lib/embermark/firebird/lib/"
    rm -f "$prefix"/lib/embermark/*/*.h "$prefix"/lib/embermark/*/*.a "$prefix"/lib/embermark/firebird/*.log
    "$strip" "$prefix/lib/embermark/wiredtiger/libwiredtiger.so" 2>/dev/null || true
    cp README.md "$prefix/share/doc/embermark/"
    cp -R docs "$prefix/share/doc/embermark/"
    cp LICENSE* docs/licences.md "$prefix/share/doc/embermark/licences/"
    for engine in berkeleydb firebird-needs; do cp "$from/$engine/LICENSE" "$prefix/share/doc/embermark/licences/$engine"; done
    # What is unpacked of their packages has no text.
    cp LICENSE-APACHE "$prefix/share/doc/embermark/licences/rocksdb"
    cat >"$prefix/share/doc/embermark/licences/firebird" <<FIREBIRD
Firebird is under the Initial Developer's Public License and the InterBase Public License:
https://www.firebirdsql.org/en/licensing/
Its source code is available under these licences: https://github.com/FirebirdSQL/firebird/releases
FIREBIRD
    python3 scripts/licences.py "$1-unknown-linux-gnu" >"$prefix/share/doc/embermark/licences/rust-crates.txt"
    "$host" man | gzip -9n >"$prefix/share/man/man1/embermark.1.gz"
    for command in $("$host" man | sed -n 's/^embermark\\-\([a-z]*\)(1)$/\1/p'); do
        "$host" man "$command" | gzip -9n >"$prefix/share/man/man1/embermark-$command.1.gz"
        for own in $("$host" man "$command" | sed -n "s/^embermark\\\\-$command\\\\-\(.*\)(1)\$/\1/p" | tr -d '\\'); do
            "$host" man "$command" "$own" | gzip -9n >"$prefix/share/man/man1/embermark-$command-$own.1.gz"
        done
    done
    "$host" completions bash >"$prefix/share/bash-completion/completions/embermark"
    "$host" completions zsh >"$prefix/share/zsh/vendor-completions/_embermark"
    "$host" completions fish >"$prefix/share/fish/vendor_completions.d/embermark.fish"
    find "$prefix" -type d -exec chmod 755 {} + && chmod -R u+w,go-w,a+rX "$prefix"
}

# archive ARCHITECTURE TREE
archive() {
    local name=embermark-$version-linux-$1
    rm -rf "${out:?}/$name" && mkdir "$out/$name" && cp -RP "$2"/. "$out/$name/" && install -m 755 scripts/install.sh "$out/$name/"
    tar -C "$out" --owner=0 --group=0 --sort=name -c "$name" | zstd -q -19 -T0 -f -o "$out/$name.tar.zst"
    rm -rf "${out:?}/$name"
}

# debian ARCHITECTURE TREE
debian() {
    local root=$out/deb-$1 architecture
    case $1 in x86_64) architecture=amd64 ;; aarch64) architecture=arm64 ;; esac
    rm -rf "$root" && mkdir -p "$root/DEBIAN" "$root/usr" && cp -RP "$2"/. "$root/usr/"
    cp "$root/usr/share/doc/embermark/licences/licences.md" "$root/usr/share/doc/embermark/copyright"
    cat >"$root/DEBIAN/control" <<CONTROL
Package: embermark
Version: $version
Architecture: $architecture
Maintainer: the authors of embermark <embermark@localhost>
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Depends: libc6 (>= $glibc), libgcc-s1, libstdc++6
Suggests: postgresql, mariadb-server-core, influxdb, libpq5, libmariadb3, libmongoc-1.0-0
Section: database
Priority: optional
Description: which database belongs on this device, for this work?
 Measures databases on the machine it runs on, at equal durability, with every
 answer checked: how fast, with how much CPU, memory, flash wear and network.
CONTROL
    dpkg-deb --root-owner-group -Zxz --build "$root" "$out/embermark_${version}_$architecture.deb" >/dev/null
    rm -rf "$root"
}

# wheel ARCHITECTURE TREE: makes the wheel. pip installs the content of its folder `data` below the
# environment, next to the program.
wheel() {
    local root=$out/wheel-$1 name=embermark-$version tag=py3-none-manylinux_${glibc/./_}_$1
    rm -rf "$root" && mkdir -p "$root/$name.dist-info" "$root/$name.data/data" && cp -RP "$2"/lib "$2"/share "$root/$name.data/data/"
    mkdir "$root/$name.data/scripts" && cp "$2/bin/embermark" "$root/$name.data/scripts/"
    # A wheel has no links.
    find "$root" -type l | while read -r link; do cp --remove-destination "$(readlink -f "$link")" "$link"; done
    printf 'Wheel-Version: 1.0\nGenerator: embermark dist.sh\nRoot-Is-Purelib: false\nTag: %s\n' "$tag" >"$root/$name.dist-info/WHEEL"
    {
        printf 'Metadata-Version: 2.1\nName: embermark\nVersion: %s\nSummary: Which database belongs on this device, for this work?\n' "$version"
        printf 'License: MIT OR Apache-2.0\nRequires-Python: >=3.7\nDescription-Content-Type: text/markdown\n\n'
        cat README.md
    } >"$root/$name.dist-info/METADATA"
    "$deps/tools/bin/wheel" pack --dest-dir "$out" "$root" >/dev/null
    rm -rf "$root"
}

tools
PATH=$deps/tools/bin:$PATH
strip=$(command -v llvm-strip || echo strip)
machine=$(uname -m)
made=() missed=
# This machine's architecture first, because its program prints the manual pages for all.
for architecture in $(printf '%s\n' "${architectures[@]}" | grep -x "$machine") $(printf '%s\n' "${architectures[@]}" | grep -vx "$machine"); do
    say "compiling for $architecture"
    if program "$architecture"; then made+=("$architecture"); else missed=1; fi
done
[ ${#made[@]} -gt 0 ] || fail 'no packages were made'
host=$out/../$machine-unknown-linux-gnu/packaged/embermark
[ -x "$host" ] || { program "$machine" || exit 1; }
for architecture in "${made[@]}"; do
    say "packing for $architecture"
    tree "$architecture" "$out/tree"
    archive "$architecture" "$out/tree"
    debian "$architecture" "$out/tree"
    wheel "$architecture" "$out/tree"
    rm -rf "$out/tree"
done
(cd "$out" && sha256sum embermark[-_]"$version"* >SHA256SUMS)
(cd "$out" && ls -l embermark[-_]"$version"* | awk '{ printf "%5.1f MB  %s\n", $5 / 1e6, $9 }')
say "in $out"
[ -z "$missed" ]
