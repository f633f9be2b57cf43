"""Checks values against the schemas of an OpenAPI 3.1 document, whose dialect is JSON Schema 2020-12.

A keyword or a format that the validator would ignore is an error, so that nothing in a schema goes unchecked.
"""

import warnings
from typing import Any, Iterator, Set

from jsonschema import Draft202012Validator, FormatChecker

with warnings.catch_warnings():
    # Newer versions want the package `referencing`, which Debian 12 does not have.
    warnings.simplefilter("ignore", DeprecationWarning)
    from jsonschema import RefResolver

ANNOTATIONS = {"description", "default"}
FORMATS = FormatChecker()
MAPS = {"properties", "patternProperties", "$defs"}


def resolve(document: dict, reference: str) -> dict:
    """Resolves a reference "#/...". Raises KeyError."""
    if not reference.startswith("#/"):
        raise KeyError(reference)
    found = document
    for name in reference[2:].split("/"):
        found = found[name]
    return found


def unknown_keywords(schema: Any) -> Iterator[str]:
    """The keywords of a schema and of those inside it that are not checked."""
    if isinstance(schema, list):
        for member in schema:
            yield from unknown_keywords(member)
    if not isinstance(schema, dict):
        return
    for keyword, value in schema.items():
        if keyword not in Draft202012Validator.VALIDATORS and keyword not in ANNOTATIONS:
            yield keyword
        elif keyword == "format" and value not in FORMATS.checkers:
            yield f"format {value}"
        elif keyword in MAPS:
            yield from unknown_keywords(list(value.values()))
        elif keyword not in ANNOTATIONS | {"const", "enum"}:
            yield from unknown_keywords(value)


class Resolver(RefResolver):
    """Resolves the references of one document and records them."""
    def __init__(self, document: dict):
        super().__init__("", document)
        self.followed: Set[str] = set()

    def resolve(self, ref: str) -> Any:
        self.followed.add(ref)
        return super().resolve(ref)


class Checker:
    """Checks values against schemas of one document; records the references it followed."""
    def __init__(self, document: dict):
        self._resolver = Resolver(document)
        for schema in document.get("components", {}).get("schemas", {}).values():
            self._check_keywords(schema)

    @property
    def followed(self) -> Set[str]:
        return self._resolver.followed

    def problems(self, schema: Any, value: Any, at: str = "$") -> Iterator[str]:
        self._check_keywords(schema)
        validator = Draft202012Validator(schema, resolver=self._resolver, format_checker=FORMATS)
        for error in validator.iter_errors(value):
            yield f"{at}{error.json_path[1:]}: {error.message:.200}"

    @staticmethod
    def _check_keywords(schema: Any) -> None:
        """Raises ValueError."""
        unknown = list(unknown_keywords(schema))
        if unknown:
            raise ValueError(f"keywords that are not checked: {unknown}")
        Draft202012Validator.check_schema(schema)
