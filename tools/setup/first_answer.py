#!/usr/bin/env python3
"""Waits until a frontend serves, asks it one query and prints the answer.

    first_answer.py --base=http://127.0.0.1:8080 --wait_s=60 [--pid=PID] QUERY

Waits for /readyz and for an answer to which all partitions contributed; an incomplete one is
printed when the time is over. With --pid it gives up as soon as that process is gone.
Status: 0 an answer with results was printed; 1 none came; 2 wrong arguments.
"""

import argparse
import http.client
import json
import os
import sys
import time
import urllib.parse
from typing import Optional

ANSWER_SIZE_MAX = 8 << 20
ATTEMPT_TIMEOUT_S = 5.0
PAUSE_S = 0.1


def fetch(base: str, path: str) -> bytes:
    """The body of a 200 answer. Raises OSError or http.client.HTTPException otherwise."""
    place = urllib.parse.urlsplit(base)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=ATTEMPT_TIMEOUT_S)
    try:
        connection.request("GET", path, headers={"Connection": "close"})
        response = connection.getresponse()
        body = response.read(ANSWER_SIZE_MAX)
        if response.status != 200:
            first_line = body.decode("utf-8", "replace").strip().replace("\n", " ")[:200]
            raise http.client.HTTPException(f"{path.split('?')[0]}: {response.status} {first_line}")
        return body
    finally:
        connection.close()


def ask(base: str, query: str) -> dict:
    fetch(base, "/readyz")
    parameters = urllib.parse.urlencode({"q": query, "count": 3, "format": "json"})
    return json.loads(fetch(base, "/search?" + parameters))


def is_alive(pid: Optional[int]) -> bool:
    if pid is None:
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def is_complete(answer: dict) -> bool:
    return bool(answer.get("results")) and answer.get("coverage", {}).get("complete", False)


def print_answer(query: str, answer: dict) -> None:
    total = f"{'' if answer.get('total_is_exact', True) else 'about '}{answer.get('total', 0):,}"
    coverage = answer.get("coverage", {})
    print(f"  {query}: {total} documents in {answer.get('took_ms', 0):.1f} ms; "
          f"{coverage.get('partitions_answered', 0)} of {coverage.get('partitions_asked', 0)} "
          "partitions answered")
    for number, result in enumerate(answer["results"], start=1):
        title = "".join(c if c.isprintable() else " " for c in result.get("title", ""))
        print(f"  {number}. {title}  ({result.get('site', '')})")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--base", required=True)
    parser.add_argument("--wait_s", type=float, default=60.0)
    parser.add_argument("--pid", type=int)
    parser.add_argument("query")
    arguments = parser.parse_args()
    deadline = time.monotonic() + arguments.wait_s
    answer, problem = None, "no attempt was made"
    while True:
        try:
            answer = ask(arguments.base, arguments.query)
            problem = "the answer had no results"
        except (OSError, ValueError, http.client.HTTPException) as error:
            problem = str(error)
        if answer is not None and is_complete(answer):
            break
        if not is_alive(arguments.pid):
            problem = "the cluster ended"
            answer = None
            break
        if time.monotonic() >= deadline:
            break
        time.sleep(PAUSE_S)
    if answer is None or not answer.get("results"):
        print(f"{arguments.base} gave no answer: {problem}", file=sys.stderr)
        return 1
    print_answer(arguments.query, answer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
