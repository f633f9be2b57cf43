#!/bin/sh
# Runs a Python program of this folder; Bazel passes its path. Writes nothing into the source tree.
exec python3 -B "$@"
