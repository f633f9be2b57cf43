#!/bin/sh
# Runs a Python program of this folder; Bazel passes its path. What it imports besides stands in these folders. Writes
# nothing into the source tree.
PYTHONPATH="$PWD/tests/processes:$PWD/tools/bench_server" exec python3 -B "$@"
