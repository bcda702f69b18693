#!/bin/sh
# Checks and times everything that softlookup runs on the GPU of this machine, from a checkout alone:
# nothing is installed, nothing is fetched. Under four minutes on an H200; the last lines are a table,
# all figures are in gpu_check.json.
#
#   tools/gpu_check.sh [--json FILE] [--only "PART; PART"] [--seed N] [--limit SECONDS]
#   tools/gpu_check.sh --dry    without a GPU: the same code on tiny inputs, interpreted; no figures
#
#   PYTHON    the Python that has torch and Triton (default: python3)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
PYTHONPATH="$here:$here/../src${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1 \
    exec "${PYTHON:-python3}" -m gpu_check "$@"
