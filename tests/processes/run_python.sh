#!/bin/sh
# Runs a Python test or program from Bazel's folder of its files; Bazel passes its path. What others may import stands in
# these folders. Writes nothing into the source tree.
PYTHONPATH="$PWD/tests/processes:$PWD/tests/interfaces" exec python3 -B "$@"
