"""The part of JSON Schema 2020-12 that the frontend's description uses.

A keyword that is not known here is an error, so that nothing in a schema goes unchecked.
"""

import re
from typing import Any, Callable, Dict, Iterator, Optional, Set

TYPES: Dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
}
ANNOTATIONS = {"description", "default"}


def resolve(document: dict, reference: str) -> dict:
    """Resolves a reference "#/...". Raises KeyError."""
    if not reference.startswith("#/"):
        raise KeyError(reference)
    found = document
    for name in reference[2:].split("/"):
        found = found[name]
    return found


class Checker:
    """Checks values against schemas of one document; records the references it followed."""
    def __init__(self, document: dict):
        self._document = document
        self.followed: Set[str] = set()

    def problems(self, schema: Any, value: Any, at: str = "$") -> Iterator[str]:
        if schema is False:
            yield f"{at}: nothing may be here"
            return
        for keyword, wanted in schema.items():
            if keyword in ANNOTATIONS:
                continue
            check: Optional[Callable] = getattr(self, "_" + keyword.lstrip("$"), None)
            if check is None:
                yield f"{at}: unknown keyword {keyword}"
            else:
                yield from check(wanted, value, at, schema)

    def _ref(self, reference: str, value: Any, at: str, _) -> Iterator[str]:
        self.followed.add(reference)
        yield from self.problems(resolve(self._document, reference), value, at)

    @staticmethod
    def _type(wanted: Any, value: Any, at: str, _) -> Iterator[str]:
        names = wanted if isinstance(wanted, list) else [wanted]
        if not any(TYPES[name](value) for name in names):
            yield f"{at}: {value!r:.60} is not of type {wanted}"

    @staticmethod
    def _const(wanted: Any, value: Any, at: str, _) -> Iterator[str]:
        if value != wanted:
            yield f"{at}: {value!r:.60} is not {wanted!r}"

    @staticmethod
    def _enum(wanted: list, value: Any, at: str, _) -> Iterator[str]:
        if value not in wanted:
            yield f"{at}: {value!r:.60} is none of {wanted}"

    def _properties(self, wanted: dict, value: Any, at: str, _) -> Iterator[str]:
        for name, schema in wanted.items():
            if isinstance(value, dict) and name in value:
                yield from self.problems(schema, value[name], f"{at}.{name}")

    @staticmethod
    def _required(wanted: list, value: Any, at: str, _) -> Iterator[str]:
        for name in wanted:
            if isinstance(value, dict) and name not in value:
                yield f"{at}: no member {name}"

    def _additionalProperties(self, wanted: Any, value: Any, at: str,
                              schema: dict) -> Iterator[str]:
        if isinstance(value, dict):
            for name in value.keys() - schema.get("properties", {}).keys():
                yield from self.problems(wanted, value[name], f"{at}.{name}")

    def _prefixItems(self, wanted: list, value: Any, at: str, _) -> Iterator[str]:
        if isinstance(value, list):
            for i, (schema, item) in enumerate(zip(wanted, value)):
                yield from self.problems(schema, item, f"{at}[{i}]")

    def _items(self, wanted: Any, value: Any, at: str, schema: dict) -> Iterator[str]:
        if isinstance(value, list):
            first = len(schema.get("prefixItems", []))
            for i, item in enumerate(value[first:], first):
                yield from self.problems(wanted, item, f"{at}[{i}]")

    @staticmethod
    def _minItems(wanted: int, value: Any, at: str, _) -> Iterator[str]:
        if isinstance(value, list) and len(value) < wanted:
            yield f"{at}: fewer than {wanted} items"

    @staticmethod
    def _minimum(wanted: float, value: Any, at: str, _) -> Iterator[str]:
        if TYPES["number"](value) and value < wanted:
            yield f"{at}: {value} is below {wanted}"

    @staticmethod
    def _maximum(wanted: float, value: Any, at: str, _) -> Iterator[str]:
        if TYPES["number"](value) and value > wanted:
            yield f"{at}: {value} is above {wanted}"

    @staticmethod
    def _maxLength(wanted: int, value: Any, at: str, _) -> Iterator[str]:
        if isinstance(value, str) and len(value) > wanted:
            yield f"{at}: longer than {wanted}"

    @staticmethod
    def _pattern(wanted: str, value: Any, at: str, _) -> Iterator[str]:
        if isinstance(value, str) and re.search(wanted, value) is None:
            yield f"{at}: {value!r:.60} is not like {wanted}"

    def _anyOf(self, wanted: list, value: Any, at: str, _) -> Iterator[str]:
        found = []
        for schema in wanted:
            problems = list(self.problems(schema, value, at))
            if not problems:
                return
            found.append(problems[0])
        yield f"{at}: as none of {len(wanted)}: {'; '.join(found)}"
