"""Single requests within the limits that cost as much as they can.

Each is sent several times, and the least of its figures counts, since other work of the machine only adds: processor
time and memory of the cluster's processes, and how long a loop was held, which is what a probe of `/healthz` waits while
the request is at work. The longest turns of loops that nodes report are shown besides.
"""

import json
import random
import re
import time
from typing import Callable, Dict, Iterator, List, NamedTuple, Tuple
from urllib.parse import quote_plus

from bystander import Bystander
from process_figures import PeakMemory, processor_s
from raw_client import exchange
from rows import Row, judged, not_measured
from target import Attacked, Indexes, Setting, pause

ACTOR = "request"
PROCESSOR_MAX_S, MEMORY_MAX_MIB, HELD_MAX_MS = 1.0, 64.0, 5.0
_REPEATS = 5
_PROBE_RATE = 400.0
_LIMIT_S = 20.0
_MIB = 1 << 20


class Request(NamedTuple):
    name: str
    tried: str
    send: Callable[[Attacked], int]  # the status of the answer


class Cost(NamedTuple):
    processor_s: float
    memory_mib: float
    held_ms: float


def _get(path: str) -> Callable[[Attacked], int]:
    headers = {"Cache-Control": "no-cache"}
    return lambda cluster: cluster.ask(path, headers=headers, timeout=_LIMIT_S).status


def _post(body: bytes, kind: str = "application/json") -> Callable[[Attacked], int]:
    headers = {"Content-Type": kind, "Host": "localhost"}
    return lambda cluster: cluster.ask("/documents", headers=headers, method="POST", body=body, timeout=_LIMIT_S).status


def _raw(data: bytes) -> Callable[[Attacked], int]:
    def send(cluster: Attacked) -> int:
        received, _ = exchange(("127.0.0.1", cluster.port), data, _LIMIT_S)
        return int(received[9:12]) if received.startswith(b"HTTP/1.1 ") else 0
    return send


def words_of(documents: str, count: int) -> List[str]:
    """The most frequent words of the indexed texts, and their most frequent pairs as they stand."""
    counts: Dict[str, int] = {}
    with open(documents, encoding="utf-8") as file:
        for line in file:
            for word in set(re.findall(r"[a-z]{2,}", json.loads(line).get("text", "").lower())):
                counts[word] = counts.get(word, 0) + 1
    return sorted(counts, key=lambda word: (-counts[word], word))[:count]


def longest_text(documents: str) -> str:
    with open(documents, encoding="utf-8") as file:
        return max((json.loads(line).get("text", "") for line in file), key=len)


def _search(query: str, more: str = "") -> Callable[[Attacked], int]:
    return _get(f"/search?format=json{more}&q={quote_plus(query)}")


def _edit(number: int, text: str) -> dict:
    return {"url": f"http://attack.test/{number}", "title": "attack", "text": text}


def requests(documents: str, rng: random.Random) -> List[Request]:
    words = words_of(documents, 300)
    typed = " OR ".join(words)
    while len(typed) > 4000:
        typed = typed[:typed.rfind(" OR ")]
    long = longest_text(documents)[:4000].replace('"', " ")
    misspelt = " ".join(word[:1] + word[2:] + "x" for word in words if len(word) > 4)[:4000]
    nested = ("(" * 30 + words[0] + ")" * 30 + " ") * 60
    near = " NEAR/50 ".join(words[:12])
    letters = [f"{a}{b}*" for a, b in zip("costmpra", "onetarie")]
    bulk = "\n".join(json.dumps(_edit(i, " ".join(rng.choices(words, k=200)))) for i in range(1000)).encode()
    page = b"<html><body>" + b"<div>" * 100_000 + b"x" * 100_000
    return [
        Request("any of 300 words", f"{typed.count(' OR ') + 1} frequent words with OR, 100 results, facets",
                _search(typed, "&count=100&facets=site")),
        Request("a long phrase", f"a phrase of {len(long.split())} words of one document", _search(f'"{long}"')),
        Request("frequent words as a phrase", "40 phrases of two frequent words",
                _search(" ".join(f'"{a} {b}"' for a, b in zip(words[:40], words[1:41])))),
        Request("prefixes", "eight prefixes of two letters", _search(" ".join(letters), "&count=100")),
        Request("words near each other", "12 frequent words with NEAR/50", _search(near)),
        Request("the deepest page", "results 900 to 1,000 of five frequent words",
                _search(" OR ".join(words[:5]), "&start=900&count=100")),
        Request("nested brackets", "60 words in 30 brackets each", _search(nested[:4000])),
        Request("words that are misspelt", f"{len(misspelt.split())} of them", _search(misspelt)),
        Request("everything at once", "explanation, trace, facets, folding, 100 results",
                _search(" OR ".join(words[:100]), "&count=100&explain=1&trace=1&facets=site&fold=1")),
        Request("sorted by date", "100 words", _search(" OR ".join(words[:100]), "&sort=date&count=100")),
        Request("running text", "4,000 bytes", _search(long, "&syntax=plain&count=100")),
        Request("completions", "1,000 bytes", _get("/suggest?q=" + quote_plus(" ".join(words)[:1000]))),
        Request("the document with most marks", "its page with 100 words", _get("/doc/0?q=" + quote_plus(" ".join(words[:100])))),
        Request("many parameters", "1,000 of them", _get("/search?q=a" + "&x=1" * 1000)),
        Request("a zero byte", "q=a%00", _get("/search?q=a%00")),
        Request("deep JSON", "4 MiB of [", _post(b"[" * (4 * _MIB))),
        Request("wide JSON", "4 MiB of numbers", _post(b'{"url": [' + b"1," * (2 * _MIB - 16) + b"1]}")),
        Request("the largest document", "text of 2 MB", _post(json.dumps(_edit(1, "abcd efg " * 230_000)).encode())),
        Request("documents of one letter each", "a text of 1,000,000 words of one letter",
                _post(json.dumps(_edit(2, "a b c d e f g h " * 125_000)).encode())),
        Request("HTML that nests", "100,000 elements in each other",
                _post(json.dumps({"url": "http://attack.test/3", "html": page.decode()}).encode())),
        Request("many edits at once", f"1,000 documents of 200 words, {len(bulk) // 1024} KiB",
                _post(bulk, "application/x-ndjson")),
        Request("a header at its limit", "100 headers, 15 KiB",
                _raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"".join(
                    b"A%d: %s\r\n" % (i, b"x" * 140) for i in range(97)) + b"Connection: close\r\n\r\n")),
        Request("a body in chunks of one byte", "4,000 chunks",
                _raw(b"POST /documents HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                     b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\n[\r\n" * 4000 + b"0\r\n\r\n")),
    ]


def _processor_s(cluster: Attacked) -> float:
    return sum(processor_s(pid) for pid in cluster.pids().values())


def _measure_once(cluster: Attacked, request: Request) -> Tuple[Cost, int]:
    memory = PeakMemory(cluster.pids().values())
    with Bystander(cluster.port, _PROBE_RATE, "/healthz?") as probe:
        pause(.05)
        before = _processor_s(cluster)
        status = request.send(cluster)
        settled = _processor_s(cluster)
        deadline = time.monotonic() + 2
        while time.monotonic() < deadline:  # what goes on after the answer
            pause(.1)
            now = _processor_s(cluster)
            if now - settled < .02:
                break
            settled = now
        used = _processor_s(cluster) - before
    held = probe.seen.latencies_ms[-1] if probe.seen.latencies_ms else float("inf")
    return Cost(used, memory.growth_mib(), held), status


def least(costs: List[Cost]) -> Cost:
    """Figure by figure: other work of the machine only adds."""
    return Cost(*(min(values) for values in zip(*costs)))


def rows_of(request: Request, costs: List[Cost], statuses: List[int], quiet: Cost, dead: List[str]) -> List[Row]:
    """Pure. `quiet`: the same figures of a request that costs nothing."""
    if dead:
        return [judged(ACTOR, request.name, request.tried, "0 nodes die", f"dead: {', '.join(dead)}", False)]
    cost = least(costs)
    line = f"<= {PROCESSOR_MAX_S:g} s of processor time, <= {MEMORY_MAX_MIB:g} MiB"
    figure = f"{max(cost.processor_s - quiet.processor_s, 0):.3f} s, {cost.memory_mib:.1f} MiB, status {statuses[-1]}"
    is_held = cost.processor_s - quiet.processor_s <= PROCESSOR_MAX_S and cost.memory_mib <= MEMORY_MAX_MIB and 0 not in statuses
    rows = [judged(ACTOR, request.name, request.tried, line, figure, is_held)]
    held_line = f"no loop is held > {HELD_MAX_MS:g} ms"
    name = f"{request.name}: loop"
    if quiet.held_ms > HELD_MAX_MS:
        rows.append(not_measured(ACTOR, name, held_line, f"the machine is too busy: {quiet.held_ms:.1f} ms without a request"))
    else:
        rows.append(judged(ACTOR, name, request.tried, held_line, f"a probe waited {cost.held_ms:.1f} ms, without a request "
                           f"{quiet.held_ms:.1f} ms", cost.held_ms <= HELD_MAX_MS))
    return rows


def _longest_turns(cluster: Attacked) -> str:
    found = []
    for name, port in cluster.admin_ports().items():
        text = cluster.ask("/metrics", port=port).body.decode(errors="replace")
        for loop, value in re.findall(r'neptune_loop_longest_turn_seconds\{loop="([^"]+)"\} (\S+)', text):
            found.append((float(value) * 1e3, f"{name}/{loop}"))
    return ", ".join(f"{loop} {value:.1f} ms" for value, loop in sorted(found, reverse=True)[:4])


def run(setting: Setting, indexes: Indexes) -> Iterator[Row]:
    rng = random.Random(setting.seed)
    repeats = _REPEATS if setting.seconds >= 3 else 1
    with Attacked(setting, "live", indexes.folder(4, 2)) as cluster:
        nothing = Request("nothing", "", _get("/healthz"))
        quiet = least([_measure_once(cluster, nothing)[0] for _ in range(3)])
        for request in requests(setting.programs.documents, rng):
            costs, statuses = [], []
            for _ in range(repeats):
                cost, status = _measure_once(cluster, request)
                costs.append(cost)
                statuses.append(status)
                dead = cluster.dead_nodes()
                if dead:
                    break
            setting.say(f"request: {request.name}: {least(costs)}, {statuses}")
            yield from rows_of(request, costs, statuses, quiet, dead)
        setting.say(f"request: longest turns of loops: {_longest_turns(cluster)}")
