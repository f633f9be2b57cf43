"""Precompiled headers.

Most of a compilation here is reading the headers of the standard library, of Abseil and of GoogleTest, over and
over. `prelude.h` names them; the compiler reads it once and keeps what it understood. A compilation whose flags
do not fit what was kept reads the header itself, so nothing but time depends on it.
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _precompiled_header_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    compiler = cc_common.get_tool_for_action(
        feature_configuration = features,
        action_name = CPP_COMPILE_ACTION_NAME,
    )
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.attr.copts,
        use_pic = True,
    )
    flags = cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = CPP_COMPILE_ACTION_NAME,
        variables = variables,
    )
    environment = cc_common.get_environment_variables(
        feature_configuration = features,
        action_name = CPP_COMPILE_ACTION_NAME,
        variables = variables,
    )

    # The compiler looks for NAME.gch where it finds NAME, so the two lie side by side.
    header = ctx.actions.declare_file("precompiled/" + ctx.file.header.basename)
    ctx.actions.symlink(output = header, target_file = ctx.file.header)
    precompiled = ctx.actions.declare_file("precompiled/" + ctx.file.header.basename + ".gch")
    ctx.actions.run(
        executable = compiler,
        arguments = flags + ["-w", "-iquote", ".", "-x", "c++-header", header.path, "-o", precompiled.path],
        inputs = depset([header] + ctx.files.includes, transitive = [toolchain.all_files]),
        outputs = [precompiled],
        env = environment,
        mnemonic = "CppPrecompile",
        progress_message = "Precompiling %s" % ctx.file.header.short_path,
    )
    return [
        DefaultInfo(files = depset([header, precompiled])),
        CcInfo(compilation_context = cc_common.create_compilation_context(
            headers = depset([header, precompiled] + ctx.files.includes),
        )),
    ]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    attrs = {
        "header": attr.label(allow_single_file = [".h"], mandatory = True),
        "copts": attr.string_list(doc = "flags of the compilations that will read it, after those of the build"),
        "includes": attr.label_list(allow_files = [".h"]),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
