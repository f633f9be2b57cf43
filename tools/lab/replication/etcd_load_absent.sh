#!/usr/bin/env bash
# Stands in for etcd_load in a tree that was built without gRPC.
printf 'etcd_load: built without gRPC; install libgrpc++-dev and protobuf-compiler-grpc (tools/test does), then %s\n' \
  'bazel shutdown and build again' >&2
exit 3
