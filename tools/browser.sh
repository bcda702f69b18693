#!/bin/sh
# Installs Debian's Chromium, which the browser tests and the README's picture drive.
set -eu
if command -v chromium >/dev/null 2>&1; then
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
echo "Installing the Debian packages chromium and fonts-dejavu-core (apt-get, as root)."
$as_root apt-get update -qq
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends \
    chromium fonts-dejavu-core >/dev/null
chromium --version
