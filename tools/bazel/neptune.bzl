"""The project's build rules: native C++ rules that know the layers and refuse an upward dependency.

`ARCHITECTURE.md` draws the same order. A target's layer is its folder; the check runs when the BUILD
file is loaded, so a wrong dependency fails before anything compiles, with either compiler.
"""

# From the bottom. A layer may use itself and those before it.
NEPTUNE_LAYERS = [
    "base",
    "world",
    "security",
    "thread",
    "capsule",
    "sert",
    "interpose",
    "wire",
    "membership",
    "balancing",
    "scheduling",
    "service",
    "dac",
    "replication",
    "mtrr",
    "admin",
    "node",
    "testing",
]

# What each product folder may use besides itself, the runtime's public face (`//neptune`),
# `//neptune/base` and libraries of the system.
PRODUCT_DEPENDENCIES = {
    "index/core": [],
    "index/suggest": ["index/core"],
    "index/html": [],
    "index/updates": ["index/core"],
    "index/versions": [],
    "index/tier": ["index/core", "index/suggest", "index/updates", "index/versions"],
    "docserver": ["index/core", "index/updates", "index/versions"],
    "cache": [],
    "frontend": ["index/core", "index/suggest", "index/html", "index/updates", "index/versions", "index/tier", "docserver", "cache"],
    "neptune/examples": [],
    "tools": ["index/core", "index/suggest", "index/html", "index/updates", "index/versions", "index/tier", "docserver", "cache", "frontend", "neptune", "neptune/examples"],
    "tests": ["index/core", "index/suggest", "index/html", "index/updates", "index/versions", "index/tier", "docserver", "cache", "frontend", "neptune", "neptune/examples", "tools"],
}

# Folders whose subfolders are a stack of their own, from the bottom: libraries and programs of one may use those before it.
INNER_STACKS = {
    "neptune/replication": ["log", "state", "protocol", "testing", "client", "agent"],
    "frontend": ["model", "policy", "caching", "trace", "console", "documents", "render", "api", "suggest", "search_plan", "http", "testing"],
}

# For what every call passes through. Position-independent code calls even its own file's functions as if another
# library could replace them, unless this option says that none does.
HOT_PATH_COPTS = ["-fno-semantic-interposition"]

def _package_of(label):
    """Workspace-relative package of a dependency label, or None for this package or another repository."""
    if not label.startswith("//"):
        return None
    return label[2:].split(":")[0]

def _neptune_layer(package):
    parts = package.split("/")
    if parts[0] != "neptune" or len(parts) < 2 or parts[1] == "examples":
        return None  # services on the runtime are not part of it
    if parts[1] not in NEPTUNE_LAYERS:
        fail("//%s is not in a known layer of neptune; layers: %s" % (package, ", ".join(NEPTUNE_LAYERS)))
    return parts[1]

def _product_folder(package):
    for folder in PRODUCT_DEPENDENCIES:
        if package == folder or package.startswith(folder + "/"):
            return folder
    return None

def _check_dependency(name, package, dep):
    target = _package_of(dep)
    if target == None or target == package or target.startswith("tools/bazel"):
        return
    here = "//%s:%s" % (package, name)
    own_layer = _neptune_layer(package)
    if own_layer:
        if target == "neptune" and own_layer == "node":
            return  # the node program is made of the whole
        dep_layer = _neptune_layer(target)
        if not dep_layer:
            fail("%s: the runtime may not depend on %s" % (here, dep))
        if NEPTUNE_LAYERS.index(dep_layer) > NEPTUNE_LAYERS.index(own_layer):
            fail("%s: layer '%s' may not use %s of the higher layer '%s'" % (here, own_layer, dep, dep_layer))
        return
    folder = _product_folder(package)
    if folder == None:
        return
    if target == "neptune" or target.startswith("neptune/base"):
        if folder == "index/core" and target == "neptune":
            fail("%s: index/core may use nothing of Neptune but neptune/base" % here)
        return
    target_folder = _product_folder(target)
    if target_folder == None and target.startswith("neptune/"):
        target_folder = "neptune"
    if target_folder == folder or target_folder in PRODUCT_DEPENDENCIES[folder]:
        return
    fail("%s: folder '%s' may not depend on %s" % (here, folder, dep))

def _inner_place(folder, package):
    """Where a package stands in the stack of `folder`: its subfolder's index; the folder itself is above all."""
    if package == folder:
        return len(INNER_STACKS[folder])
    subfolder = package[len(folder) + 1:].split("/")[0]
    if subfolder not in INNER_STACKS[folder]:
        fail("//%s: '%s' has no place in INNER_STACKS['%s']" % (package, subfolder, folder))
    return INNER_STACKS[folder].index(subfolder)

def _check_inner_stack(name, package, dep):
    target = _package_of(dep)
    for folder in INNER_STACKS:
        if target == None or not (target + "/").startswith(folder + "/") or not (package + "/").startswith(folder + "/"):
            continue
        if _inner_place(folder, target) > _inner_place(folder, package):
            fail("//%s:%s may not use %s, which is above it in INNER_STACKS['%s']" % (package, name, dep, folder))

def _check_internals(name, package, deps, is_test):
    """Products see the runtime's public headers alone; tests and tools may look inside."""
    top = package.split("/")[0]
    if is_test or top in ["tools", "tests"] or package.endswith("/testing") or "//neptune:internals" not in deps:
        return
    fail("//%s:%s may not use //neptune:internals, which is for tests and tools" % (package, name))

def _check(name, deps, is_test = False):
    _check_internals(name, native.package_name(), deps, is_test)
    for dep in deps:
        _check_dependency(name, native.package_name(), dep)
        if not is_test:
            _check_inner_stack(name, native.package_name(), dep)

# Flags of GoogleTest programs. Half of the files of a build are tests, each runs once for a moment, and the
# optimizer takes a sixth of the time to compile them. What a test links is optimized as always. FORTIFY needs the
# optimizer.
TEST_COPTS = ["-O0", "-U_FORTIFY_SOURCE"]

# Their files decide what of libc is declared before they define it.
_WITHOUT_PRELUDE = ["neptune/interpose"]

# What the compiler reads back from a precompiled header no longer counts as a system header, so that its late passes
# warn about the insides of std::string. --config=no_prelude has these warnings on.
_PRELUDE_WARNINGS = ["-Wno-array-bounds", "-Wno-restrict", "-Wno-stringop-overflow", "-Wno-stringop-overread"]

def _with_prelude(deps, kwargs, prelude, copts = []):
    """Dependencies of a target that is compiled with the precompiled header `prelude`; sets its flags in kwargs.

    Args:
      deps: the dependencies of the target.
      kwargs: its other attributes.
      prelude: the name of the header.
      copts: flags of the target, and of the header, beyond those of the build.

    Returns:
      the dependencies, with the header among them.
    """
    sources = kwargs.get("srcs", [])
    if type(sources) != type([]) or not [s for s in sources if s.endswith(".cc")]:
        return deps  # headers alone
    if [s for s in sources if s.endswith(".c")]:
        return deps
    for folder in _WITHOUT_PRELUDE:
        if native.package_name() == folder or native.package_name().startswith(folder + "/"):
            return deps
    kwargs["copts"] = kwargs.get("copts", []) + select({
        "//tools/bazel/prelude:off": [],
        "//conditions:default": ["-include", "$(GENDIR)/tools/bazel/prelude/precompiled/%s.h" % prelude] +
                                copts + _PRELUDE_WARNINGS,
    })
    return deps + select({
        "//tools/bazel/prelude:off": [],
        "//conditions:default": ["//tools/bazel/prelude:" + prelude],
    })

# Linked into every test.
_TEST_DEPS = select({
    "//tools/bazel/sanitizers:address": ["//tools/bazel/sanitizers:leak_suppressions"],
    "//tools/bazel/sanitizers:thread": ["//tools/bazel/sanitizers:race_suppressions"],
    "//conditions:default": [],
})

def neptune_library(name, deps = [], **kwargs):
    """A C++ library; private to its package unless it says otherwise.

    Args:
      name: the target.
      deps: what it uses; its own layer and those below only.
      **kwargs: further attributes of cc_library.
    """
    _check(name, deps)
    if native.package_name().startswith("neptune/"):
        kwargs.setdefault("alwayslink", True)

    # Programs link statically; a shared twin of each library would be linked only to lie there.
    kwargs.setdefault("linkstatic", True)
    deps = _with_prelude(deps, kwargs, "prelude")
    native.cc_library(name = name, deps = deps, **kwargs)

def neptune_binary(name, deps = [], **kwargs):
    """A C++ program."""
    _check(name, deps)
    deps = _with_prelude(deps, kwargs, "prelude")
    native.cc_binary(name = name, deps = deps, **kwargs)

def neptune_test(name, deps = [], size = "small", **kwargs):
    """A GoogleTest program with gtest's main."""
    _check(name, deps, is_test = True)
    deps = _with_prelude(deps + ["@system//:gtest_main"], kwargs, "test_prelude", TEST_COPTS)
    native.cc_test(name = name, size = size, deps = deps + _TEST_DEPS, **kwargs)

def neptune_benchmark(name, deps = [], tags = [], **kwargs):
    """A Google Benchmark program; run by hand, never part of a test run."""
    _check(name, deps)
    native.cc_binary(
        name = name,
        testonly = True,
        deps = deps + ["@system//:benchmark"],
        tags = tags + ["benchmark"],
        **kwargs
    )

def neptune_fuzz_test(name, srcs, corpus, deps = [], size = "small", **kwargs):
    """A fuzz target: `LLVMFuzzerTestOneInput` in srcs; as a test it replays the corpus and mutations of it.

    With --config=fuzz the program is linked to libFuzzer instead and explores by itself.

    Args:
      name: the target.
      srcs: the files of the target.
      corpus: the inputs to replay.
      deps: what it links.
      size: the size of the test.
      **kwargs: further attributes of cc_test.
    """
    _check(name, deps, is_test = True)
    native.cc_test(
        name = name,
        size = size,
        srcs = srcs,
        args = ["$(locations %s)" % f for f in corpus],
        data = corpus,
        deps = deps + ["//tools/bazel/fuzz:driver"] + _TEST_DEPS,
        **kwargs
    )

def neptune_module(name, deps, **kwargs):
    """A service module: a shared library over libneptune.so, named NAME.so."""
    _check(name, deps)
    native.cc_binary(
        name = name + ".so",
        linkshared = True,
        deps = [dep for dep in deps if dep != "//neptune"] + ["//neptune"],
        **kwargs
    )

def neptune_proto_library(name, src, deps = [], **kwargs):
    """C++ classes of one .proto file, made by the system's protoc; imports are workspace-relative.

    Messages that more than one shared library carries must say `optimize_for = LITE_RUNTIME`.

    Args:
      name: the library; NAME_src is the file with its imports.
      src: the .proto file.
      deps: the neptune_proto_library targets that it imports.
      **kwargs: further attributes of cc_library.
    """
    _check(name, deps)
    stem = src[:-len(".proto")]
    imported = [dep + "_src" for dep in deps]
    native.filegroup(
        name = name + "_src",
        srcs = [src] + imported,
        visibility = ["//visibility:public"],
    )
    native.genrule(
        name = name + "_gen",
        srcs = [src] + imported,
        outs = [stem + ".pb.h", stem + ".pb.cc"],
        cmd = "protoc --proto_path=. --cpp_out=$(GENDIR) $(location %s)" % src,
    )
    native.cc_library(
        name = name,
        srcs = [stem + ".pb.cc"],
        hdrs = [stem + ".pb.h"],
        deps = deps + ["@system//:protobuf"],
        copts = ["-w"],
        linkstatic = True,
        alwayslink = native.package_name().startswith("neptune/"),
        **kwargs
    )

def _neptune_headers_impl(ctx):
    headers = depset(transitive = [dep[CcInfo].compilation_context.headers for dep in ctx.attr.deps])
    if not ctx.attr.only:
        return [DefaultInfo(files = headers)]
    offered = {header.short_path: header for header in headers.to_list()}
    absent = [path for path in ctx.attr.only if path not in offered]
    if absent:
        fail("%s: no dependency offers %s" % (ctx.label, ", ".join(absent)))
    return [DefaultInfo(files = depset([offered[path] for path in ctx.attr.only]))]

# Headers that the targets and what they depend on offer, without their objects: those of `only`, or all if it is empty.
neptune_headers = rule(
    implementation = _neptune_headers_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "only": attr.string_list(),
    },
)
