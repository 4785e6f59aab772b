#!/usr/bin/env bash
# Runs the README's commands on a machine that has nothing: a bare Debian root with a compiler,
# make, this machine's Rust toolchain, its certificates and registry settings, and a fresh clone of
# what is committed here.
#
#   scripts/fresh.sh [--cold] [--user] [--packages] [--keep] [COMMAND…]
#   scripts/fresh.sh --check
#
# COMMAND is a target of the Makefile. The default is `run` and then `test`.
#   --cold      begin with nothing downloaded or compiled, and keep nothing of it for the next time
#   --user      as an ordinary user, in a root without the Debian packages that embermark needs
#   --packages  with --user: root has installed these packages before
#   --keep      keep the root, and print its path
#   --check     only test whether such a root can be made here. If not, exit status 1 and the reason
#
# It needs root and mmdebstrap, which it installs if it is missing. Everything runs in separate
# mount and process namespaces, so that nothing stays mounted or running however this ends.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD
folder=${TMPDIR:-/var/tmp}/embermark-fresh

say() { printf 'fresh: %s\n' "$*" >&2; }
fail() { say "$*"; exit 2; }

# can: whether a root can be made here. Prints the reason if not.
can() {
    [ "$(id -u)" = 0 ] || { say 'a root of its own takes the rights of root'; return 1; }
    unshare --mount --pid --fork true 2>/dev/null || { say 'namespaces for mounts and processes are not to be had here'; return 1; }
    command -v mmdebstrap >/dev/null || command -v apt-get >/dev/null || { say 'mmdebstrap is missing, and apt-get to install it'; return 1; }
    command -v rustc >/dev/null || { say 'there is no Rust toolchain to take along'; return 1; }
}

cold= user= packages= keep=
commands=()
for argument in "$@"; do
    case $argument in
        --cold) cold=1 ;;
        --user) user=1 ;;
        --packages) packages=1 ;;
        --keep) keep=1 ;;
        --check) can; exit ;;
        -*) fail "unknown option $argument (see the head of this file)" ;;
        *) commands+=("$argument") ;;
    esac
done
[ ${#commands[@]} -gt 0 ] || commands=(run test)
[ -z "$packages" ] || [ -n "$user" ] || fail '--packages goes with --user: root installs them by itself'
can || exit 1
[ -z "$(git status --porcelain --untracked-files=no)" ] || say 'what is not committed is not in the clone'

# Roots of runs that were killed.
for old in "$folder".*; do
    if [ -f "$old/pid" ] && [ ! -d "/proc/$(cat "$old/pid")" ] && [ ! -e "$old/keep" ]; then rm -rf --one-file-system "$old"; fi
done

work=$(mktemp -d "$folder.XXXXXX")
chmod 755 "$work"
echo $$ >"$work/pid"
if [ -n "$keep" ]; then touch "$work/keep"; say "the root stays in $work/root"; else trap 'rm -rf --one-file-system "$work"' EXIT; fi
name=root home=/root
if [ -n "$user" ]; then name=user home=/home/user; fi
if [ -n "$cold" ]; then cache=$work/cache; else cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/embermark/fresh-$name; fi

# step NAME COMMAND…: runs it and records how long it took.
step() {
    local name=$1 began=$SECONDS status=0
    shift
    "$@" || status=$?
    local took=$((SECONDS - began))
    printf '%5d s  %s%s\n' "$took" "$name" "$([ $status = 0 ] || echo " (failed: exit status $status)")" >>"$work/times"
    return $status
}

make_root() {
    command -v mmdebstrap >/dev/null || { apt-get update && apt-get install -y --no-install-recommends mmdebstrap; } >"$work/log" 2>&1 \
        || { tail -n 5 "$work/log" >&2; fail 'mmdebstrap could not be installed'; }
    local suite
    suite=$(. /etc/os-release && [ "${ID:-}" = debian ] && echo "${VERSION_CODENAME:-}") || suite=
    mmdebstrap --quiet --variant=minbase --include=ca-certificates,gcc,libc6-dev,make,git \
        --customize-hook='mkdir -p "$1/usr/local/share/ca-certificates" && cp -r /usr/local/share/ca-certificates/. "$1/usr/local/share/ca-certificates/" && chroot "$1" update-ca-certificates >/dev/null' \
        "${suite:-bookworm}" "$work/root" >"$work/log" 2>&1 || { tail -n 5 "$work/log" >&2; fail 'the root could not be made'; }
}

# furnish: sets up the root: this machine's names and registry settings, the user, the clone.
furnish() {
    local root=$work/root file
    for file in /etc/hosts /etc/resolv.conf /etc/npmrc /etc/pip.conf /etc/apt/apt.conf.d/*proxy*; do
        [ -f "$file" ] && install -D -m 644 "$file" "$root$file"
    done
    [ -z "$user" ] || chroot "$root" useradd --create-home --shell /bin/bash user
    for file in .npmrc .cargo/config.toml; do
        [ -f "$HOME/$file" ] && install -D -m 600 "$HOME/$file" "$root$home/$file"
    done
    git clone --quiet --no-hardlinks "$here" "$root$home/embermark"
    mkdir -p "$root/opt/rust" "$root/mnt/old"
    # Its path in the root, and its name in the cache.
    for file in .cargo/registry embermark/target embermark/.deps .npm .cache/pip; do mkdir -p "$root$home/$file" "$cache/$file"; done
    mkdir -p "$cache/apt/partial"
    [ -z "$user" ] || { chroot "$root" chown -R user: /home/user; chown -R --reference="$root$home" "$cache"; }
}

# inside USER COMMAND…: runs it in the root. Its mounts and processes end with it, and with this script.
inside() {
    local as=$1 variables=(HOME="$home" USER="$name" PATH=/opt/rust/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
    shift
    local settings
    mapfile -t settings < <(env | grep -E '^(https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY|SSL_CERT_(FILE|DIR)|CURL_CA_BUNDLE|NODE_EXTRA_CA_CERTS|PIP_[A-Z_]*|CARGO_(INCREMENTAL|(NET|HTTP|REGISTRIES|PROFILE|BUILD)_[A-Z_]*)|RUST_BACKTRACE|ACCEPT_LICENSE|NO_SKIPS|TERM)=')
    ROOT=$work/root HOME_IN=$home CACHE=$cache SYSROOT=$(rustc --print sysroot) AS=$as \
        setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child bash -euc '
        mount --bind "$ROOT" "$ROOT"
        mount --rbind /dev "$ROOT/dev"
        mount --rbind /sys "$ROOT/sys"
        mount -t proc proc "$ROOT/proc"
        mount -o bind,ro "$SYSROOT" "$ROOT/opt/rust"
        mount --bind "$CACHE/apt" "$ROOT/var/cache/apt/archives"
        for part in .cargo/registry embermark/target embermark/.deps .npm .cache/pip; do
            mount --bind "$CACHE/$part" "$ROOT$HOME_IN/$part"
        done
        cd "$ROOT"
        # Not by chroot, in which a user may not create a namespace.
        pivot_root . mnt/old
        umount -l /mnt/old
        cd "$HOME_IN/embermark"
        if [ "$AS" = root ]; then exec env -i "$@"; fi
        exec setpriv --reuid="$AS" --regid="$AS" --init-groups env -i "$@"
        ' inside "${variables[@]}" "${settings[@]}" "$@"
}

began=$SECONDS status=0
step 'a bare root' make_root
step 'the clone' furnish
if [ -n "$packages" ]; then
    for part in embedded servers tests python-clients node-clients; do step "packages: $part" inside root scripts/deps.sh packages "$part" || status=1; done
fi
for command in "${commands[@]}"; do
    say "make $command"
    step "make $command" inside "$name" make "$command" || { status=1; break; }
done
{
    echo "on a bare Debian root, as $name${cold:+, nothing in a cache}${packages:+, with the Debian packages}:"
    cat "$work/times"
    printf '%5d s  in all\n' $((SECONDS - began))
} >&2
exit $status
