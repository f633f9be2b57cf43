"""The runtime's public face: the headers that products and examples may include, and how much these reach."""

import ast
import re
from typing import Iterator, List, Set

from source_tree import SourceTree, Violation, line_of

LIST_FILE = "neptune/README.md"
SECTION = "## Public headers"
EXPORT_FILE = "neptune/public_headers.bzl"
USERS = ("frontend/", "cache/", "docserver/", "index/", "neptune/examples/")
# Tests and measurements may look inside.
_NOT_PRODUCT = re.compile(r"_test\.|/testing/|_conformance|benchmark|_fuzz|/measure_|_checks\.")
_INCLUDE = re.compile(r'^#include "(neptune/(?!examples/)[^"]+\.h)"', re.MULTILINE)
# Headers of the runtime that the public ones include, themselves among them. The number may only go down.
REACH_MAX = 88


def listed(tree: SourceTree) -> List[str]:
    """The headers of the list, in its order."""
    if not tree.exists(LIST_FILE) or SECTION not in tree.text(LIST_FILE):
        return []
    section = tree.text(LIST_FILE).split(SECTION, 1)[1].split("\n## ", 1)[0]
    return re.findall(r"`(neptune/[\w/]+\.h)`", section)


def reached(tree: SourceTree, headers: List[str]) -> Set[str]:
    """All headers of the runtime that an include of these brings."""
    found: Set[str] = set()
    waiting = [header for header in headers if tree.exists(header)]
    while waiting:
        header = waiting.pop()
        if header in found:
            continue
        found.add(header)
        waiting += [used for used in _INCLUDE.findall(tree.text(header)) if tree.exists(used)]
    return found


def exported(tree: SourceTree) -> Set[str]:
    """The headers that BUILD offers to other folders, but for generated ones."""
    strings = (node for statement in ast.parse(tree.text(EXPORT_FILE)).body if isinstance(statement, ast.Assign)
               for node in ast.walk(statement.value) if isinstance(node, ast.Constant))
    return {node.value for node in strings if not node.value.endswith(".pb.h")}


def public_headers(tree: SourceTree) -> Iterator[Violation]:
    public = listed(tree)
    used = set()
    for path in tree.with_suffix(".h", ".cc"):
        if not path.startswith(USERS) or _NOT_PRODUCT.search(path):
            continue
        text = tree.text(path)
        for match in _INCLUDE.finditer(text):
            used.add(match[1])
            if match[1] not in public and not match[1].endswith(".pb.h"):
                yield Violation(path, line_of(text, match.start()), "public-header",
                                f"'{match[1]}' is not in {LIST_FILE}, {SECTION[3:]}")
    for header in public:
        if header not in used:
            yield Violation(LIST_FILE, 1, "public-header", f"'{header}' is public and used by no product or example")
    reached_headers = reached(tree, public)
    if tree.exists(EXPORT_FILE):
        for header in sorted(reached_headers ^ exported(tree)):
            yield Violation(EXPORT_FILE, 1, "public-header",
                            f"'{header}' is exported here or reached by the public headers, but not both")
    reach = len(reached_headers)
    if reach > REACH_MAX:
        yield Violation(LIST_FILE, 1, "public-header", f"the public headers reach {reach}, limit {REACH_MAX}")
    elif public and reach < REACH_MAX:
        yield Violation(LIST_FILE, 1, "public-header", f"the public headers reach {reach}: lower REACH_MAX, {REACH_MAX}")


RULES = (public_headers,)
