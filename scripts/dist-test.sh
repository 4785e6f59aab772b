#!/usr/bin/env bash
# Installs the packages of dist.sh in a bare Debian 11, the oldest supported system, and uses them
# there as an ordinary user: the archive in the user's home, the Debian package, and the wheel in a
# virtual environment. Each time it describes the device, checks answers in the tier `process`, and
# makes a small run with its page. The answers are those of SQLite, DuckDB and RocksDB, and for the
# Debian package those of every embedded engine.
#   dist-test.sh [--quick] [ARCHITECTURE…]   default: x86_64 and aarch64. Others than this machine's
#                run under QEMU
#     --quick    only SQLite and DuckDB
# It needs root and mmdebstrap, and for another architecture qemu-user-static and arch-test. It
# installs these packages if they are missing.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'dist-test: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
some=(sqlite duckdb rocksdb) all=(embedded) architectures=()
for argument in "$@"; do
    case $argument in
        --quick) some=(sqlite duckdb) all=(sqlite duckdb) ;;
        -*) fail "unknown option $argument (see the head of this file)" ;;
        *) architectures+=("$argument") ;;
    esac
done
[ ${#architectures[@]} -gt 0 ] || architectures=(x86_64 aarch64)
[ "$(id -u)" = 0 ] || fail 'a root of its own takes the rights of root'
out=${CARGO_TARGET_DIR:-target}/dist
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
(cd "$out" && sha256sum --check --quiet SHA256SUMS) || fail "the packages in $out are not those of its SHA256SUMS: scripts/dist.sh"

needs=()
command -v mmdebstrap >/dev/null || needs+=(mmdebstrap)
for architecture in "${architectures[@]}"; do
    [ "$architecture" != "$(uname -m)" ] || continue
    # The name of QEMU's programs and of this file's packages.
    command -v "qemu-$architecture-static" >/dev/null || needs+=(qemu-user-static)
    # mmdebstrap uses it to test whether programs of another architecture run here.
    command -v arch-test >/dev/null || needs+=(arch-test)
done
[ ${#needs[@]} = 0 ] || { apt-get update && apt-get install -y --no-install-recommends "${needs[@]}"; } >/dev/null

# emulated ARCHITECTURE: makes the kernel start its programs by QEMU, which works in every root.
emulated() {
    local registered=/proc/sys/fs/binfmt_misc
    [ -f $registered/register ] || mount -t binfmt_misc binfmt_misc $registered
    [ ! -f "$registered/qemu-$1" ] || return 0
    case $1 in
        aarch64) printf '%s' ':qemu-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:/usr/bin/qemu-aarch64-static:F' >$registered/register ;;
        *) fail "it is not known how $1 is emulated" ;;
    esac
}

# inside USER COMMAND…: runs it in the root. Its processes and mounts end with it.
inside() {
    local user=$1
    shift
    ROOT=$root AS=$user setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child bash -euc '
        mount --bind "$ROOT" "$ROOT"
        mount --rbind /dev "$ROOT/dev"
        mount --rbind /sys "$ROOT/sys"
        mount -t proc proc "$ROOT/proc"
        home=/root; [ "$AS" = root ] || home=/home/$AS
        exec chroot "$ROOT" setpriv --reuid="$AS" --regid="$AS" --init-groups env -i HOME="$home" USER="$AS" TERM=dumb LANG=C.UTF-8 \
            PATH="$home/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" "$@"' inside "$@"
}

# uses PACKAGE PROGRAM ENGINE…: uses the program as an ordinary user, without access to this
# repository.
uses() {
    local package=$1
    shift
    inside user sh -euc '
        mkdir -p ~/work && cd ~/work && rm -rf results
        program=$1 && shift
        "$program" --version | head -n 2
        "$program" doctor || [ $? = 1 ]
        "$program" verify "$@" --tier process
        "$program" run contacts --engines sqlite,duckdb --scale 100 --trials 1
        ls results/*/report.html
    ' uses "$@" >"$root.log" 2>&1 || { tail -n 40 "$root.log" >&2; fail "$package: failed"; }
    # Zen cannot be packaged.
    missing=$(sed -n 's/^ *\([a-z-]*\) .*unavailable.*/\1/p' "$root.log" | grep -vx zen | sort -u | tr '\n' ' ') || true
    [ -z "$missing" ] || { tail -n 40 "$root.log" >&2; fail "$package: it lacks $missing"; }
    grep -E '^ [a-z-]+ .* (ok \(|unavailable|wrong|failed)' "$root.log" | sed 's/^/   /'
    say "$package: ok"
}

work=$(mktemp -d "${TMPDIR:-/var/tmp}/embermark-dist.XXXXXX")
chmod 755 "$work"
trap 'rm -rf --one-file-system "$work"' EXIT
for architecture in "${architectures[@]}"; do
    case $architecture in x86_64) debian=amd64 ;; aarch64) debian=arm64 ;; *) fail "no packages are made for $architecture" ;; esac
    [ "$architecture" = "$(uname -m)" ] || emulated "$architecture"
    root=$work/$architecture
    say "making a bare Debian 11 for $architecture"
    # The last point release, which stays available. Later packages may be removed at any time.
    mmdebstrap --quiet --variant=minbase --architectures=$debian --include=python3-venv,libstdc++6 bullseye "$root" \
        'deb http://deb.debian.org/debian bullseye main' >"$work/log" 2>&1 \
        || { tail -n 5 "$work/log" >&2; fail 'the root could not be made'; }
    chroot "$root" useradd --create-home --shell /bin/bash user
    name=embermark-$version-linux-$architecture
    zstd -qdc "$out/$name.tar.zst" | tar -x -C "$root/home/user" --no-same-owner
    cp "$out/embermark_${version}_$debian.deb" "$out/embermark-$version-"*"_$architecture.whl" "$root/opt/"
    chroot "$root" chown -R user: /home/user

    inside user "/home/user/$name/install.sh" >/dev/null
    uses "$name.tar.zst" /home/user/.local/bin/embermark "${some[@]}"
    inside user "/home/user/$name/install.sh" --uninstall >/dev/null
    left=$(find "$root/home/user/.local" -type f)
    [ -z "$left" ] || fail "--uninstall leaves: $left"

    inside root dpkg -i "/opt/embermark_${version}_$debian.deb" >/dev/null
    uses "embermark_${version}_$debian.deb" embermark "${all[@]}"
    inside root dpkg -r embermark >/dev/null

    inside user sh -euc 'python3 -m venv ~/venv && ~/venv/bin/pip install --quiet --no-index /opt/embermark-*.whl' 2>/dev/null
    uses "the wheel for $architecture" /home/user/venv/bin/embermark "${some[@]}"
done
