"""gRPC of the system, where it is installed: only a comparison of measurements needs it, so the build continues
without."""

def _grpc_if_installed_impl(repository):
    installed = (repository.path("/usr/include/grpcpp/grpcpp.h").exists and
                 repository.which("grpc_cpp_plugin") != None)
    repository.file("installed.bzl", "GRPC_INSTALLED = %s\n" % installed)
    repository.file("BUILD", """
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "grpc",
    linkopts = ["-lgrpc++", "-lgrpc", "-lgpr"],
)
""")

# `@grpc//:grpc` for the linker; `GRPC_INSTALLED` in `@grpc//:installed.bzl`. Looked for when Bazel's server starts.
grpc_if_installed = repository_rule(
    implementation = _grpc_if_installed_impl,
    local = True,
    configure = True,
)
