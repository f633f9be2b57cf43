"""Each decoder of bytes from elsewhere has a fuzz target, or a reason why it has none.

Decoders are found by their names: functions Decode..., Parse..., Unpack..., Read... and From... that take bytes, declared in
headers of the folders below, and reduce operators that are registered. tools/fuzz/registry.json lists them against targets;
tools/fuzz/README.md has its form.
"""

import ast
import json
import posixpath
import re
from typing import Dict, Iterator, List, NamedTuple, Tuple

from source_tree import SourceTree, Violation, code_only, line_of

REGISTRY = "tools/fuzz/registry.json"
_FOLDERS = ("cache/", "docserver/", "frontend/", "index/", "neptune/", "tools/")
# What only tests use, and what makes their input.
_TESTS = re.compile(r"(^|/)(testing|samples)/|_(fixture|conformance|fuzz|checks)\.h$")
# Bytes as the first parameter, whose declaration may go on in the next line.
_BYTES = r"(?:const\s+)?(?:std::string_view|(?:std::unique_ptr<)?SectionFile|(?:neptune::)?ByteReader|ByteSource|HttpResponse)\b"
_DECODER = re.compile(rf"[\w>&*]\s+\b((?:Decode|Parse|Unpack|Read|From)(?:[A-Z]\w*)?)\(\s*{_BYTES}")
_REDUCE = re.compile(r"\.Reduce\(\s*(?:neptune::)?MethodName\((\w+|\"\w+\")\)")
_THROUGH = " through "


class Target(NamedTuple):
    build: str
    line: int
    sources: Tuple[str, ...]


def targets(tree: SourceTree) -> Dict[str, Target]:
    """The fuzz targets of all BUILD files, by label."""
    found = {}
    for path in tree.named("BUILD"):
        if "neptune_fuzz_test" not in tree.text(path):
            continue
        package = posixpath.dirname(path)
        for call in ast.walk(ast.parse(tree.text(path))):
            if not isinstance(call, ast.Call) or ast.unparse(call.func) != "neptune_fuzz_test":
                continue
            arguments = {keyword.arg: keyword.value for keyword in call.keywords}
            sources = tuple(f"{package}/{name}" for name in ast.literal_eval(arguments["srcs"]))
            label = f"//{package}:{ast.literal_eval(arguments['name'])}"
            found[label] = Target(path, call.lineno, sources)
    return found


def decoders(tree: SourceTree) -> Dict[str, Tuple[str, int]]:
    """Path and line of each decoder, by "HEADER: NAME"; of reduce operators by "FILE: CONSTANT"."""
    found: Dict[str, Tuple[str, int]] = {}
    for path in tree.with_suffix(".h", ".cc"):
        if not path.startswith(_FOLDERS) or _TESTS.search(path) or path.endswith(("_test.cc", "_benchmark.cc")):
            continue
        text = tree.text(path)
        pattern = _DECODER if path.endswith(".h") else _REDUCE
        # Names of operators may be literals, which are blanked in code.
        searched = code_only(text) if path.endswith(".h") else text
        for match in pattern.finditer(searched):
            name = match.group(1).strip('"')
            found.setdefault(f"{path}: {name}", (path, line_of(text, match.start())))
    return found


def _registered(registry) -> Dict[str, List[Tuple[str, str]]]:
    """The targets that claim a decoder, each with the name that its sources must have."""
    claims: Dict[str, List[Tuple[str, str]]] = {}
    for label, row in registry["targets"].items():
        for claim in row.get("decodes", []):
            decoder, _, other = claim.partition(_THROUGH)
            claims.setdefault(decoder, []).append((label, other or decoder.rpartition(": ")[2]))
    return claims


def _is_exempt(registry, decoder: str) -> bool:
    return any(decoder == key or (key.endswith("/") and decoder.startswith(key)) for key in registry["exempt"])


def _claims(tree: SourceTree, registry, known: Dict[str, Target]) -> Iterator[Violation]:
    existing = decoders(tree)
    claims = _registered(registry)
    for decoder, (path, line) in sorted(existing.items()):
        if decoder not in claims and not _is_exempt(registry, decoder):
            reason = f"{decoder.rpartition(': ')[2]} reads bytes and has neither target nor exemption in {REGISTRY}"
            yield Violation(path, line, "fuzzed", reason)
    for decoder, claimed in sorted(claims.items()):
        if decoder not in existing:
            yield Violation(REGISTRY, 1, "fuzzed", f"there is no decoder '{decoder}'")
            continue
        for label, name in claimed:
            if label in known and not any(re.search(rf"\b{name}\b", tree.text(path)) for path in known[label].sources):
                yield Violation(REGISTRY, 1, "fuzzed", f"the sources of {label} do not name {name}")
    for key in registry["exempt"]:
        is_used = any(decoder == key or (key.endswith("/") and decoder.startswith(key)) for decoder in existing)
        if not is_used:
            yield Violation(REGISTRY, 1, "fuzzed", f"the exemption '{key}' is of no decoder")


def _places(tree: SourceTree, label: str, row) -> Iterator[Violation]:
    if not any(row.get("reaches", {}).values()):
        yield Violation(REGISTRY, 1, "fuzzed", f"{label} names no line that it must reach")
    for path, text in row.get("reaches", {}).items():
        count = tree.text(path).count(text) if tree.exists(path) else 0
        if count != 1 and text:
            yield Violation(REGISTRY, 1, "fuzzed", f"{label}: '{text}' occurs {count} times in {path}")


def fuzzed(tree: SourceTree) -> Iterator[Violation]:
    if not tree.exists(REGISTRY):
        return
    registry = json.loads(tree.text(REGISTRY))
    known = targets(tree)
    for label, target in sorted(known.items()):
        if label not in registry["targets"]:
            yield Violation(target.build, target.line, "fuzzed", f"{label} is not in {REGISTRY}")
    for label, row in sorted(registry["targets"].items()):
        if label not in known:
            yield Violation(REGISTRY, 1, "fuzzed", f"there is no fuzz target {label}")
        yield from _places(tree, label, row)
    yield from _claims(tree, registry, known)


RULES = (fuzzed,)
