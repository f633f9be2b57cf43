"""Rules on the text of files: banned calls and words, length, banners of headers."""

import re
from typing import Iterator, NamedTuple, Pattern, Tuple

from source_tree import SourceTree, Violation, code_only, line_of

LINE_COUNT_MAX = 700


class BannedCall(NamedTuple):
    rule: str
    pattern: Pattern
    allowed_below: Tuple[str, ...]
    reason: str


# A program that knows nothing of the project.
_FOREIGN = "neptune/interpose/pthread/conformance"

BANNED_CALLS = (
    BannedCall(
        "no-sleep", re.compile(r"\b(?:sleep_for|sleep_until|usleep|nanosleep)\s*\("),
        ("neptune/world/", "neptune/interpose/"),  # the latter takes these calls over
        "time passes through the world's timers",
    ),
    BannedCall(
        "no-clock", re.compile(r"\w*[cC]lock\w*\s*::\s*now\s*\(|\babsl::Now\s*\(|\bgettimeofday\s*\("),
        ("neptune/world/",), "time comes in through the world or as an argument",
    ),
    BannedCall(
        "no-random-device", re.compile(r"\brandom_device\b"), ("neptune/world/",),
        "seeds come in through the world or as an argument",
    ),
    BannedCall(
        "no-rand", re.compile(r"(?<![\w.>])s?rand\s*\("), ("neptune/world/",),
        "random numbers come in through the world or from a seed",
    ),
    BannedCall(
        "no-detach", re.compile(r"(?:\.|->)detach\s*\(\s*\)"), (_FOREIGN,),
        "every thread is counted and joined by its owner",
    ),
    BannedCall(
        "no-std-mutex", re.compile(r"\bstd::(?:\w+_)?mutex\b"),
        ("neptune/world/", "neptune/thread/", "neptune/base/blocking_mutex.h", _FOREIGN),
        "use LeafMutex, or the runtime's own mutex where a wait is inside",
    ),
)

# Written so that this file does not break its own rules.
_UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b(?!\.)")
_MACHINE_PATH = re.compile(r"(?<![\w.}/*])/(?:wo" r"rk|ro" r"ot|ho" r"me)(?![\w-])(?=/|[\s\"'`),;]|$)", re.MULTILINE)


def banned_calls(tree: SourceTree) -> Iterator[Violation]:
    for path in tree.with_suffix(".h", ".cc"):
        text = code_only(tree.text(path))
        for call in BANNED_CALLS:
            if path.startswith(call.allowed_below):
                continue
            for match in call.pattern.finditer(text):
                yield Violation(path, line_of(text, match.start()), call.rule, call.reason)


def banned_words(tree: SourceTree) -> Iterator[Violation]:
    for path in tree.files:
        text = tree.text(path)
        for match in _UNFINISHED.finditer(text):
            yield Violation(path, line_of(text, match.start()), "finished", f"'{match.group()}'")
        for match in _MACHINE_PATH.finditer(text):
            yield Violation(path, line_of(text, match.start()), "no-machine-path", f"'{match.group()}'")


def lengths(tree: SourceTree) -> Iterator[Violation]:
    for path in tree.with_suffix(".h", ".cc", ".py", ".sh", ".bzl", ".proto"):
        count = tree.text(path).count("\n")
        if count > LINE_COUNT_MAX:
            yield Violation(path, count, "length", f"{count} lines, limit {LINE_COUNT_MAX}")


def headers(tree: SourceTree) -> Iterator[Violation]:
    for path in tree.with_suffix(".h"):
        text = tree.text(path)
        if not re.search(r"^#pragma once$", text, re.MULTILINE):
            yield Violation(path, 1, "pragma-once", "missing")
        banner = re.match(r"(?://[^\n]*\n)*", text).group()
        if not banner:
            yield Violation(path, 1, "banner", "the file does not begin with a comment")
        elif path.startswith("neptune/") and not re.search(r"\bThreads: ", banner):
            yield Violation(path, 1, "banner", "the banner does not say Threads:")


RULES = (banned_calls, banned_words, lengths, headers)
