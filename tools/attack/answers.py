"""Answers of a damaged cluster against those of the sound one: pure.

An answer is right if it equals the recorded one in everything that a user sees, and honest if it says that it is not
whole: another status than 200, `partial`, incomplete coverage, or, for completions, that it may not be stored.
Everything else is wrong without a word.
"""

import json
from typing import Dict, List, NamedTuple, Optional

RIGHT, SAID, WRONG = "right", "said", "wrong"

# Parts of a search's answer that differ from one to the next, or say how it came about.
_VOLATILE = ("took_ms", "coverage", "trace", "index_version", "links")


class Reply(NamedTuple):
    """What came back for one question. Status 0: no answer at all."""
    status: int
    body: bytes
    headers: Dict[str, str] = {}


def _without(value: object, names: tuple) -> object:
    if isinstance(value, dict):
        return {key: _without(one, names) for key, one in value.items() if key not in names}
    if isinstance(value, list):
        return [_without(one, names) for one in value]
    return value


def parsed(body: bytes) -> Optional[object]:
    try:
        return json.loads(body)
    except ValueError:
        return None


def essence(body: bytes) -> object:
    """What must be equal: the answer without what varies; other bytes as they are."""
    value = parsed(body)
    return body if value is None else _without(value, _VOLATILE)


def says_incomplete(reply: Reply) -> bool:
    """Whether the answer itself says that something is missing."""
    if reply.status != 200:
        return True
    value = parsed(reply.body)
    if isinstance(value, list):  # completions, whose format has no place for a note
        return "no-store" in reply.headers.get("cache-control", "")
    if not isinstance(value, dict):
        return False
    if value.get("partial") is True:
        return True
    coverage = value.get("coverage")
    return isinstance(coverage, dict) and coverage.get("complete") is False


def _without_lost_documents(value: object, reply: object) -> object:
    """The expected search, with those documents left out that the reply says it has not (`has_summary`)."""
    if not isinstance(value, dict) or not isinstance(reply, dict) or "results" not in value:
        return value
    lost = {one.get("id"): one for one in reply.get("results", []) if one.get("has_summary") is False}
    return {**value, "results": [lost.get(one.get("id"), one) for one in value["results"]]}


def judge(expected: bytes, reply: Reply) -> str:
    if says_incomplete(reply):
        return SAID
    ours, theirs = essence(expected), essence(reply.body)
    if ours == theirs:
        return RIGHT
    return SAID if _without_lost_documents(ours, theirs) == theirs else WRONG


def difference(expected: bytes, reply: Reply) -> str:
    """The first member in which two answers differ, for the report."""
    ours, theirs = essence(expected), essence(reply.body)
    path: List[str] = []
    while type(ours) is type(theirs):
        if isinstance(ours, dict):
            names = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
            if not names:
                break
            path.append(names[0])
            ours, theirs = ours.get(names[0]), theirs.get(names[0])
        elif isinstance(ours, list) and len(ours) == len(theirs):
            places = [i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b]
            if not places:
                break
            path.append(str(places[0]))
            ours, theirs = ours[places[0]], theirs[places[0]]
        else:
            break
    return f"{'.'.join(path) or 'answer'} {str(ours)[:60]!r} became {str(theirs)[:60]!r}"
