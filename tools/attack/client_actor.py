"""One client address that takes what it can get, at twice the limits, while another one asks at a steady rate.

The cluster is `live` with small limits of its nodes (LIMITS), so that one machine can send twice as much. Loopback
addresses have no limit of connections of their own; those of the node hold for them.
"""

import os
import random
import socket
import threading
import time
from typing import Callable, Iterator, List, NamedTuple

from bystander import Bystander, Seen
from process_figures import PeakMemory
from raw_client import close_all, connect
from rows import Row, judged, not_measured
from spec_text import with_frontend_parameters
from target import Attacked, Indexes, Setting, pause, with_node_field

ACTOR = "client"
CONNECTIONS, MEMORY_MIB, BODIES_MIB = 512, 128, 32
LIMITS = f"connection_count_max: {CONNECTIONS}, memory_budget_mib: {MEMORY_MIB}, http_bodies_mb: {BODIES_MIB}"
_RATE = 50.0
_QUESTION = "/search?format=json&q=mutex+OR+index+OR+n"  # and a number, so that no cache answers
_RATIO_MAX = 1.5
_MIB = 1 << 20
_MEMORY_LINE = f"memory of each node grows by at most {MEMORY_MIB} MiB; none dies"
_NOISY_RATIO = 3.0  # between two quiet times: nothing can be said then


class Attack(NamedTuple):
    name: str
    tried: str
    run: Callable[[Attacked, float, random.Random], None]


def limited(text: str) -> str:
    text = with_node_field(text, f"connection_count_max: {CONNECTIONS}")
    text = with_node_field(text, f"memory_budget_mib: {MEMORY_MIB}")
    return with_frontend_parameters(text, {"http_bodies_mb": str(BODIES_MIB)})


class Crowd:
    """Connections of the attack, opened at a steady pace; those that the server closes are opened again."""

    def __init__(self, port: int, count: int):
        self.port, self.count = port, count
        self.sockets: List[socket.socket] = []

    def add(self, first: bytes) -> bool:
        """One more with its first bytes; False if it was refused."""
        try:
            one = connect(("127.0.0.1", self.port), timeout=1)
        except OSError:
            return False
        self.sockets.append(one)
        return self.say(one, first)

    @staticmethod
    def say(one: socket.socket, data: bytes) -> bool:
        """As much as the system takes at once."""
        try:
            one.setblocking(False)
            while data:
                data = data[one.send(data):]
        except BlockingIOError:
            return True
        except OSError:
            return False
        return True

    def close(self) -> None:
        close_all(self.sockets)
        self.sockets = []


def _crowd(first: Callable[[random.Random], bytes], later: Callable[[random.Random], bytes], count: int = 2 * CONNECTIONS,
           rounds_per_s: float = 1.0) -> Callable[[Attacked, float, random.Random], None]:
    """Opens `count` connections in the first half of the time, then each says something now and then."""
    def run(cluster: Attacked, seconds: float, rng: random.Random) -> None:
        crowd = Crowd(cluster.port, count)
        try:
            deadline, opening = time.monotonic() + seconds, time.monotonic() + seconds / 2
            for i in range(count):
                crowd.add(first(rng))
                if i % 16 == 0:
                    pause(max(0.0, (opening - time.monotonic()) * 16 / max(count - i, 1)))
            while time.monotonic() < deadline:
                data = later(rng)
                if data:
                    for one in crowd.sockets[:]:
                        if not crowd.say(one, data):
                            crowd.sockets.remove(one)
                            one.close()
                            crowd.add(first(rng))
                pause(min(1 / rounds_per_s, max(deadline - time.monotonic(), 0)))
        finally:
            crowd.close()
    return run


def _paced(one: Callable[[int, random.Random], None], rate: float, threads: int = 4
           ) -> Callable[[Attacked, float, random.Random], None]:
    """Calls at a steady rate by some threads; what fails is refused, and the next follows."""
    def run(cluster: Attacked, seconds: float, rng: random.Random) -> None:
        deadline = time.monotonic() + seconds

        def repeat(own: random.Random) -> None:
            while time.monotonic() < deadline:
                begin = time.monotonic()
                try:
                    one(cluster.port, own)
                except OSError:
                    pass
                pause(max(threads / rate - (time.monotonic() - begin), 0))
        running = [threading.Thread(target=repeat, args=(random.Random(rng.random()),)) for _ in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    return run


def _post_head(size: int) -> bytes:
    return (f"POST /documents HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {size}\r\n\r\n").encode()


def _huge_body(port: int, rng: random.Random) -> None:
    with connect(("127.0.0.1", port), timeout=2) as one:
        if rng.random() < .5:
            one.sendall(_post_head(15 * _MIB) + b"[" * (15 * _MIB))
        else:
            one.sendall(b"POST /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in range(64):
                one.sendall(b"40000\r\n" + b"x" * 0x40000 + b"\r\n")
        one.recv(1 << 16)


def _huge_headers(port: int, rng: random.Random) -> None:
    with connect(("127.0.0.1", port), timeout=2) as one:
        one.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"A: " + b"x" * rng.choice((20_000, 1_000_000)))
        one.recv(1 << 16)


def _pipelined(port: int, _: random.Random) -> None:
    with connect(("127.0.0.1", port), timeout=2) as one:
        one.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 32)
        received = 0
        while received < 32 * 60:
            piece = one.recv(1 << 16)
            if not piece:
                return
            received += len(piece)


def _come_and_go(port: int, _: random.Random) -> None:
    connect(("127.0.0.1", port), timeout=1).close()


def _garbage_at(ports: List[int]) -> Callable[[int, random.Random], None]:
    def one(_: int, rng: random.Random) -> None:
        with connect(("127.0.0.1", rng.choice(ports)), timeout=2) as connection:
            size = rng.choice((1, 16, 100, 4000, 100_000))
            connection.sendall(rng.choice((rng.randbytes(size), b"\xff" * size, b"\0" * size)))
            connection.settimeout(.05)
            connection.recv(4096)
    return one


_ANSWERS = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 32


def attacks(cluster: Attacked) -> List[Attack]:
    twice = 2 * CONNECTIONS
    ports = [*cluster.call_ports().values(), *_control_ports(cluster)]
    return [
        Attack("silent connections", f"{twice} that say nothing", _crowd(lambda _: b"", lambda _: b"")),
        Attack("slow headers", f"{twice} with a byte of a header a second",
               _crowd(lambda _: b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nA: ", lambda _: b"b")),
        Attack("slow bodies", f"{2 * BODIES_MIB} bodies of 15 MiB of which 1 MiB comes, then 100 bytes a second",
               _crowd(lambda _: _post_head(15 * _MIB) + b" " * _MIB, lambda _: b" " * 100, 2 * BODIES_MIB)),
        Attack("huge bodies", "bodies of 15 and 16 MiB at the full, 4 a second, without a token", _paced(_huge_body, 4)),
        Attack("huge headers", "headers of 20 KB and 1 MB, 40 a second", _paced(_huge_headers, 40)),
        Attack("readers that do not read", f"{twice} connections with 32 requests for 40 KB each, no answer is read",
               _crowd(lambda _: _ANSWERS, lambda _: b"")),
        Attack("pipelined floods", "32 requests at once, 20 times a second", _paced(_pipelined, 20)),
        Attack("connections that come and go", "200 a second", _paced(_come_and_go, 200)),
        Attack("garbage on the ports of nodes", f"100 a second at {len(ports)} ports for calls and control",
               _paced(_garbage_at(ports), 100)),
    ]


def _control_ports(cluster: Attacked) -> List[int]:
    """All other ports at which processes of the cluster listen, and that speak no HTTP."""
    known = {*cluster.http_ports, *cluster.admin_ports().values(), *cluster.call_ports().values()}
    return sorted(set(tcp_ports(list(cluster.pids().values()))) - known)


def tcp_ports(pids: List[int]) -> List[int]:
    """Ports at which the processes listen."""
    inodes = set()
    for pid in pids:
        for name in os.listdir(f"/proc/{pid}/fd"):
            try:
                target = os.readlink(f"/proc/{pid}/fd/{name}")
            except OSError:
                continue
            if target.startswith("socket:["):
                inodes.add(target[len("socket:["):-1])
    with open("/proc/net/tcp", encoding="ascii") as file:
        lines = [line.split() for line in file.readlines()[1:]]
    return sorted({int(words[1].split(":")[1], 16) for words in lines if words[3] == "0A" and words[9] in inodes})


def _watch(cluster: Attacked, seconds: float) -> Seen:
    with Bystander(cluster.port, _RATE, _QUESTION) as bystander:
        pause(seconds)
    return bystander.seen


def latency_row(attack: str, tried: str, quiet: List[float], during: float, failures: int, resolution_ms: float) -> Row:
    """`quiet`: p99 before and after. Pure."""
    line = f"p99 of others <= {_RATIO_MAX:g} x quiet (or {resolution_ms:g} ms more, which is not seen); all answered"
    name = f"{attack}: others"
    if max(quiet) > _NOISY_RATIO * min(quiet) + resolution_ms:
        return not_measured(ACTOR, name, line, f"the machine is too busy: quiet p99 {quiet[0]:.1f} and {quiet[1]:.1f} ms")
    bound = max(max(quiet) * _RATIO_MAX, max(quiet) + resolution_ms)
    figure = f"{during:.1f} ms, quiet {quiet[0]:.1f} and {quiet[1]:.1f} ms, {failures} failed"
    return judged(ACTOR, name, tried, line, figure, during <= bound and failures == 0)


def memory_row(attack: str, tried: str, growth_mib: float, dead: List[str]) -> Row:
    figure = f"{growth_mib:.0f} MiB" + (f", dead: {', '.join(dead)}" if dead else "")
    return judged(ACTOR, f"{attack}: memory", tried, _MEMORY_LINE, figure, growth_mib <= MEMORY_MIB and not dead)


def _measure(cluster: Attacked, setting: Setting, attack: Attack, rng: random.Random) -> List[Row]:
    before = _watch(cluster, setting.seconds)
    memory = PeakMemory(cluster.pids().values())
    with Bystander(cluster.port, _RATE, _QUESTION) as bystander:
        attack.run(cluster, setting.seconds, rng)
    dead = cluster.dead_nodes()
    growth = memory.growth_mib() if not dead else float("nan")
    pause(min(setting.seconds, 1))  # what the attack left is taken down
    after = _watch(cluster, setting.seconds)
    setting.say(f"client: {attack.name}: {growth:.0f} MiB, p99 {bystander.seen.quantile(.99):.1f} ms")
    if not bystander.seen.latencies_ms:
        return [judged(ACTOR, f"{attack.name}: others", attack.tried, "they are answered", "none was", False)]
    quiet = [seen.quantile(.99) for seen in (before, after)]
    return [memory_row(attack.name, attack.tried, growth, dead),
            latency_row(attack.name, attack.tried, quiet, bystander.seen.quantile(.99), bystander.seen.failures,
                        setting.resolution_ms)]


def run(setting: Setting, indexes: Indexes) -> Iterator[Row]:
    rng = random.Random(setting.seed)
    with Attacked(setting, "live", indexes.folder(4, 2), limited) as cluster:
        for attack in attacks(cluster):
            yield from _measure(cluster, setting, attack, rng)
