"""Rules on Protobuf schemas: what people write by hand has a comment on every field."""

import re
from typing import Iterator

from source_tree import SourceTree, Violation

# `type name = 3`, `map<k, v> name = 3` and `VALUE = 3` of enums.
_FIELD = re.compile(r"\s*(?:(?:optional|required|repeated)\s+)?(?:[\w.]+|map\s*<[^>]*>)?\s*\b\w+\s*=\s*-?\d+\s*[;\[]")


def spec_comments(tree: SourceTree) -> Iterator[Violation]:
    for path in tree.with_suffix("spec.proto"):
        previous = ""
        for number, line in enumerate(tree.text(path).split("\n"), start=1):
            has_comment = "//" in line or previous.strip().startswith("//")
            if _FIELD.match(line) and not has_comment:
                yield Violation(path, number, "spec-comment", f"no comment on '{line.strip()}'")
            previous = line


RULES = (spec_comments,)
