"""A strict parser of the Prometheus text format 0.0.4, which also requires contiguous families."""

import math
import re
from typing import Dict, FrozenSet, List, NamedTuple, Set, Tuple

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"'
SAMPLE = re.compile(rf"({NAME})(?:\{{((?:{LABEL})(?:,{LABEL})*)\}})? (\S+)")
TYPES = ("counter", "gauge", "histogram")
Labels = FrozenSet[Tuple[str, str]]


class FormatError(Exception):
    """The text violates the format; the message names the line."""


class Family(NamedTuple):
    name: str
    type: str
    help: str
    # Keyed by sample name (for a histogram its name with _bucket etc.) and labels.
    samples: Dict[Tuple[str, Labels], float]

    def label_names(self) -> Set[str]:
        return {name for _, labels in self.samples for name, _ in labels} - {"le"}


def read(text: str) -> Dict[str, Family]:
    """Parses families by name. Raises FormatError."""
    if not text.endswith("\n"):
        raise FormatError("the last line has no line feed")
    families: Dict[str, Family] = {}
    helps: Dict[str, str] = {}
    current = ""
    for number, line in enumerate(text.split("\n")[:-1], 1):
        try:
            current = _read_line(line, current, helps, families)
        except ValueError as error:
            raise FormatError(f"line {number}: {error}: {line!r}") from None
    for name in helps:
        if name not in families or not families[name].samples:
            raise FormatError(f"{name} has no samples")
    for family in families.values():
        _check(family)
    return families


def _read_line(line: str, current: str, helps: Dict[str, str], families: Dict[str, Family]) -> str:
    """Returns the family that the line belongs to."""
    head = re.fullmatch(rf"# (HELP|TYPE) ({NAME}) (.+)", line)
    if head is None:
        _read_sample(line, families.get(current))
        return current
    kind, name, rest = head.groups()
    if kind == "HELP":
        if name in helps:
            raise ValueError("a second HELP")
        if re.search(r"\\(?![\\n])", rest.replace("\\\\", "")):
            raise ValueError("a wrong escape")
        helps[name] = rest
    else:
        if name in families or name not in helps or list(helps)[-1] != name:
            raise ValueError("TYPE does not follow the only HELP")
        if rest not in TYPES:
            raise ValueError("unexpected type")
        families[name] = Family(name, rest, helps[name], {})
    return name


def _read_sample(line: str, family: Family) -> None:
    match = SAMPLE.fullmatch(line)
    if match is None:
        raise ValueError("not a sample")
    name, labels_text, value = match.group(1), match.group(2) or "", match.groups()[-1]
    suffixes = ("_bucket", "_sum", "_count") if family and family.type == "histogram" else ("",)
    if family is None or name not in [family.name + suffix for suffix in suffixes]:
        raise ValueError("a sample of another family")
    pairs: List[Tuple[str, str]] = re.findall(LABEL, labels_text)
    if len({label for label, _ in pairs}) < len(pairs):
        raise ValueError("duplicate label")
    if ("le" in dict(pairs)) != name.endswith("_bucket"):
        raise ValueError("le is allowed only in buckets")
    key = (name, frozenset(pairs))
    if key in family.samples:
        raise ValueError("duplicate series")
    if not re.fullmatch(r"[+-]?(\d+(\.\d*)?([eE][+-]?\d+)?|Inf)|NaN", value):
        raise ValueError("not a number")
    family.samples[key] = float(value)


def _check(family: Family) -> None:
    if family.type == "counter":
        if not all(value >= 0 for value in family.samples.values()):
            raise FormatError(f"{family.name}: a count below 0")
    if family.type != "histogram":
        return
    series: Dict[Labels, List[Tuple[float, float]]] = {}
    for (name, labels), value in family.samples.items():
        if name.endswith("_bucket"):
            rest = frozenset(pair for pair in labels if pair[0] != "le")
            series.setdefault(rest, []).append((float(dict(labels)["le"]), value))
    for labels, buckets in series.items():
        counts = [value for _, value in buckets]
        if [bound for bound, _ in buckets] != sorted(
                bound for bound, _ in buckets) or counts != sorted(counts):
            raise FormatError(f"{family.name}{dict(labels)}: buckets do not rise")
        if buckets[-1][0] != math.inf or counts[-1] != family.samples.get(
            (family.name + "_count", labels)):
            raise FormatError(
                f"{family.name}{dict(labels)}: the last bucket is not +Inf with the count")
        if (family.name + "_sum", labels) not in family.samples:
            raise FormatError(f"{family.name}{dict(labels)}: no sum")
    if sum(name.endswith("_count") for name, _ in family.samples) != len(series):
        raise FormatError(f"{family.name}: counts without buckets")
