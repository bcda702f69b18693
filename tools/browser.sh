#!/bin/sh
# Installs Debian's Chromium: its headless shell is what the browser tests drive, the browser itself
# what the README's pictures and the benchmarks do.
set -eu
if command -v chromium >/dev/null 2>&1 && command -v chromium-headless-shell >/dev/null 2>&1; then
    echo "Chromium is there: $(chromium --version 2>/dev/null)"
    exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "browser: there is no apt-get here; install Chromium so that 'chromium' is on the PATH." >&2
    exit 2
fi
as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "browser: installing a Debian package needs root; run 'apt-get install chromium' as root." >&2
        exit 2
    fi
    as_root=sudo
fi
packages="chromium chromium-headless-shell fonts-dejavu-core"
echo "Installing the Debian packages $packages (apt-get, as root)."
$as_root apt-get update -qq
# shellcheck disable=SC2086 # several packages, each a word
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends \
    $packages >/dev/null
chromium --version
