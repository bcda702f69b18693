#!/bin/sh
# Two questions the Makefile asks before it builds anything. Silence means all is well; otherwise
# one line says what is wrong and what to do.
#
#   environment.sh missing PYTHON           what the machine lacks
#   environment.sh stale VENV HERE [PYTHON] why VENV cannot serve this checkout
set -u
question=$1
shift

missing() {
    python=$1
    if ! command -v "$python" >/dev/null 2>&1; then
        echo "python: softlookup needs Python 3.11 or newer and found no '$python'." \
             "Install it (Debian: apt-get install python3 python3-venv), or name one: make PYTHON=/path/to/python3"
        return
    fi
    version=$("$python" -c 'import platform; print(platform.python_version())' 2>/dev/null)
    if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        echo "python: softlookup needs Python 3.11 or newer; '$python' is ${version:-not a working Python}." \
             "Name a newer one: make PYTHON=/path/to/python3"
        return
    fi
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        echo "python: '$python' ($version) has no venv module (ensurepip is missing)." \
             "Install it (Debian: apt-get install python3-venv)"
    fi
}

stale() {
    venv=$1
    here=$2
    wanted=${3:-}
    [ -e "$venv" ] || return 0
    if ! "$venv/bin/python" -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        echo "$venv holds no working Python 3.11 or newer with pip"
        return
    fi
    if [ -f "$venv/.made/where" ] && [ "$(cat "$venv/.made/where")" != "$here" ]; then
        echo "$venv was made for $(cat "$venv/.made/where")"
        return
    fi
    if [ -n "$wanted" ]; then
        ask='import sys; print(sys.version_info[:2], sys.base_prefix)'
        if [ "$("$venv/bin/python" -c "$ask")" != "$("$wanted" -c "$ask" 2>/dev/null)" ]; then
            echo "$venv was made by another Python than $wanted"
        fi
    fi
    return 0
}

"$question" "$@"
