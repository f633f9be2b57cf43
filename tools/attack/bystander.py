"""Another client while an attack lasts: a process of its own, at another loopback address, that asks at a steady rate.

    bystander.py PORT RATE PATH SOURCE    a line when it begins; from the end of its standard input on one line of JSON:
                                          latencies in ms, failures

A process of its own, so that the attack's threads do not delay what it measures. Latency counts from when a question
was due.
"""

import http.client
import json
import os
import select
import subprocess
import sys
import time
from typing import List, NamedTuple, Optional

SOURCE = "127.0.0.2"
_TIMEOUT_S = 10.0


class Seen(NamedTuple):
    """Latencies of the answers, ascending, and how many questions got none."""
    latencies_ms: List[float]
    failures: int

    def quantile(self, share: float) -> float:
        """Infinite if fewer than that share of the questions were answered."""
        count = len(self.latencies_ms) + self.failures
        place = min(int(share * count), count - 1)
        return self.latencies_ms[place] if 0 <= place < len(self.latencies_ms) else float("inf")


class Bystander:
    """Asks while the block is entered; what it saw is there afterwards."""

    def __init__(self, port: int, rate: float, path: str):
        self._arguments = [str(port), str(rate), path, SOURCE]
        self._process: Optional[subprocess.Popen] = None
        self.seen = Seen([], 0)

    def __enter__(self) -> "Bystander":
        self._process = subprocess.Popen([sys.executable, "-B", os.path.abspath(__file__), *self._arguments],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._process.stdout.readline()  # it asks from now on
        return self

    def __exit__(self, *_: object) -> None:
        out, _ = self._process.communicate(timeout=2 * _TIMEOUT_S)
        found = json.loads(out)
        self.seen = Seen(sorted(found["latencies_ms"]), found["failures"])


def _ask(connection: http.client.HTTPConnection, path: str) -> bool:
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        return response.status == 200
    except (OSError, http.client.HTTPException):
        connection.close()  # the next question connects again
        return False


def main() -> None:
    port, rate, path, source = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3], sys.argv[4]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_S, source_address=(source, 0))
    latencies, failures, number = [], 0, 0
    print("begins", flush=True)
    began = time.monotonic()
    while True:
        due = began + number / rate
        if select.select([sys.stdin], [], [], max(due - time.monotonic(), 0))[0]:
            break
        number += 1
        if _ask(connection, f"{path}{number}"):
            latencies.append((time.monotonic() - due) * 1e3)
        else:
            failures += 1
    print(json.dumps({"latencies_ms": latencies, "failures": failures}))


if __name__ == "__main__":
    main()
