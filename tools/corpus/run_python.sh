#!/bin/sh
# Runs a Python test of this folder; Bazel passes its path. Writes nothing into the source tree.
exec python3 -B "$@"
