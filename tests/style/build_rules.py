"""Rules on BUILD files and includes: the project's own rules only, and no dependency upwards.

BUILD and .bzl files are Starlark, whose syntax is a part of Python's, so Python's parser reads them.
"""

import ast
import posixpath
import re
from typing import Iterator, List, NamedTuple, Optional

from source_tree import SourceTree, Violation, line_of

RULES_FILE = "tools/bazel/neptune.bzl"
ARCHITECTURE_FILE = "ARCHITECTURE.md"
_RAW_RULES = re.compile(r"(?:native\.)?(?:cc|proto|cc_proto)_(?:library|binary|test|import|shared_library)")
# Where Bazel's own rules may stand: the rules' folder, and what makes and imports libneptune.so.
_RAW_RULES_ALLOWED = ("tools/bazel/", "neptune/BUILD")
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


class Dependency(NamedTuple):
    line: int
    label: str


def constant(tree: SourceTree, name: str, path: str = RULES_FILE):
    """The value of a top-level constant of the rules' file, or of another one."""
    for statement in ast.parse(tree.text(path)).body:
        if isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", None) == name:
            return ast.literal_eval(statement.value)
    raise ValueError(f"no {name} in {path}")


def _calls(tree: SourceTree, path: str) -> List[ast.Call]:
    parsed = ast.parse(tree.text(path), filename=path)
    return [node for node in ast.walk(parsed) if isinstance(node, ast.Call)]


def target_names(tree: SourceTree, path: str) -> List[str]:
    names = []
    for call in _calls(tree, path):
        names += [k.value.value for k in call.keywords if k.arg == "name" and isinstance(k.value, ast.Constant)]
    return names


def _dependencies(tree: SourceTree, path: str) -> List[Dependency]:
    found = []
    for call in _calls(tree, path):
        for keyword in call.keywords:
            if keyword.arg not in ("deps", "implementation_deps"):
                continue
            for node in ast.walk(keyword.value):
                if isinstance(node, ast.Constant) and str(node.value).startswith("//"):
                    found.append(Dependency(node.lineno, node.value))
    return found


def raw_rules(tree: SourceTree) -> Iterator[Violation]:
    for path in tree.named("BUILD"):
        if path.startswith(_RAW_RULES_ALLOWED):
            continue
        for call in _calls(tree, path):
            if _RAW_RULES.fullmatch(ast.unparse(call.func)):
                reason = f"{ast.unparse(call.func)}; use the rules of {RULES_FILE}"
                yield Violation(path, call.lineno, "project-rules", reason)


def _layer_of(path: str) -> Optional[str]:
    parts = path.split("/")
    is_runtime = parts[0] == "neptune" and len(parts) > 1 and parts[1] != "examples"
    return parts[1] if is_runtime else None


def _complaint(layers: List[str], own: str, used_path: str) -> Optional[str]:
    """Why code below the folder of layer `own` may not use `used_path`, or None if it may."""
    used = _layer_of(used_path)
    if used is None:
        return None
    if used not in layers:
        return f"'{used}' is not a layer of {RULES_FILE}"
    if layers.index(used) > layers.index(own):
        return f"layer '{own}' uses '{used_path}' of the higher layer '{used}'"
    return None


def layer_dependencies(tree: SourceTree) -> Iterator[Violation]:
    layers = constant(tree, "NEPTUNE_LAYERS")
    for path in tree.named("BUILD"):
        own = _layer_of(posixpath.dirname(path))
        if own is None:
            continue
        if own not in layers:
            yield Violation(path, 1, "layers", f"'{own}' is not a layer of {RULES_FILE}")
            continue
        for line, label in _dependencies(tree, path):
            complaint = _complaint(layers, own, label[2:].split(":")[0])
            if complaint:
                yield Violation(path, line, "layers", complaint)


def layer_includes(tree: SourceTree) -> Iterator[Violation]:
    """What gcc lets through: an include of a header that no dependency names."""
    layers = constant(tree, "NEPTUNE_LAYERS")
    for path in tree.with_suffix(".h", ".cc"):
        own = _layer_of(posixpath.dirname(path))
        text = tree.text(path)
        for match in _INCLUDE.finditer(text):
            complaint = None
            if own in layers:
                complaint = _complaint(layers, own, posixpath.dirname(match.group(1)))
            elif path.startswith("index/core/") and _layer_of(match.group(1)) not in (None, "base"):
                complaint = f"index/core uses '{match.group(1)}', more of the runtime than its base"
            if complaint:
                yield Violation(path, line_of(text, match.start()), "layers", complaint)


def documented_layers(tree: SourceTree) -> Iterator[Violation]:
    """The table of layers in the architecture document has the rules' layers in their order."""
    if not tree.exists(ARCHITECTURE_FILE):
        return
    layers = constant(tree, "NEPTUNE_LAYERS")
    rows = re.findall(r"^\|\s*`(?:neptune/)?(\w+)/?`\s*\|", tree.text(ARCHITECTURE_FILE), re.MULTILINE)
    documented = [row for row in rows if row in layers]
    if documented != layers:
        reason = f"its table has the layers {documented}, {RULES_FILE} has {layers}"
        yield Violation(ARCHITECTURE_FILE, 1, "layers", reason)


_SORTED_LISTS = ("deps", "hdrs", "srcs")


def _sort_key(value: str):
    """Buildifier's order: files, targets of the package, of the workspace, of other repositories."""
    kind = next((i for i, prefix in ((3, "@"), (2, "//"), (1, ":")) if value.startswith(prefix)), 0)
    return kind, value.replace(":", ".").split(".")


def build_format(tree: SourceTree) -> Iterator[Violation]:
    """The part of buildifier's format that needs no buildifier; `./tools/check buildifier` knows the rest."""
    for path in tree.named("BUILD") + tree.with_suffix(".bzl", ".BUILD"):
        text = tree.text(path)
        lines = text.split("\n")
        if text and (not text.endswith("\n") or text.endswith("\n\n")):
            yield Violation(path, len(lines), "build-format", "does not end with one line break")
        for number, line in enumerate(lines, 1):
            if "\t" in line or line != line.rstrip():
                yield Violation(path, number, "build-format", "a tab, or a space at the end")
        for call in _calls(tree, path):
            for keyword in call.keywords:
                if keyword.arg not in _SORTED_LISTS or not isinstance(keyword.value, ast.List):
                    continue
                values = [node.value for node in keyword.value.elts if isinstance(node, ast.Constant)]
                has_comment = any("#" in line for line in lines[keyword.value.lineno - 1:keyword.value.end_lineno])
                if values != sorted(values, key=_sort_key) and not has_comment:
                    yield Violation(path, keyword.value.lineno, "build-format", f"{keyword.arg} are not sorted")


SPEC_TEST_FILE = "tests/processes/BUILD"
_SPEC = re.compile(r"^nodes\s*:?\s*\{", re.MULTILINE)  # other .textproto files name no nodes


def spec_list(tree: SourceTree) -> Iterator[Violation]:
    """Each shipped cluster spec is in the list of those that `parameters_test` checks."""
    if not tree.exists(SPEC_TEST_FILE):
        return
    listed = set(constant(tree, "_SPECS", SPEC_TEST_FILE))
    for path in tree.with_suffix(".textproto"):
        if _SPEC.search(tree.text(path)) and "//{}:{}".format(*posixpath.split(path)) not in listed:
            yield Violation(path, 1, "spec-list", f"_SPECS of {SPEC_TEST_FILE} does not have it")


RULES = (raw_rules, build_format, layer_dependencies, layer_includes, documented_layers, spec_list)
